/* OpenCL in front of OpenCL: counts the calls of one file and the objects that it holds, and lets
   calls fail. The file is compiled with -DclName=failing_clName for each of them. Its threads call
   at the same time. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long calls, first, last, live, launches, copies;
static int lost; /* whether kernels have not come to their end */
static cl_ulong largest = ~(cl_ulong)0;
static cl_uint bits = 64, maker, capability;
static char built_with[256];

/* From now on the calls from one number to another fail. */
void failing_start(long from, long to)
{
  calls = launches = copies = lost = 0;
  first = from;
  last = to;
}

static size_t late; /* bytes of a buffer that is written late */
static long writes_late, writes_early;
static pthread_t caller;

/* From now on, what is written to buffers of so many bytes waits for the first kernel, but what this thread writes,
   which only takes long. */
void failing_late(long bytes)
{
  late = (size_t)bytes;
  writes_late = writes_early = launches = 0;
  caller = pthread_self();
}

/* How much was written to such buffers in all, and before the first kernel. */
long failing_late_writes(void) { return writes_late; }
long failing_early_writes(void) { return writes_early; }

static void nap(int milliseconds)
{
  const struct timespec time = {0, milliseconds * 1000000};
  nanosleep(&time, NULL);
}

static void write_late(cl_mem buffer)
{
  size_t bytes = 0;
  int turn = 0;
  clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
  if (late == 0 || bytes != late)
    return;
  __sync_fetch_and_add(&writes_late, 1);
  while (__sync_fetch_and_add(&launches, 0) == 0 && ++turn < 2000) {
    nap(1);
    if (pthread_equal(caller, pthread_self()))
      return;
  }
  if (turn == 2000)
    late = 0; /* nothing is launched before */
}

static int is_watched;
static cl_event last_launch;

/* Whether the last kernel still runs, if one was launched since this was asked for the first time. */
int failing_runs(void)
{
  cl_int status = CL_COMPLETE;
  is_watched = 1;
  if (last_launch != NULL)
    clGetEventInfo(last_launch, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
  return status > CL_COMPLETE;
}

/* From now on devices have no larger arrays, and count work-items with so many bits. */
void failing_limits(long most, int width)
{
  largest = (cl_ulong)most;
  bits = (cl_uint)width;
}

/* From now on devices are of that maker, and of that compute capability, if it is NVIDIA. */
void failing_maker(int id, int major)
{
  maker = (cl_uint)id;
  capability = (cl_uint)major;
}

/* The options of the last build. */
const char *failing_options(void) { return built_with; }
long failing_calls(void) { return calls; }
long failing_live(void) { return live; }
long failing_launches(void) { return launches; }
long failing_copies(void) { return copies; }

static int fails(void)
{
  const long call = __sync_add_and_fetch(&calls, 1);
  return first <= call && call <= last;
}

#define ASK(name, parameters, arguments) \
  cl_int failing_##name parameters { return fails() ? CL_OUT_OF_RESOURCES : name arguments; }
#define HOLD(name, type) \
  cl_int failing_##name(type object) \
  { \
    if (fails()) \
      return CL_OUT_OF_RESOURCES; \
    __sync_fetch_and_add(&live, 1); \
    return name(object); \
  }
/* A failing release releases all the same. */
#define RELEASE(name, type) \
  cl_int failing_##name(type object) \
  { \
    const int failed = fails(); \
    __sync_fetch_and_sub(&live, 1); \
    name(object); \
    return failed ? CL_OUT_OF_RESOURCES : CL_SUCCESS; \
  }
#define MAKE(name, type, parameters, arguments) \
  type failing_##name parameters \
  { \
    if (fails()) { \
      *status = CL_OUT_OF_HOST_MEMORY; \
      return NULL; \
    } \
    __sync_fetch_and_add(&live, 1); \
    return name arguments; \
  }

ASK(clGetPlatformIDs, (cl_uint n, cl_platform_id *found, cl_uint *count), (n, found, count))
ASK(clGetDeviceIDs,
    (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *found, cl_uint *count),
    (p, t, n, found, count))
ASK(clGetCommandQueueInfo,
    (cl_command_queue q, cl_command_queue_info i, size_t n, void *to, size_t *size),
    (q, i, n, to, size))
ASK(clGetProgramBuildInfo,
    (cl_program p, cl_device_id d, cl_program_build_info i, size_t n, void *to, size_t *size),
    (p, d, i, n, to, size))
ASK(clGetProgramInfo, (cl_program p, cl_program_info i, size_t n, void *to, size_t *size),
    (p, i, n, to, size))
ASK(clFlush, (cl_command_queue q), (q))
ASK(clGetMemObjectInfo, (cl_mem m, cl_mem_info i, size_t n, void *to, size_t *size), (m, i, n, to, size))
ASK(clGetEventProfilingInfo, (cl_event e, cl_profiling_info i, size_t n, void *to, size_t *size),
    (e, i, n, to, size))
ASK(clSetKernelArg, (cl_kernel k, cl_uint n, size_t size, const void *value), (k, n, size, value))
ASK(clEnqueueBarrierWithWaitList,
    (cl_command_queue q, cl_uint n, const cl_event *e, cl_event *to), (q, n, e, to))
MAKE(clEnqueueMapBuffer, void *,
     (cl_command_queue q, cl_mem m, cl_bool b, cl_map_flags f, size_t at, size_t n, cl_uint w,
      const cl_event *e, cl_event *to, cl_int *status),
     (q, m, b, f, at, n, w, e, to, status))
HOLD(clRetainContext, cl_context)
HOLD(clRetainCommandQueue, cl_command_queue)
HOLD(clRetainProgram, cl_program)
HOLD(clRetainMemObject, cl_mem)
RELEASE(clReleaseContext, cl_context)
RELEASE(clReleaseCommandQueue, cl_command_queue)
RELEASE(clReleaseProgram, cl_program)
RELEASE(clReleaseKernel, cl_kernel)
RELEASE(clReleaseMemObject, cl_mem)
RELEASE(clReleaseEvent, cl_event)
MAKE(clCreateContext, cl_context,
     (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
      void(CL_CALLBACK *tell)(const char *, const void *, size_t, void *), void *data,
      cl_int *status),
     (p, n, d, tell, data, status))
MAKE(clCreateCommandQueue, cl_command_queue,
     (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *status), (c, d, p, status))
MAKE(clCreateProgramWithSource, cl_program,
     (cl_context c, cl_uint n, const char **text, const size_t *sizes, cl_int *status),
     (c, n, text, sizes, status))
MAKE(clCreateProgramWithBinary, cl_program,
     (cl_context c, cl_uint n, const cl_device_id *d, const size_t *sizes,
      const unsigned char **binaries, cl_int *taken, cl_int *status),
     (c, n, d, sizes, binaries, taken, status))
MAKE(clCreateKernel, cl_kernel, (cl_program p, const char *name, cl_int *status), (p, name, status))
ASK(clEnqueueCopyBuffer,
    (cl_command_queue q, cl_mem from, cl_mem to, size_t at, size_t into, size_t n, cl_uint w,
     const cl_event *e, cl_event *done),
    (q, from, to, at, into, n, w, e, done))
MAKE(clCreateSubBuffer, cl_mem,
     (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *r, cl_int *status),
     (m, f, t, r, status))
MAKE(clCreateBuffer, cl_mem, (cl_context c, cl_mem_flags f, size_t n, void *h, cl_int *status),
     (c, f, n, h, status))

cl_int failing_clGetDeviceInfo(cl_device_id d, cl_device_info i, size_t n, void *to, size_t *size)
{
  if (fails())
    return CL_OUT_OF_RESOURCES;
  if (maker == 0x10de && i == 0x4000) {
    *(cl_uint *)to = capability;
    return CL_SUCCESS;
  }
  const cl_int status = clGetDeviceInfo(d, i, n, to, size);
  if (i == CL_DEVICE_VENDOR_ID && maker != 0)
    *(cl_uint *)to = maker;
  if (i == CL_DEVICE_MAX_MEM_ALLOC_SIZE && *(cl_ulong *)to > largest)
    *(cl_ulong *)to = largest;
  if (i == CL_DEVICE_ADDRESS_BITS && *(cl_uint *)to > bits)
    *(cl_uint *)to = bits;
  return status;
}

cl_int failing_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *options,
                              void(CL_CALLBACK *done)(cl_program, void *), void *data)
{
  if (fails())
    return CL_OUT_OF_RESOURCES;
  strncpy(built_with, options, sizeof built_with - 1);
  return clBuildProgram(p, n, d, options, done, data);
}

