/*
 * smooth on an OpenCL device. Written by loopxform 0.1.0 from smooth.c; do not edit.
 *
 * Build: cc smooth_opencl.c -lOpenCL -lm
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
#include "smooth_opencl.h"

/* The user's loops: what the kernel replaces, and what runs where it cannot. */
static void smooth_on_host(int n, int m, float in[n][m], float out[n][m], const float w[2*2 + 1])
{
  for (int i = 2; i < n - 2; i++) {
    for (int j = 2; j < m - 2; j++) {
      float s = 0;
      float t = 0;
      for (int d = -2; d < 3; d++) {
        s += w[d + 2] * in[i + d][j];
        t += w[d + 2] * in[i][j + d];
      }
      out[i][j] = s*t > 0 ? s : t;
    }
  }
}

static const char *const lx_source[] = {
  "/*\n",
  " * smooth from smooth.c, transformed by loopxform 0.1.0\n",
  " * tile sizes: Ty = 4, Tx = 32, Ry = 8\n",
  " * derivation:\n",
  " *   parallelise i\n",
  " *   parallelise j\n",
  " *   stripmine i Ty*Ry iii\n",
  " *   stripmine i Ry ii\n",
  " *   stripmine j Tx jj\n",
  " *   interchange i jj\n",
  " *   interchange ii jj\n",
  " *   interchange i j\n",
  " *   expand s i\n",
  " *   expand t i\n",
  " *   distribute i d\n",
  " *   interchange i d\n",
  " *   sequentialise i*\n",
  " *   normalise i* body\n",
  " *   map iii group.y\n",
  " *   map jj group.x\n",
  " *   map ii* thread.y\n",
  " *   map j* thread.x\n",
  " *   unroll i*\n",
  " *   copy-to-local w jj\n",
  " *   copy-to-private w_loc d\n",
  " *   copy-to-local in jj\n",
  " * launch: ceil(n - 4 / (Ty*Ry)) x ceil(m - 4 / Tx) groups, each Ty x Tx = 128 work-items\n",
  " * local memory of a group: 5204 bytes: w_loc[5], in_loc[Ty*Ry + 4, Tx + 4]\n",
  " */\n",
  "#pragma OPENCL FP_CONTRACT ON\n",
  "\n",
  "#define Ty 4\n",
  "#define Tx 32\n",
  "#define Ry 8\n",
  "\n",
  "__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))\n",
  "void lx_smooth(const int n,\n",
  "               const int m,\n",
  "               __global const float *restrict in,\n",
  "               __global float *restrict out,\n",
  "               __global const float *restrict w)\n",
  "{\n",
  "  __local float w_loc[5] __attribute__((aligned(16)));\n",
  "  __local float in_loc[Ty*Ry + 4][Tx + 4] __attribute__((aligned(16)));\n",
  "  const int local_x = (int)get_local_id(0);\n",
  "  const int local_y = (int)get_local_id(1);\n",
  "  const uint item = (uint)(get_local_id(1) * Tx + get_local_id(0));\n",
  "  const int iii = 2 + (int)get_group_id(1) * (Ty*Ry);\n",
  "  const int jj = 2 + (int)get_group_id(0) * Tx;\n",
  "  const int ii = iii + local_y*Ry;\n",
  "  const int j = jj + local_x;\n",
  "  /* w_loc = w[0 : 5] */\n",
  "  {\n",
  "    const uint at = item;\n",
  "    if (at < 5) {\n",
  "      const int c0 = (int)(at);\n",
  "      w_loc[c0] = w[0 + c0];\n",
  "    }\n",
  "  }\n",
  "  /* in_loc = in[iii-2 : iii-2 + Ty*Ry + 4, jj-2 : jj-2 + Tx + 4] */\n",
  "#pragma unroll\n",
  "  for (uint r = 0; r < 11; ++r) {\n",
  "    const uint at = r * (Tx*Ty) + item;\n",
  "    if (at < Tx*Ty*Ry + 4*Ty*Ry + 4*Tx + 16) {\n",
  "      const int c0 = (int)(at / (Tx + 4));\n",
  "      const int c1 = (int)(at % (Tx + 4));\n",
  "      in_loc[c0][c1] = in[(ptrdiff_t)min(iii - 2 + c0, n - 1)*m + min(jj - 2 + c1, m - 1)];\n",
  "    }\n",
  "  }\n",
  "  barrier(CLK_LOCAL_MEM_FENCE);\n",
  "  if (ii < n - 2 && j < m - 2) {\n",
  "    float s[Ry] = {0};\n",
  "    float t[Ry] = {0};\n",
  "    #pragma unroll\n",
  "    for (int i = 0; i < Ry; ++i) {\n",
  "      if (ii + i < n - 2) {\n",
  "        s[i] = 0;\n",
  "        t[i] = 0;\n",
  "      }\n",
  "    }\n",
  "    for (int d = -2; d < 3; ++d) {\n",
  "      float w_reg;\n",
  "      w_reg = w_loc[d + 2];\n",
  "      #pragma unroll\n",
  "      for (int i = 0; i < Ry; ++i) {\n",
  "        if (ii + i < n - 2) {\n",
  "          s[i] += w_reg * in_loc[local_y*Ry + i + d + 2][local_x + 2];\n",
  "          t[i] += w_reg * in_loc[local_y*Ry + i + 2][local_x + d + 2];\n",
  "        }\n",
  "      }\n",
  "    }\n",
  "    #pragma unroll\n",
  "    for (int i = 0; i < Ry; ++i) {\n",
  "      if (ii + i < n - 2) {\n",
  "        out[(ptrdiff_t)(ii + i)*m + j] = s[i] * t[i] > 0 \? s[i] : t[i];\n",
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
    fprintf(stderr, "loopxform: smooth: %s; running the loops on the host\n", why);
  else
    fprintf(stderr, "loopxform: smooth: %s failed (OpenCL status %d); running the loops on the host\n",
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
  if (clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes, NULL) != CL_SUCCESS || local_bytes < 5204)
    return 0;
  if (clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group_size, &group_size, NULL) != CL_SUCCESS || group_size < 128)
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

