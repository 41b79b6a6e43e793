/* What bench.cublas uses of the CUDA runtime and of cuBLAS, on the host: matrices lie column after
   column, a product takes 1.5 ms of a clock of its own, and handles are checked. */

#include <stdlib.h>
#include <string.h>

static int device = -1, math_mode = -1, live;
static float clock_ms;
static int handle;

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

int cudaMemcpy(void *to, const void *from, size_t size, int kind)
{
  if (kind != 1 && kind != 2)
    return 21;
  memcpy(to, from, size);
  return 0;
}

int cudaDeviceSynchronize(void)
{
  return 0;
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

int cudaEventRecord(float *event, void *stream)
{
  *event = clock_ms;
  return stream ? 400 : 0;
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
  int NAME(void *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *A, int lda,      \
           const T *B, int ldb, const T *beta, T *C, int ldc)                                      \
  {                                                                                                \
    if (h != &handle || math_mode != 0)                                                            \
      return 1;                                                                                    \
    if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m)                                       \
      return 7;                                                                                    \
    for (int i = 0; i < m; i++)                                                                    \
      for (int j = 0; j < n; j++) {                                                                \
        T sum = 0;                                                                                 \
        for (int p = 0; p < k; p++)                                                                \
          sum += (ta ? A[p + i * lda] : A[i + p * lda]) * (tb ? B[j + p * ldb] : B[p + j * ldb]);  \
        C[i + j * ldc] = *alpha * sum + (*beta ? *beta * C[i + j * ldc] : 0);                      \
      }                                                                                            \
    clock_ms += 1.5f;                                                                              \
    return 0;                                                                                      \
  }

GEMM(float, cublasSgemm_v2)
GEMM(double, cublasDgemm_v2)
