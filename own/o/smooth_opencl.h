/* smooth on an OpenCL device. Written by loopxform 0.1.0 from smooth.c; do not edit. */
#ifndef LOOPXFORM_smooth_H
#define LOOPXFORM_smooth_H
#ifdef __cplusplus
extern "C" {
/* C++ has no variable-length arrays: the same function, with plain pointers. */
void smooth(int n, int m, float *in, float *out, const float *w);
#else
/* As in smooth.c. Runs the loops of the file on the host where OpenCL cannot. */
void smooth(int n, int m, float in[n][m], float out[n][m], const float w[2*2 + 1]);
#endif

/* Frees the OpenCL objects that smooth keeps between calls. */
void smooth_release(void);

#ifdef CL_VERSION_1_0
/* For arrays that are on the device already: enqueues the kernel and returns an OpenCL status.
   The queue's device and context are used. Include <CL/cl.h> before this header. Arrays that are
   written must not overlap others. */
int smooth_cl(cl_command_queue lx_queue, int n, int m, cl_mem in, cl_mem out, cl_mem w);
#endif

#ifdef __cplusplus
}
#endif
#endif