void smooth_release(void)
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

static cl_int lx_launch(cl_command_queue lx_queue, cl_program lx_program, cl_int n, cl_int m, cl_mem in, cl_mem out, cl_mem w,
                        const size_t *lx_groups)
{
  static const size_t lx_shapes[1][3] = {
    { 32, 4, 1 },
  };
  cl_kernel lx_kernels[1] = {NULL};
  cl_int lx_status = CL_SUCCESS;
  int lx_k;
  if (lx_status == CL_SUCCESS)
    lx_kernels[0] = clCreateKernel(lx_program, "lx_smooth", &lx_status);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 0, sizeof n, &n);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 1, sizeof m, &m);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 2, sizeof in, &in);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 3, sizeof out, &out);
  if (lx_status == CL_SUCCESS)
    lx_status = clSetKernelArg(lx_kernels[0], 4, sizeof w, &w);
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

int smooth_cl(cl_command_queue lx_queue, int n, int m, cl_mem in, cl_mem out, cl_mem w)
{
  cl_int lx_status;
  cl_context lx_context;
  cl_device_id lx_device;
  cl_program lx_program;
  size_t lx_groups[3];
  lx_groups[0] = lx_count(((long long)m + 32 - 5) / 32);
  lx_groups[1] = lx_count(((long long)n + 4*8 - 5) / (4*8));
  lx_groups[2] = lx_count(1);
  if (!lx_busy(lx_groups))
    return CL_SUCCESS;
  if (!((long long)n - 2 <= 2147483647 - 4*8))
    return CL_INVALID_VALUE; /* the bound n - 2 is too near the end of int */
  if (!((long long)m - 2 <= 2147483647 - 32))
    return CL_INVALID_VALUE; /* the bound m - 2 is too near the end of int */
  if (!((long long)n + 4*8 - 4 >= -2147483647 && (long long)n + 4*8 - 4 <= 2147483647))
    return CL_INVALID_VALUE; /* n + Ty*Ry - 4 overflows */
  if (!((long long)m + 32 - 4 >= -2147483647 && (long long)m + 32 - 4 <= 2147483647))
    return CL_INVALID_VALUE; /* m + Tx - 4 overflows */
  if (!((long long)m >= 5 && (long long)n >= 5))
    return CL_INVALID_VALUE; /* in is not touched: there is nothing to offload */
  if (!((long long)m >= 5 && (long long)n >= 5))
    return CL_INVALID_VALUE; /* out is not touched: there is nothing to offload */
  if (!((long long)m >= 5 && (long long)n >= 5))
    return CL_INVALID_VALUE; /* w is not touched: there is nothing to offload */
  if (in == out)
    return CL_MEM_COPY_OVERLAP;
  if (out == w)
    return CL_MEM_COPY_OVERLAP;
  lx_status = clGetCommandQueueInfo(lx_queue, CL_QUEUE_CONTEXT, sizeof lx_context, &lx_context, NULL);
  if (lx_status == CL_SUCCESS)
    lx_status = clGetCommandQueueInfo(lx_queue, CL_QUEUE_DEVICE, sizeof lx_device, &lx_device, NULL);
  if (lx_status != CL_SUCCESS)
    return lx_status;
  if (lx_state.state > 0 && lx_context == lx_state.context)
    return lx_launch(lx_queue, lx_state.program, (cl_int)n, (cl_int)m, in, out, w, lx_groups);
  lx_program = lx_build(lx_context, lx_device);
  if (lx_program == NULL)
    return CL_BUILD_PROGRAM_FAILURE;
  lx_status = lx_launch(lx_queue, lx_program, (cl_int)n, (cl_int)m, in, out, w, lx_groups);
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
static int lx_offload(const cl_int n, const cl_int m, const void *in, size_t lx_bytes_in, void *out, size_t lx_bytes_out, const void *w, size_t lx_bytes_w, const size_t *lx_groups)
{
  cl_int lx_status = CL_SUCCESS;
  cl_mem lx_mem_in = lx_upload(in, lx_bytes_in, &lx_status);
  cl_mem lx_mem_out = lx_upload(out, lx_bytes_out, &lx_status);
  cl_mem lx_mem_w = lx_upload(w, lx_bytes_w, &lx_status);
  if (!lx_failed(lx_status, "copying arrays to the device")) {
    lx_status = lx_launch(lx_state.queue, lx_state.program, n, m, lx_mem_in, lx_mem_out, lx_mem_w, lx_groups);
    if (lx_status == CL_SUCCESS)
      lx_status = clFinish(lx_state.queue);
    lx_failed(lx_status, "running the kernel");
    /* What the host would need again is replaced only once everything has arrived. */
    lx_download(lx_mem_out, out, lx_bytes_out, &lx_status);
    lx_failed(lx_status, "copying results from the device");
  }
  if (lx_mem_in != NULL)
    clReleaseMemObject(lx_mem_in);
  if (lx_mem_out != NULL)
    clReleaseMemObject(lx_mem_out);
  if (lx_mem_w != NULL)
    clReleaseMemObject(lx_mem_w);
  return lx_status == CL_SUCCESS;
}

void smooth(int n, int m, float in[n][m], float out[n][m], const float w[2*2 + 1])
{
  const char *lx_why = NULL;
  const size_t lx_bytes_in = sizeof(float) * (((long long)m >= 5 && (long long)n >= 5) ? (size_t)((long long)m * (long long)n) : 0);
  const size_t lx_bytes_out = sizeof(float) * (((long long)m >= 5 && (long long)n >= 5) ? (size_t)((long long)m * (long long)n - 2 * (long long)m) : 0);
  const size_t lx_bytes_w = sizeof(float) * (((long long)m >= 5 && (long long)n >= 5) ? (size_t)(5) : 0);
  if (lx_why == NULL && !((long long)n - 2 <= 2147483647 - 4*8))
    lx_why = "the bound n - 2 is too near the end of int";
  if (lx_why == NULL && !((long long)m - 2 <= 2147483647 - 32))
    lx_why = "the bound m - 2 is too near the end of int";
  if (lx_why == NULL && !((long long)n + 4*8 - 4 >= -2147483647 && (long long)n + 4*8 - 4 <= 2147483647))
    lx_why = "n + Ty*Ry - 4 overflows";
  if (lx_why == NULL && !((long long)m + 32 - 4 >= -2147483647 && (long long)m + 32 - 4 <= 2147483647))
    lx_why = "m + Tx - 4 overflows";
  if (lx_why == NULL && !((long long)m >= 5 && (long long)n >= 5))
    lx_why = "in is not touched: there is nothing to offload";
  if (lx_why == NULL && !((long long)m >= 5 && (long long)n >= 5))
    lx_why = "out is not touched: there is nothing to offload";
  if (lx_why == NULL && !((long long)m >= 5 && (long long)n >= 5))
    lx_why = "w is not touched: there is nothing to offload";
  if (lx_why == NULL && !lx_apart(in, lx_bytes_in, out, lx_bytes_out))
    lx_why = "in and out overlap";
  if (lx_why == NULL && !lx_apart(out, lx_bytes_out, w, lx_bytes_w))
    lx_why = "out and w overlap";
  if (lx_why != NULL) {
    lx_tell(lx_why, CL_SUCCESS);
  } else if (lx_ready()) {
    size_t lx_groups[3];
    lx_groups[0] = lx_count(((long long)m + 32 - 5) / 32);
    lx_groups[1] = lx_count(((long long)n + 4*8 - 5) / (4*8));
    lx_groups[2] = lx_count(1);
    if (lx_offload((cl_int)n, (cl_int)m, (const void *)in, lx_bytes_in, (void *)out, lx_bytes_out, (const void *)w, lx_bytes_w, lx_groups))
      return;
  }
  smooth_on_host(n, m, in, out, w);
}
