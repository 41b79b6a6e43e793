"""Loops whose iterations are in order as the text has it, whatever else their statements do."""

from __future__ import annotations

import pytest

import loopxform as lx

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <math.h>
struct item { struct item *next; int value; };
int some(int);
static int is_last(int i, int n) { return i == n - 1; }
int MPI_Waitany(int, int *, int *, int *), MPI_Send(int *, int), MPI_Bcast(int *, int);
_Noreturn void die(const char *);
static int calls;
static void report(int n) { calls++; printf("%d", n); }
static void reports(int n) { if (n) { some(n); } report(n); report(n + 1); }
static int counted(int n) { for (calls = getchar(); calls < n; calls++) some(n); return calls; }
static void usage(int n) { some(n); die("usage"); }
static void perhaps(int n) { if (n > 3) printf("%d", n); n && getchar(); }
static int early(int n) { if (n == 0) return 1; return getchar(); }
static void by_pointer(int n, int printf(const char *)) { if (n) some(n); printf("x"); }
void f(int n, int m, int *a, int *b, struct item *list, const char *s)
{
  int i, j, k = 0, sum = 0, *p = a;
  unsigned h = 1;
"""

IN_ORDER = {
    # data decide whether there is a next iteration
    "for (i = 0; i < n; i++) if (a[i] == m) break;": "(break)",
    "for (i = 0; i < n; i++) { a[i] = some(i); if (a[i] > 3) return; }": "(return)",
    "for (i = 0; i < n; i++) for (j = 0; j < n; j++) if (a[j] == b[i]) goto end;": "(goto)",
    "for (i = 0; i < n; i++) { k = some(i); if (k) { printf(s); exit(1); } }": "(exit)",
    "for (i = 0; i < n; i++) { switch (a[i]) { case 1: break; case 2: return; } }": "(return)",
    "for (i = 0; i < n && s[i]; i++) a[i] = 0;": "the condition of the loop asks data",
    "for (i = 0, k = 0; i < n && !k; i++) if (a[i] < b[i]) k = 1;": "the condition of the loop",
    "while (some(k) > a[k]) k++;": "the condition of the loop asks data",
    "for (; getchar() > 0;) k++;": "the condition of the loop asks data",
    "for (i = 0; i < n; i++) { if (m < 0) return; if (a[i] == b[i]) break; }": "(break)",
    # a variable is computed from its value before
    "for (; list; list = list->next) list->value = 1;": "flow dependence of list",
    "for (i = 1; i < n; i *= 2) a[i] = some(i);": "flow dependence of i",
    "for (i = 1; i < n; i += b[i]) a[i] = some(i);": "flow dependence of i",
    "for (i = 1; i < n; i += some(m)) a[i] = 1;": "flow dependence of i",
    "for (i = n; i > 1; i = (i + 1) / 2) a[i] = some(i);": "flow dependence of i",
    "for (i = 0; i < n; i++) if (b[i] > 0) { a[k] = some(i); k++; }": "flow dependence of k",
    "for (i = 0; i < n; i++) if (b[i] > 0) a[k++] = some(i);": "flow dependence of k",
    "for (i = 0; i < n; i++) { *p++ = some(i); }": "p is an induction variable",
    "for (i = 0; i < n; i++) h = h * 31 + some(i);": "flow dependence of h",
    "for (i = 0; i < n; i++) h = some(i) ? h << 1 : h >> 2;": "",
    "for (i = 0; i < n; i++) h = some(h);": "",
    # updates that need not take each other back
    "for (i = 0; i < n; i++) { k += b[i]; a[i] = some(k); k -= b[i + m]; }": "dependence of k",
    "for (i = 0; i < n; i++) { if (b[i] > 0) k++; else k--; a[i] = some(k); }": "dependence of k",
    "for (i = 0; i < n; i++) { k += 2; a[i] = some(k); k--; }": "dependence of k",
    "for (i = 0; i < n; i++) { h += some(i); h += h << 10; h ^= h >> 6; a[i] = h; }": "of h",
    "for (; list; list = list->next) { list->value = 1; list = list->next; }": "control",
    # what leads to the loop lets it have two iterations
    "if (n < 1) return; for (i = 0; i < n; i++) putchar(a[i]);": "call 'putchar' in turn",
    "if (n != 77) return; for (i = 0; i < n; i++) putchar(a[i]);": "call 'putchar' in turn",
    "if (!a || n > 4 * m) exit(1); for (i = 0; i < n; i++) putchar(a[i]);": "call 'putchar'",
    "if (n > 1) return; n = 9; for (i = 0; i < n; i++) putchar(a[i]);": "call 'putchar' in turn",
    "if (some(n) > 1) return; for (i = 0; i < n; i++) putchar(a[i]);": "call 'putchar' in turn",
    "if (n <= 1) { a[0] = 1; } else for (i = 0; i < n; i++) putchar(a[i]);": "call 'putchar'",
    # calls in turn
    "for (i = 0; i < n; i++) printf(s, a[i]);": "call 'printf' in turn: the order of output",
    "for (i = 0; i < n; i++) if (a[i]) putchar(a[i]);": "call 'putchar' in turn",
    "for (i = 0; i < n; i++) if (list->value > 1) putchar(a[i]);": "call 'putchar' in turn",
    "for (i = 0; i < n; i++) if (i < list->value) putchar(a[i]);": "call 'putchar' in turn",
    "for (i = 0; i < n; i++) { if (b[i]) continue; putchar(a[i]); }": "call 'putchar' in turn",
    "for (i = 0; i < n; i++) a[i] = rand() % 6;": "call 'rand' in turn: it keeps a state",
    # calls of functions that make such calls in any case
    "for (i = 0; i < n; i++) report(i);": "call 'report' in turn: it calls 'printf', the order of",
    "for (i = 0; i < n; i++) { some(i); reports(i); }": "call 'reports' in turn: it calls 'printf'",
    "for (i = 0; i < n; i++) a[i] = counted(i);": "call 'counted' in turn: it calls 'getchar'",
    "for (i = 0; i < n; i++) MPI_Waitany(n, a, &k, b);": "it completes what earlier calls have",
    "for (i = 0; i < n; i++) MPI_Bcast(a, i);": "all processes must make such calls in one order",
    # or that never return
    "for (i = 0; i < n; i++) { if (a[i]) die(s); b[i] = some(i); }": "ends the loop (die)",
    "for (i = 0; i < n; i++) { if (a[i]) usage(i); b[i] = some(i); }": "ends the loop (usage)",
}

NOT_SAID = [
    # what a function calls under a condition, or behind a jump, it may not call at all
    "for (i = 0; i < n; i++) perhaps(i);",
    "for (i = 0; i < n; i++) early(i);",
    "for (i = 0; i < n; i++) by_pointer(i, 0);",
    "for (i = 0; i < n; i++) { void (*report)(int) = 0; report(i); }",
    "for (i = 0; i < n; i++) { void (*die)(const char *) = 0; if (a[i]) die(s); }",
    # of functions that end the program the first call is the last
    "for (i = 0; i < n; i++) { printf(s); usage(i); }",
    "for (i = 0; i < n; i++) { if (a[i]) report(i); some(i); }",
    # a message may go to another process each time
    "for (i = 0; i < n; i++) MPI_Send(a, i);",
    # updates that take each other back
    "for (i = 0; i < n; i++) { k++; a[i] = some(k); k--; }",
    "for (i = 0; i < n; i++) { k += m; a[i] = some(k); k -= m; }",
    "for (i = 0; i < n; i++) { if (b[i]) k++; a[i] = some(k); if (b[i]) k--; }",
    "for (i = 0; i < n; i++) { k += b[i]; a[i] = some(k); k -= b[i]; }",
    "for (i = 0; i < n; i++) { h ^= 5; a[i] = some(h); h ^= 5; }",
    "for (i = 0; i < n; i++) { h = h * 8 + 1; a[i] = some(h); h = (h - 1) / 8; }",
    "for (i = 0; i < n; i++) { k = m - k; a[i] = some(k); k = m - k; }",
    "for (i = 0; i < n; i++) { k += 0; a[i] = some(k); }",
    "for (i = 0; i < n; i++) { for (j = 0; j < 2; j++) k++; a[i] = some(k); k -= 2; }",
    # the function does not come to the loop with numbers for two iterations
    "if (n > 1) return; for (i = 0; i < n; i++) putchar(a[i]);",
    "if (n <= 1) for (i = 0; i < n; i++) putchar(a[i]);",
    "if (n > 1) { a[0] = 1; } else for (i = 0; i < n; i++) putchar(a[i]);",
    "if (n > 1) { puts(s); exit(1); } for (i = 0; i < n; i++) putchar(a[i]);",
    "if (m > 3 || n > 1) return; for (i = 0; i < n; i++) if (a[i] == m) break;",
    "const int few = n & 1; for (i = 0; i < few; i++) putchar(a[i]);",
    "for (i = n; i < n + 1; i++) putchar(a[i]);",
    "while (n < 2) { for (i = 0; i < n; i++) putchar(a[i]); n = some(n); }",
    # conditions on counters and sizes may never hold
    "for (i = 0; i < n; i++) { if (i > n) break; a[i] = some(i); }",
    "for (i = 0; i < n; i++) { if (m < 0) return; a[i] = some(i); }",
    "for (i = 0; i < n; i++) if (i == 3) printf(s);",
    "for (i = 0; i < n; i++) if (i == 3) k = k / 2 + some(i);",
    "for (i = 0; i < n; i++) if (i > n && a[i]) break;",
    # nor does anything follow from what may hold in one iteration only
    "for (i = 0; i < n; i++) if (i == 0 && list->value) printf(s);",
    "for (i = 0; i < n; i++) if (i == list->value) printf(s);",
    "for (i = 0; i < n; i++) if (i < n - 1) {} else printf(s);",
    "for (i = 0; i < n; i++) { if (i > 0) continue; printf(s); }",
    "for (i = 0; i < n; i++) { if (i > 0) continue; k = k / 2 + some(i); a[0] = k; }",
    "for (i = 0; i < 1; i++) printf(s);",
    "for (i = 3; i <= 3; i++) { k = k / 2 + some(i); a[0] = k; }",
    # the loop may end with its first iteration
    "for (i = 0; i < n; i++) { if (i == 1) break; printf(s); }",
    "for (i = 0; i < n; i++) { printf(s); if (i == 0) break; }",
    "for (i = 0; i < n; i++) { if (a[i]) return; else { some(i); return; } }",
    "for (i = 0; i < n; i++) { switch (a[i]) { case 1: return; default: some(i); return; } }",
    # a function of the file gives for a counter what it always gives
    "for (i = 0; i < n; i++) if (is_last(i, n)) printf(s);",
    # what is left is a loop or a switch further inside
    "for (i = 0; i < n; i++) { some(i); for (j = 0; j < n; j++) if (a[j]) break; }",
    "for (i = 0; i < n; i++) { switch (a[i]) { case 1: some(i); break; default: some(n); } }",
    "for (i = 0; i < n; i++) { if (a[i]) goto next; some(i); next:; }",
    # nothing is repeated
    "for (i = 0; i < n; i++) { do { if (a[i]) break; some(i); } while (0); }",
    "for (i = 0; i < n; i++) { some(a[i]); if (a[i]) k++; break; }",
    # two iterations cannot both come there
    "for (i = 0; i < n; i++) if (a[i]) { printf(s); some(i); }",
    # sums, and what each iteration sets first
    "for (i = 0; i < n; i++) sum += some(i);",
    "for (i = 0; i < n; i++) sum = sum + some(i);",
    "for (i = 0; i < n; i++) k++, some(i);",
    "for (i = 0; i < n; i++) { k = 0; k++; a[k] = some(i); }",
    "for (i = 0; i < n; i++) { for (j = 0; j < n; j++) a[j] = some(i); }",
    "for (i = 0; i < n; i++) { int k = 1; k *= 2; a[k] = some(i); }",
    "for (i = 0; i < n; i++) sum = sum > a[i] ? sum : some(a[i]);",
    # counters, and variables that others may set
    "for (i = 0; i < n; i += 3) some(i);",
    "for (i = 0; i < n; i += list->value) a[i] = some(i);",
    "for (i = 0; i < n; i = i + b[2]) a[i] = some(i);",
    "for (i = 0; i < n; i += is_last(m, n)) a[i] = some(i);",
    "k = 0; while (k < n) { some(k); k++; }",
    "for (i = 0; i < a[3]; i++) some(i);",
    "scanf(s, &k); for (i = 0; i < n; i++) { a[k] = some(i); k = k / 2; }",
    "for (i = 0; i < n; i++) { h = sizeof(h) + some(i); }",
]


def judged(text: str) -> list[tuple[str, str]]:
    verdicts = lx.loads(f"{HEAD}{text}\nend: ;\n}}\n")["f"].check()
    return [(v.parallel, "; ".join(f"{r.code} {r.message}" for r in v.reasons)) for v in verdicts]


@pytest.mark.parametrize(("text", "reason"), IN_ORDER.items())
def test_iterations_in_order(text: str, reason: str) -> None:
    verdict, said = judged(text)[0]
    if reason:
        assert verdict == "no"
        assert reason in said
        assert said.startswith("LX105")
    else:
        assert verdict == "unknown"


@pytest.mark.parametrize("text", NOT_SAID)
def test_nothing_follows(text: str) -> None:
    verdict, said = judged(text)[0]
    assert "LX105" not in said
    assert verdict != "no"


def test_a_loop_that_the_loop_around_lets_run_once() -> None:
    text = "for (j = 0; j < 2; j++) for (i = 0; i < j; i++) a[i] = rand();"
    assert "LX105" not in judged(text)[1][1]


def test_what_is_known_otherwise_stays() -> None:
    """A loop that is understood as a whole keeps its verdict, and the dependence with a witness."""
    (verdict, said), *_ = judged("for (i = 0; i < n; i++) { a[i] = b[k]; k += 2; }")
    assert verdict == "no"
    assert "LX105" not in said


def test_a_function_of_the_file_is_not_the_one_of_the_library() -> None:
    text = "int rand(void) { return 4; }\n"
    text += "void g(int n, int *a) { for (int i = 0; i < n; i++) a[i] = rand(); }\n"
    (verdict,) = lx.loads(text)["g"].check()
    assert verdict.parallel == "yes"


def test_an_openmp_claim_is_not_wrong_for_such_a_reason() -> None:
    text = "int some(int);\nvoid g(int n, int *a, int k) {\n#pragma omp parallel for\n"
    text += "for (int i = 0; i < n; i++) if (a[i]) { a[k] = some(i); k++; } }\n"
    (claim,) = lx.loads(text)["g"].audit()
    assert claim.proven is None
