/*
 * gram on an OpenCL device. Written by loopxform 0.1.0 from gram.c; do not edit.
 *
 * Build: cc gram_opencl.c -lOpenCL -lm
 * LOOPXFORM_DEVICE=NAME picks the device whose name contains NAME; LOOPXFORM_VERBOSE=1 tells on
 * stderr, once, why the loops ran on the host.
 */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include "gram_opencl.h"

/* The user's loops: what the kernel replaces, and what runs where it cannot. */
static void gram_on_host(int n, int d, const double x[n][d], double g[n][n], double gamma)
{
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i + 1; j++) {
      double s = 0;
      for (int k = 0; k < d; k++) {
        double t = x[i][k] - x[j][k];
        s += t*t;
      }
      g[j][i] = s*gamma;
      g[i][j] = g[j][i];
    }
  }
}

static const char *const lx_source[] = {
  "/*\n",
  " * gram from gram.c, transformed by loopxform 0.1.0\n",
  " * tile sizes: Ty = 8, Tx = 8, Tk = 8, Ry = 8, Rx = 4\n",
  " * derivation:\n",
  " *   parallelise i\n",
  " *   parallelise j\n",
  " *   widen j i\n",
  " *   distribute-guard j\n",
  " *   stripmine i Ty*Ry iii\n",
  " *   stripmine i Ry ii\n",
  " *   stripmine j Tx*Rx jjj\n",
  " *   stripmine j Rx jj\n",
  " *   stripmine k Tk kk\n",
  " *   interchange i jjj\n",
  " *   interchange ii jjj\n",
  " *   interchange i jj\n",
  " *   expand s ii,jj,i,j\n",
  " *   distribute ii,jj,i,j kk\n",
  " *   interchange j kk\n",
  " *   interchange i kk\n",
  " *   interchange jj kk\n",
  " *   interchange ii kk\n",
  " *   interchange j k\n",
  " *   interchange i k\n",
  " *   sequentialise i*\n",
  " *   sequentialise j*\n",
  " *   normalise k body\n",
  " *   normalise j* body\n",
  " *   normalise i* innermost\n",
  " *   map iii group.x\n",
  " *   map jjj group.y\n",
  " *   map ii* thread.x\n",
  " *   map jj* thread.y\n",
  " *   unroll i*\n",
  " *   unroll j*\n",
  " *   copy-to-local x kk x_loc 1\n",
  " *   copy-to-private x_loc k\n",
  " *   copy-to-local x kk\n",
  " *   copy-to-private x_loc_2 k\n",
  " *   unguard s\n",
  " *   epilogue kk\n",
  " *   unroll k*\n",
  " * launch: ceil(n / (Tx*Rx)) x ceil(n / (Ty*Ry)) groups, each Tx x Ty = 64 work-items\n",
  " * local memory of a group: 6400 bytes: x_loc[Tk, Ty*Ry + 2], x_loc_2[Tk, Tx*Rx + 2]\n",
  " */\n",
  "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
  "#pragma OPENCL FP_CONTRACT ON\n",
  "\n",
  "#define Ty 8\n",
  "#define Tx 8\n",
  "#define Tk 8\n",
  "#define Ry 8\n",
  "#define Rx 4\n",
  "\n",
  "__kernel __attribute__((reqd_work_group_size(Ty, Tx, 1)))\n",
  "void lx_gram(const int n,\n",
  "             const int d,\n",
  "             __global const double *restrict x,\n",
  "             __global double *restrict g,\n",
  "             const double gamma)\n",
  "{\n",
  "  __local double x_loc[Tk][Ty*Ry + 2] __attribute__((aligned(16)));\n",
  "  __local double x_loc_2[Tk][Tx*Rx + 2] __attribute__((aligned(16)));\n",
  "  const int local_x = (int)get_local_id(0);\n",
  "  const int local_y = (int)get_local_id(1);\n",
  "  const uint item = (uint)(get_local_id(1) * Ty + get_local_id(0));\n",
  "  const int iii = (int)get_group_id(0) * (Ty*Ry);\n",
  "  const int jjj = (int)get_group_id(1) * (Tx*Rx);\n",
  "  const int ii = iii + local_x*Ry;\n",
  "  const int jj = jjj + local_y*Rx;\n",
  "  double s[Ry][Rx];\n",
  "#pragma unroll\n",
  "  for (int i = 0; i < Ry; ++i) {\n",
  "    #pragma unroll\n",
  "    for (int j = 0; j < Rx; ++j) {\n",
  "      s[i][j] = 0;\n",
  "    }\n",
  "  }\n",
  "  for (int kk = 0; kk < d / Tk * Tk; kk += Tk) {\n",
  "    barrier(CLK_LOCAL_MEM_FENCE);\n",
  "    /* x_loc = x[iii : iii + Ty*Ry, kk : kk + Tk] */\n",
  "    #pragma unroll\n",
  "    for (uint r = 0; r < 8; ++r) {\n",
  "      const uint at = r * (Tx*Ty) + item;\n",
  "      const int c0 = (int)(at / Tk);\n",
  "      const int c1 = (int)(at % Tk);\n",
  "      x_loc[c1][c0] = x[(ptrdiff_t)min(iii + c0, n - 1)*d + (kk + c1)];\n",
  "    }\n",
  "    /* x_loc_2 = x[jjj : jjj + Tx*Rx, kk : kk + Tk] */\n",
  "    #pragma unroll\n",
  "    for (uint r = 0; r < 4; ++r) {\n",
  "      const uint at = r * (Tx*Ty) + item;\n",
  "      const int c0 = (int)(at / Tk);\n",
  "      const int c1 = (int)(at % Tk);\n",
  "      x_loc_2[c1][c0] = x[(ptrdiff_t)min(jjj + c0, n - 1)*d + (kk + c1)];\n",
  "    }\n",
  "    barrier(CLK_LOCAL_MEM_FENCE);\n",
  "    #pragma unroll\n",
  "    for (int k = 0; k < Tk; ++k) {\n",
  "      double x_reg[Ry];\n",
  "      #pragma unroll\n",
  "      for (int c0 = 0; c0 < Ry; ++c0)\n",
  "        x_reg[c0] = x_loc[k][local_x*Ry + c0];\n",
  "      double x_loc_2_reg[Rx];\n",
  "      #pragma unroll\n",
  "      for (int c0 = 0; c0 < Rx; ++c0)\n",
  "        x_loc_2_reg[c0] = x_loc_2[k][local_y*Rx + c0];\n",
  "      #pragma unroll\n",
  "      for (int i = 0; i < Ry; ++i) {\n",
  "        #pragma unroll\n",
  "        for (int j = 0; j < Rx; ++j) {\n",
  "          double t = 0;\n",
  "          if (jj + j < ii + i + 1) {\n",
  "            t = x_reg[i] - x_loc_2_reg[j];\n",
  "            s[i][j] += t*t;\n",
  "          }\n",
  "        }\n",
  "      }\n",
  "    }\n",
  "  }\n",
  "  for (int kk = d / Tk * Tk; kk < d; kk += Tk) {\n",
  "    barrier(CLK_LOCAL_MEM_FENCE);\n",
  "    /* x_loc = x[iii : iii + Ty*Ry, kk : kk + Tk] */\n",
  "    #pragma unroll\n",
  "    for (uint r = 0; r < 8; ++r) {\n",
  "      const uint at = r * (Tx*Ty) + item;\n",
  "      const int c0 = (int)(at / Tk);\n",
  "      const int c1 = (int)(at % Tk);\n",
  "      x_loc[c1][c0] = x[(ptrdiff_t)min(iii + c0, n - 1)*d + min(kk + c1, d - 1)];\n",
  "    }\n",
  "    /* x_loc_2 = x[jjj : jjj + Tx*Rx, kk : kk + Tk] */\n",
  "    #pragma unroll\n",
  "    for (uint r = 0; r < 4; ++r) {\n",
  "      const uint at = r * (Tx*Ty) + item;\n",
  "      const int c0 = (int)(at / Tk);\n",
  "      const int c1 = (int)(at % Tk);\n",
  "      x_loc_2[c1][c0] = x[(ptrdiff_t)min(jjj + c0, n - 1)*d + min(kk + c1, d - 1)];\n",
  "    }\n",
  "    barrier(CLK_LOCAL_MEM_FENCE);\n",
  "    #pragma unroll\n",
  "    for (int k = 0; k < Tk; ++k) {\n",
  "      if (kk + k < d) {\n",
  "        double x_reg[Ry];\n",
  "        #pragma unroll\n",
  "        for (int c0 = 0; c0 < Ry; ++c0)\n",
  "          x_reg[c0] = x_loc[k][local_x*Ry + c0];\n",
  "        double x_loc_2_reg[Rx];\n",
  "        #pragma unroll\n",
  "        for (int c0 = 0; c0 < Rx; ++c0)\n",
  "          x_loc_2_reg[c0] = x_loc_2[k][local_y*Rx + c0];\n",
  "        #pragma unroll\n",
  "        for (int i = 0; i < Ry; ++i) {\n",
  "          #pragma unroll\n",
  "          for (int j = 0; j < Rx; ++j) {\n",
  "            double t = 0;\n",
  "            if (jj + j < ii + i + 1) {\n",
  "              t = x_reg[i] - x_loc_2_reg[j];\n",
  "              s[i][j] += t*t;\n",
  "            }\n",
  "          }\n",
  "        }\n",
  "      }\n",
  "    }\n",
  "  }\n",
  "  if (ii < n && jj < n) {\n",
  "    #pragma unroll\n",
  "    for (int i = 0; i < Ry; ++i) {\n",
  "      #pragma unroll\n",
  "      for (int j = 0; j < Rx; ++j) {\n",
  "        if (ii + i < n && jj + j < n && jj + j < ii + i + 1) {\n",
  "          g[(ptrdiff_t)(jj + j)*n + (ii + i)] = s[i][j] * gamma;\n",
  "          g[(ptrdiff_t)(ii + i)*n + (jj + j)] = g[(ptrdiff_t)(jj + j)*n + (ii + i)];\n",
  "        }\n",
  "      }\n",
  "    }\n",
  "  }\n",
  "}\n",
};