cl_int failing_clFinish(cl_command_queue q)
{
  clFinish(q);
  lost = fails();
  return lost ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

cl_int failing_clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t n,
                                    const void *from, cl_uint w, const cl_event *e, cl_event *done)
{
  __sync_fetch_and_add(&copies, 1);
  if (fails())
    return CL_OUT_OF_RESOURCES;
  if (done != NULL)
    __sync_fetch_and_add(&live, 1);
  write_late(m);
  return clEnqueueWriteBuffer(q, m, b, at, n, from, w, e, done);
}

/* Half of the data has arrived when it fails; what kernels did not finish is anything. */
cl_int failing_clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool b, size_t at, size_t n,
                                   void *to, cl_uint w, const cl_event *e, cl_event *done)
{
  __sync_fetch_and_add(&copies, 1);
  if (fails() && !lost) {
    if (n > 1)
      clEnqueueReadBuffer(q, m, CL_TRUE, at, n / 2, to, 0, NULL, NULL);
    return CL_OUT_OF_RESOURCES;
  }
  if (done != NULL)
    __sync_fetch_and_add(&live, 1);
  const cl_int status = clEnqueueReadBuffer(q, m, b, at, n, to, w, e, done);
  if (lost && b)
    memset(to, 0x55, n);
  return status;
}

/* A failing one waits all the same. */
cl_int failing_clWaitForEvents(cl_uint n, const cl_event *events)
{
  const int failed = fails();
  clWaitForEvents(n, events);
  return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
}

cl_int failing_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *from,
                                      const size_t *items, const size_t *group, cl_uint w,
                                      const cl_event *e, cl_event *done)
{
  if (fails())
    return CL_OUT_OF_RESOURCES;
  if (launches == 0)
    writes_early = __sync_fetch_and_add(&writes_late, 0);
  __sync_fetch_and_add(&launches, 1);
  if (done != NULL)
    __sync_fetch_and_add(&live, 1);
  if (done == NULL && is_watched) {
    if (last_launch != NULL)
      clReleaseEvent(last_launch);
    done = &last_launch;
  }
  return clEnqueueNDRangeKernel(q, k, n, from, items, group, w, e, done);
}

void *failing_malloc(size_t n) { return fails() ? NULL : malloc(n); }
void *failing_calloc(size_t n, size_t size) { return fails() ? NULL : calloc(n, size); }
void *failing_realloc(void *at, size_t n) { return fails() ? NULL : realloc(at, n); }

/* A failing one unmaps all the same. */
cl_int failing_clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *at, cl_uint w,
                                       const cl_event *e, cl_event *done)
{
  const int failed = fails();
  __sync_fetch_and_sub(&live, 1);
  clEnqueueUnmapMemObject(q, m, at, w, e, done);
  return failed ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

int failing_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *given)
{
  return fails() ? EAGAIN : pthread_create(thread, how, run, given);
}
