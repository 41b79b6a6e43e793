/* Comments, macros, line marks and brackets where a reader stumbles. */ static int unused_before_include;
#include <stdio.h> // } not a brace
#define LOOP(i, n) for (int i = 0; i < (n); i++)
#define PLUS(a, b) \
  ((a) + /* } */ \
   (b))
#define LIMIT 100
typedef float real; /* { */ static real one(real x) { return x + 1; } static
real /* the
  name follows */ two (int n, real *restrict x,
  const real y[]) /* "{" */ { LOOP(i, n) x[i] = PLUS(y[i], (int)'}' - (int)sizeof "}"); return x[0]; } // " {

static void /**/ three(int n, int x[n]) {
	#pragma GCC ivdep /* kept with its loop */
	for (int i = 0; i < n; i++) /* ; */ { x[i] = i /* / */ * 2; } { int k = 1; x[0] = k; } LOOP(i, n) { x[i] += "a;b"[i % 3]; }
	// a comment: for (;;) {
  for (int i = 0; i < n; i++)
#define INNER 3
    x[i] += INNER;
#undef INNER
}

#line 700 "elsewhere.h"
static int four(int n, int *x) { int s = 0; for (int i = 0; i < n; i++) x[i] = x[i] * x[i]
  ; for (int i = 0; i < n; i++) s += x[i]; return s; }
int main(void) { real a[LIMIT], b[LIMIT]; int c[LIMIT]; LOOP(i, LIMIT) { b[i] = i; c[i] = 0; }
  printf("%g\n", (double)two(LIMIT, a, b)); three(LIMIT, c); printf("%d\n", four(LIMIT, c));
  LOOP(i, LIMIT) printf("%g %d\n", (double)one(a[i]), c[i]); return unused_before_include; }