/* OpenCL objects, made at the first call and kept. A kernel object is made for each call, since two
   threads may be in here at once. */
static struct {
  int state; /* 0 not tried, 1 ready, -1 not available */
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  cl_program program;
} lx_state;

static int lx_verbose(void)
{
  const char *v = getenv("LOOPXFORM_VERBOSE");
  return v != NULL && *v != '\0' && strcmp(v, "0") != 0;
}

/* Says once why the host runs the loops. */
static void lx_tell(const char *why, cl_int status)
{
  static int told = 0;
  if (told || !lx_verbose())
    return;
  told = 1;
  if (status == CL_SUCCESS)
    fprintf(stderr, "loopxform: gram: %s; running the loops on the host\n", why);
  else
    fprintf(stderr, "loopxform: gram: %s failed (OpenCL status %d); running the loops on the host\n",
            why, (int)status);
}

static int lx_failed(cl_int status, const char *what)
{
  if (status == CL_SUCCESS)
    return 0;
  lx_tell(what, status);
  return 1;
}

/* The device that LOOPXFORM_DEVICE names, else the first GPU, else the first device. */
static cl_device_id lx_find_device(void)
{
  cl_platform_id platforms[16];
  cl_uint n_platforms = 0, p, d;
  cl_device_id best = NULL;
  int best_rank = 0;
  const char *wanted = getenv("LOOPXFORM_DEVICE");
  if (lx_failed(clGetPlatformIDs(16, platforms, &n_platforms), "clGetPlatformIDs"))
    return NULL;
  if (n_platforms > 16)
    n_platforms = 16;
  for (p = 0; p < n_platforms; p++) {
    cl_device_id devices[32];
    cl_uint n_devices = 0;
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 32, devices, &n_devices) != CL_SUCCESS)
      continue;
    if (n_devices > 32)
      n_devices = 32;
    for (d = 0; d < n_devices; d++) {
      char name[256] = "";
      cl_device_type type = 0;
      int rank = 1;
      if (clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS ||
          clGetDeviceInfo(devices[d], CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS)
        continue;
      if (type & CL_DEVICE_TYPE_GPU)
        rank = 2;
      if (wanted != NULL && *wanted != '\0')
        rank = strstr(name, wanted) != NULL ? 3 : 0;
      if (rank > best_rank) {
        best_rank = rank;
        best = devices[d];
      }
    }
  }
  if (best == NULL)
    lx_tell("no OpenCL device", CL_SUCCESS);
  return best;
}

