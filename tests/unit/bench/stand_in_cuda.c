/* What bench.cublas uses of the CUDA runtime and of cuBLAS, on the host: matrices lie column after
   column, a product takes 1.5 ms of a clock of its own, and handles are checked. As on a GPU, what
   is enqueued is done later: here as soon as someone waits for it. */

#include <stdlib.h>
#include <string.h>

typedef struct work {
  void (*run)(struct work *);
  void (*callback)(void *);
  void *argument;
  float *event;
  int ta, tb, m, n, k, lda, ldb, ldc;
  double alpha, beta;
  const void *a, *b;
  void *c;
} work;

enum { ROOM = 64 };

static int device = -1, math_mode = -1, live;
static float clock_ms;
static int handle;
static work queue[ROOM];
static int enqueued, after_a_wait, waited;

static int enqueue(work w)
{
  if (enqueued == ROOM)
    return 2;
  queue[enqueued++] = w;
  return 0;
}

/* One GPU, where the environment says so, else several, of which number 3 is a real one. */
static int alone(void)
{
  return getenv("STAND_IN_ALONE") != NULL;
}

int cudaGetDeviceCount(int *out)
{
  *out = alone() ? 1 : 4;
  return 0;
}

int cudaDeviceGetByPCIBusId(int *out, const char *place)
{
  if (strcmp(place, "0000:18:00.0"))
    return 101;
  *out = 3;
  return 0;
}

int cudaSetDevice(int number)
{
  device = number;
  return number == (alone() ? 0 : 3) ? 0 : 101;
}

int cudaMalloc(void **out, size_t size)
{
  live++;
  *out = malloc(size);
  return device == (alone() ? 0 : 3) ? 0 : 100;
}

int cudaFree(void *p)
{
  live--;
  free(p);
  return 0;
}

int stand_in_live(void)
{
  return live;
}

int cudaDeviceSynchronize(void)
{
  waited = 0;
  for (int i = 0; i < enqueued; i++)
    queue[i].run(&queue[i]);
  enqueued = 0;
  return 0;
}

int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
  if (kind != 1 && kind != 2)
    return 21;
  cudaDeviceSynchronize();
  memcpy(to, from, size);
  return 0;
}

static void call_back(work *w)
{
  w->callback(w->argument);
  waited = 1;
}

int cudaLaunchHostFunc(void *stream, void (*callback)(void *), void *argument)
{
  return stream ? 400 : enqueue((work){call_back, .callback = callback, .argument = argument});
}

/* Products that ran after a function of the host in what was waited for. */
int stand_in_after_a_wait(void)
{
  return after_a_wait;
}

int cudaEventCreate(float **out)
{
  live++;
  *out = malloc(sizeof **out);
  return 0;
}

int cudaEventDestroy(float *event)
{
  live--;
  free(event);
  return 0;
}

static void look_at_the_clock(work *w)
{
  *w->event = clock_ms;
}

int cudaEventRecord(float *event, void *stream)
{
  return stream ? 400 : enqueue((work){look_at_the_clock, .event = event});
}

int cudaEventElapsedTime(float *ms, float *from, float *to)
{
  *ms = *to - *from;
  return 0;
}

int cublasCreate_v2(void **out)
{
  *out = &handle;
  return 0;
}

int cublasSetMathMode(void *h, int mode)
{
  math_mode = mode;
  return h == &handle ? 0 : 1;
}

#define GEMM(T, NAME)                                                                              \
  static void run_##NAME(work *w)                                                                  \
  {                                                                                                \
    const T *A = w->a, *B = w->b;                                                                  \
    T *C = w->c;                                                                                   \
    for (int i = 0; i < w->m; i++)                                                                 \
      for (int j = 0; j < w->n; j++) {                                                             \
        T sum = 0, *c = &C[i + j * w->ldc];                                                        \
        for (int p = 0; p < w->k; p++)                                                             \
          sum += (w->ta ? A[p + i * w->lda] : A[i + p * w->lda]) *                                 \
                 (w->tb ? B[j + p * w->ldb] : B[p + j * w->ldb]);                                  \
        *c = (T)w->alpha * sum + (w->beta ? (T)w->beta * *c : 0);                                  \
      }                                                                                            \
    clock_ms += 1.5f;                                                                              \
    after_a_wait += waited;                                                                        \
  }                                                                                                \
                                                                                                   \
  int NAME(void *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *A, int lda,      \
           const T *B, int ldb, const T *beta, T *C, int ldc)                                      \
  {                                                                                                \
    if (h != &handle || math_mode != 0)                                                            \
      return 1;                                                                                    \
    if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m)                                       \
      return 7;                                                                                    \
    return enqueue((work){run_##NAME, .ta = ta, .tb = tb, .m = m, .n = n, .k = k, .lda = lda,      \
                          .ldb = ldb, .ldc = ldc, .alpha = *alpha, .beta = *beta, .a = A, .b = B,  \
                          .c = C});                                                                \
  }

GEMM(float, cublasSgemm_v2)
GEMM(double, cublasDgemm_v2)
