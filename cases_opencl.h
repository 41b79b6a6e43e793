/* sat1 on an OpenCL device. Written by loopxform 0.1.0 from /tmp/w/sr/cases.c; do not edit. */
#ifndef LOOPXFORM_cases_opencl_sat1_H
#define LOOPXFORM_cases_opencl_sat1_H

#ifndef LOOPXFORM_API
#define LOOPXFORM_API
#ifdef __cplusplus
extern "C" {
#endif
/* Frees the OpenCL objects that are kept between calls. A later call makes them anew; calls that
   other threads are in hold theirs until they return. */
void loopxform_release(void);

/* The device whose name contains `name` runs what is called from now on; NULL: the device that
   LOOPXFORM_DEVICE names, else the first GPU, else the first device. 0 where there is none: then
   nothing changes. */
int loopxform_device(const char *name);
#ifdef __cplusplus
}
#endif
#endif

#if defined CL_VERSION_1_0 && !defined LOOPXFORM_API_CL
#define LOOPXFORM_API_CL
#ifdef __cplusplus
extern "C" {
#endif
/* This queue, its context and its device run what is called from now on, until
   `loopxform_release` or `loopxform_device`; NULL: a queue of loopxform's own. Returns an OpenCL
   status. Include <CL/cl.h> before this header. */
int loopxform_use(cl_command_queue queue);
#ifdef __cplusplus
}
#endif
#endif

#ifdef __cplusplus
extern "C" {
/* C++ has no variable-length arrays: the same function, with plain pointers. */
void sat1(int m, int n, const int *a, int *s);
}
#else
/* As in /tmp/w/sr/cases.c. Runs the loops of the file on the host where OpenCL cannot. */
void sat1(int m, int n, const int a[restrict m][n], int s[restrict m + 1][n]);
#endif

#ifdef CL_VERSION_1_0 /* include <CL/cl.h> before this header */
#ifdef __cplusplus
extern "C" {
#endif
/* sat1 for arrays that are on the device already: enqueues the kernels and returns an OpenCL
   status. The queue's device and context are used. Arrays that are written must not overlap
   others. */
int sat1_cl(cl_command_queue lx_queue, int m, int n, cl_mem a, cl_mem s);

#ifdef __cplusplus
}
#endif
#endif
#endif