/* Asked first: some compilers end the process over what does not fit. */
static int lx_fits(cl_device_id device)
{
  cl_ulong local_bytes = 0;
  size_t group_size = 0;
  cl_device_fp_config doubles = 0;
  if (clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes, NULL) != CL_SUCCESS || local_bytes < 6400)
    return 0;
  if (clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group_size, &group_size, NULL) != CL_SUCCESS || group_size < 64)
    return 0;
  if (clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL) != CL_SUCCESS || doubles < 1)
    return 0;
  return 1;
}

static cl_program lx_build(cl_context context, cl_device_id device)
{
  cl_int status;
  cl_device_fp_config config = 0;
  const char *options = "";
  const cl_uint lines = (cl_uint)(sizeof lx_source / sizeof lx_source[0]);
  cl_program program;
  if (!lx_fits(device)) {
    lx_tell("the device has too little local memory, too small groups, or no double", CL_SUCCESS);
    return NULL;
  }
  program = clCreateProgramWithSource(context, lines, (const char **)lx_source, NULL, &status);
  if (lx_failed(status, "clCreateProgramWithSource"))
    return NULL;
  if (clGetDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL) == CL_SUCCESS &&
      (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT))
    options = "-cl-fp32-correctly-rounded-divide-sqrt";
  status = clBuildProgram(program, 1, &device, options, NULL, NULL);
  if (status != CL_SUCCESS) {
    if (lx_verbose()) {
      size_t size = 0;
      char *log;
      if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS &&
          (log = malloc(size + 1)) != NULL) {
        if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) == CL_SUCCESS) {
          log[size] = '\0';
          fprintf(stderr, "%s\n", log);
        }
        free(log);
      }
    }
    lx_failed(status, "clBuildProgram");
    clReleaseProgram(program);
    return NULL;
  }
  return program;
}

