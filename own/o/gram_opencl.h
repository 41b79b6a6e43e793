/* gram on an OpenCL device. Written by loopxform 0.1.0 from gram.c; do not edit. */
#ifndef LOOPXFORM_gram_H
#define LOOPXFORM_gram_H
#ifdef __cplusplus
extern "C" {
/* C++ has no variable-length arrays: the same function, with plain pointers. */
void gram(int n, int d, const double *x, double *g, double gamma);
#else
/* As in gram.c. Runs the loops of the file on the host where OpenCL cannot. */
void gram(int n, int d, const double x[n][d], double g[n][n], double gamma);
#endif

/* Frees the OpenCL objects that gram keeps between calls. */
void gram_release(void);

#ifdef CL_VERSION_1_0
/* For arrays that are on the device already: enqueues the kernel and returns an OpenCL status.
   The queue's device and context are used. Include <CL/cl.h> before this header. Arrays that are
   written must not overlap others. */
int gram_cl(cl_command_queue lx_queue, int n, int d, cl_mem x, cl_mem g, double gamma);
#endif

#ifdef __cplusplus
}
#endif
#endif