void gram_release(void)
{
  if (lx_state.program != NULL)
    clReleaseProgram(lx_state.program);
  if (lx_state.queue != NULL)
    clReleaseCommandQueue(lx_state.queue);
  if (lx_state.context != NULL)
    clReleaseContext(lx_state.context);
  memset(&lx_state, 0, sizeof lx_state);
}

/* The state, which becomes -1 where it was 0: while one thread makes the objects, others go on with
   the loops on the host. */
static int lx_enter(void)
{
#ifdef __GNUC__
  return __sync_val_compare_and_swap(&lx_state.state, 0, -1);
#else
  const int state = lx_state.state;
  if (state == 0)
    lx_state.state = -1;
  return state;
#endif
}

static int lx_ready(void)
{
  cl_int status;
  const int before = lx_enter();
  if (before != 0)
    return before > 0;
  lx_state.device = lx_find_device();
  if (lx_state.device == NULL)
    return 0;
  lx_state.context = clCreateContext(NULL, 1, &lx_state.device, NULL, NULL, &status);
  if (lx_failed(status, "clCreateContext"))
    return 0;
  lx_state.queue = clCreateCommandQueue(lx_state.context, lx_state.device, 0, &status);
  if (lx_failed(status, "clCreateCommandQueue"))
    return 0;
  lx_state.program = lx_build(lx_state.context, lx_state.device);
  if (lx_state.program == NULL)
    return 0;
#ifdef __GNUC__
  __sync_synchronize();
#endif
  lx_state.state = 1;
  return 1;
}

static cl_int lx_enqueue(cl_command_queue lx_queue, cl_kernel lx_kernel, const size_t *lx_groups,
                         const size_t *lx_shape)
{
  size_t lx_total[3];
  int lx_d;
  for (lx_d = 0; lx_d < 3; lx_d++) {
    if (lx_groups[lx_d] == 0)
      return CL_SUCCESS;
    lx_total[lx_d] = lx_groups[lx_d] * lx_shape[lx_d];
  }
  return clEnqueueNDRangeKernel(lx_queue, lx_kernel, 3, NULL, lx_total, lx_shape, 0, NULL, NULL);
}

static cl_int lx_launch(cl_command_queue lx_queue, cl_program lx_program, cl_int n, cl_int d, cl_mem x, cl_mem g, cl_double gamma,
                        const size_t *lx_groups)
{
  static const size_t lx_shapes[1][3] = {
    { 8, 8, 1 },
  };
  cl_kernel lx_kernels[1] = {NULL};
  cl_int lx_status = CL_SUCCESS;
  int lx_k;
  if (lx_status == CL_SUCCESS)
    lx_kernels[0] = clCreateKernel(lx_program, "lx_gram", &lx_status);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 0, sizeof n, &n);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 1, sizeof d, &d);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 2, sizeof x, &x);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 3, sizeof g, &g);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 4, sizeof gamma, &gamma);
  for (lx_k = 0; lx_k < 1; lx_k++) {
    if (lx_status == CL_SUCCESS)
      lx_status = lx_enqueue(lx_queue, lx_kernels[lx_k], lx_groups + 3 * lx_k, lx_shapes[lx_k]);
  }
  for (lx_k = 0; lx_k < 1; lx_k++)
    if (lx_kernels[lx_k] != NULL)
      clReleaseKernel(lx_kernels[lx_k]);
  return lx_status;
}

static size_t lx_count(long long n)
{
  return n > 0 ? (size_t)n : 0;
}

/* Whether any kernel has groups to run. */
static int lx_busy(const size_t *groups)
{
  int k;
  for (k = 0; k < 3; k += 3)
    if (groups[k] != 0 && groups[k + 1] != 0 && groups[k + 2] != 0)
      return 1;
  return 0;
}

int gram_cl(cl_command_queue lx_queue, int n, int d, cl_mem x, cl_mem g, double gamma)
{
  cl_int lx_status;
  cl_context lx_context;
  cl_device_id lx_device;
  cl_program lx_program;
  size_t lx_groups[3];
  lx_groups[0] = lx_count(((long long)n + 8*8 - 1) / (8*8));
  lx_groups[1] = lx_count(((long long)n + 8*4 - 1) / (8*4));
  lx_groups[2] = lx_count(1);
  if (!lx_busy(lx_groups))
    return CL_SUCCESS;
  if (!((long long)n <= 2147483647 - 8*8))
    return CL_INVALID_VALUE; /* the bound n is too near the end of int */
  if (!((long long)n <= 2147483647 - 8*4))
    return CL_INVALID_VALUE; /* the bound n is too near the end of int */
  if (!((long long)d / 8 * 8 <= 2147483647 - 8))
    return CL_INVALID_VALUE; /* the bound d / Tk * Tk is too near the end of int */
  if (!((long long)d <= 2147483647 - 8))
    return CL_INVALID_VALUE; /* the bound d is too near the end of int */
  if (!((long long)d >= 1 && (long long)n >= 1))
    return CL_INVALID_VALUE; /* x is not touched: there is nothing to offload */
  if (!((long long)n >= 1))
    return CL_INVALID_VALUE; /* g is not touched: there is nothing to offload */
  if (x == g)
    return CL_MEM_COPY_OVERLAP;
  lx_status = clGetCommandQueueInfo(lx_queue, CL_QUEUE_CONTEXT, sizeof lx_context, &lx_context, NULL);
  if (lx_status == CL_SUCCESS)
    lx_status = clGetCommandQueueInfo(lx_queue, CL_QUEUE_DEVICE, sizeof lx_device, &lx_device, NULL);
  if (lx_status != CL_SUCCESS)
    return lx_status;
  if (lx_state.state > 0 && lx_context == lx_state.context)
    return lx_launch(lx_queue, lx_state.program, (cl_int)n, (cl_int)d, x, g, (cl_double)gamma, lx_groups);
  lx_program = lx_build(lx_context, lx_device);
  if (lx_program == NULL)
    return CL_BUILD_PROGRAM_FAILURE;
  lx_status = lx_launch(lx_queue, lx_program, (cl_int)n, (cl_int)d, x, g, (cl_double)gamma, lx_groups);
  clReleaseProgram(lx_program);
  return lx_status;
}

static int lx_apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
  const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return x + a_bytes <= y || y + b_bytes <= x;
}

static cl_mem lx_upload(const void *data, size_t bytes, cl_int *status)
{
  cl_mem buffer;
  if (*status != CL_SUCCESS)
    return NULL;
  buffer = clCreateBuffer(lx_state.context, CL_MEM_READ_WRITE, bytes > 0 ? bytes : 1, NULL, status);
  if (*status == CL_SUCCESS && bytes > 0)
    *status = clEnqueueWriteBuffer(lx_state.queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
  return buffer;
}

/* Reads a buffer into `to`, or into new memory; nothing after an earlier failure. */
static void *lx_download(cl_mem buffer, void *to, size_t bytes, cl_int *status)
{
  if (*status != CL_SUCCESS || bytes == 0)
    return NULL;
  if (to == NULL)
    to = malloc(bytes);
  if (to == NULL)
    *status = CL_OUT_OF_HOST_MEMORY;
  else
    *status = clEnqueueReadBuffer(lx_state.queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL);
  return to;
}

/* 1 where the device did the work. Arrays of the caller change only after everything succeeded. */
static int lx_offload(const cl_int n, const cl_int d, const cl_double gamma, const void *x, size_t lx_bytes_x, void *g, size_t lx_bytes_g, const size_t *lx_groups)
{
  cl_int lx_status = CL_SUCCESS;
  cl_mem lx_mem_x = lx_upload(x, lx_bytes_x, &lx_status);
  cl_mem lx_mem_g = lx_upload(g, lx_bytes_g, &lx_status);
  void *lx_new_g;
  if (!lx_failed(lx_status, "copying arrays to the device")) {
    lx_status = lx_launch(lx_state.queue, lx_state.program, n, d, lx_mem_x, lx_mem_g, gamma, lx_groups);
    if (lx_status == CL_SUCCESS)
      lx_status = clFinish(lx_state.queue);
    lx_failed(lx_status, "running the kernel");
    /* What the host would need again is replaced only once everything has arrived. */
    lx_new_g = lx_download(lx_mem_g, NULL, lx_bytes_g, &lx_status);
    lx_failed(lx_status, "copying results from the device");
    if (lx_status == CL_SUCCESS && lx_bytes_g > 0)
      memcpy(g, lx_new_g, lx_bytes_g);
    free(lx_new_g);
  }
  if (lx_mem_x != NULL)
    clReleaseMemObject(lx_mem_x);
  if (lx_mem_g != NULL)
    clReleaseMemObject(lx_mem_g);
  return lx_status == CL_SUCCESS;
}

void gram(int n, int d, const double x[n][d], double g[n][n], double gamma)
{
  const char *lx_why = NULL;
  const size_t lx_bytes_x = sizeof(double) * (((long long)d >= 1 && (long long)n >= 1) ? (size_t)((long long)d * (long long)n) : 0);
  const size_t lx_bytes_g = sizeof(double) * (((long long)n >= 1) ? (size_t)((long long)n * (long long)n) : 0);
  if (lx_why == NULL && !((long long)n <= 2147483647 - 8*8))
    lx_why = "the bound n is too near the end of int";
  if (lx_why == NULL && !((long long)n <= 2147483647 - 8*4))
    lx_why = "the bound n is too near the end of int";
  if (lx_why == NULL && !((long long)d / 8 * 8 <= 2147483647 - 8))
    lx_why = "the bound d / Tk * Tk is too near the end of int";
  if (lx_why == NULL && !((long long)d <= 2147483647 - 8))
    lx_why = "the bound d is too near the end of int";
  if (lx_why == NULL && !((long long)d >= 1 && (long long)n >= 1))
    lx_why = "x is not touched: there is nothing to offload";
  if (lx_why == NULL && !((long long)n >= 1))
    lx_why = "g is not touched: there is nothing to offload";
  if (lx_why == NULL && !lx_apart(x, lx_bytes_x, g, lx_bytes_g))
    lx_why = "x and g overlap";
  if (lx_why != NULL) {
    lx_tell(lx_why, CL_SUCCESS);
  } else if (lx_ready()) {
    size_t lx_groups[3];
    lx_groups[0] = lx_count(((long long)n + 8*8 - 1) / (8*8));
    lx_groups[1] = lx_count(((long long)n + 8*4 - 1) / (8*4));
    lx_groups[2] = lx_count(1);
    if (lx_offload((cl_int)n, (cl_int)d, (cl_double)gamma, (const void *)x, lx_bytes_x, (void *)g, lx_bytes_g, lx_groups))
      return;
  }
  gram_on_host(n, d, x, g, gamma);
}
