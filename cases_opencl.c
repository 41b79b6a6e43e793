/*
 * sat1 on an OpenCL device. Written by loopxform 0.1.0 from /tmp/w/sr/cases.c; do not edit.
 *
 * Build: cc cases_opencl.c -lOpenCL -lm
 * LOOPXFORM_DEVICE=NAME picks the device whose name contains NAME; LOOPXFORM_VERBOSE=1 tells on
 * stderr of each call whether the device or the host ran it, and why.
 */
#ifndef LOOPXFORM_RUNTIME
#define LOOPXFORM_RUNTIME

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__ /* the user may have an errno of another meaning */
extern int *__errno_location(void);
#define LX_ERRNO (*__errno_location())
#else
#include <errno.h>
#define LX_ERRNO errno
#endif

#ifdef __GNUC__
#define LX_SHARED __attribute__((weak)) /* every written file of a program has it, one is linked */
#define LX_LOCAL static __attribute__((unused))
#define LX_ALONE static __attribute__((noinline)) /* the loops beside a call stay as they are without it */
#define LX_UNLIKELY(holds) (__builtin_expect((holds) != 0, 0) != 0)
#define LX_THREAD __thread
#define LX_AT_START __attribute__((constructor))
#define LX_ADD(count, more) __sync_fetch_and_add(count, more)
#define LX_GET(place) __atomic_load_n(place, __ATOMIC_ACQUIRE)
#define LX_SET(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#else
#define LX_ADD(count, more) ((*(count) += (more)) - (more))
#define LX_GET(place) (*(place))
#define LX_SET(place, value) (*(place) = (value))
#define LX_SHARED
#define LX_LOCAL static
#define LX_ALONE static
#define LX_UNLIKELY(holds) (holds)
#define LX_THREAD
#define LX_AT_START
#endif

#ifndef LX_MIN
#define LX_MIN(a, b) ((a) < (b) ? (a) : (b))
#define LX_MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

#include "cases_opencl.h"

/* A program that was built for a device, or could not be (NULL). */
struct lx_built {
  char key[33];
  cl_context context;
  cl_device_id device;
  cl_program program;
  struct lx_built *next;
};

/* Memory of the device that no run uses, kept for the next one on the same queue: a device takes
   longer to find memory than to run a small kernel. */
struct lx_spare {
  cl_mem room;
  cl_command_queue queue;
  cl_ulong bytes;
};
#define LX_SPARES 4
#define LX_SPARE_BYTES ((cl_ulong)256 << 20)

/* What takes how long on a device, in seconds: to find it, to build a small program, to launch a
   kernel, to begin a copy, to copy a byte, an operation of one work-item, and one of many. */
struct lx_rates {
  double find_time, build_time, launch_time, copy_time, byte_time, item_time, many_time;
  cl_ulong device_key; /* 0: no device's */
};

/* What the files of a program share. It is made at the first call and kept; `status` says whether
   that went well, `chosen` which device the program asked for. */
struct lx_state {
  int lock, tried;
  cl_int status;
  cl_device_id chosen, device;
  cl_context context;
  cl_command_queue queue;
  struct lx_built *built;
  struct lx_spare spares[LX_SPARES];
  unsigned next_spare;
  int asked, verbose;                 /* what the user wants is known */
  double wanted;                      /* operations below which calls are the host's, or LX_WEIGHED */
  cl_ulong least;                     /* as many as the host does while a kernel is launched */
  double operation_time, find_time;   /* of one on the host, and to find the device */
  double missed;                      /* seconds that the device would have gained */
  struct lx_rates rates;              /* of the device, once it is `rated` */
  cl_device_id rated;
};

#define LX_FOREVER 1e+300   /* seconds, or operations */
#define LX_UNBOUNDED 1e299 /* operations of which nobody knows how many they are */
#define LX_WEIGHED -1.0    /* in place of an amount of operations: host and device are compared */
#define LX_ALL (~(cl_ulong)0) /* operations: there is no device */
#define LX_PATIENCE 10
#define LX_DOUBT 8
#define LX_MEASURING 0.3
#define lx_shared loopxform_shared_0_1_0_5
LX_SHARED struct lx_state lx_shared;

/* A kernel: the program that it is built in, its lines of OpenCL C, and the shape of a group. */
struct lx_kernel {
  const char *name;
  int program;
  cl_uint first_line, line_count;
  size_t shape[3];
};

/* How floats are divided: as the device does, correctly where it can, correctly, in any quick way. */
enum { LX_DEVICE, LX_ROUNDED, LX_EXACT, LX_RELAXED };

/* A program: what tells it from others, the macros that it is built with, and how it divides. */
struct lx_program {
  const char *key, *options;
  int division;
};

/* A part of the user's program that was offloaded: where it stands, its kernels, which the first
   `shared_lines` stand above, and what they need of a device. Kernels that are launched together are
   a program, which is built when one of them is to be launched first. */
struct lx_part {
  const char *place, *name;
  const char *const *lines;
  cl_uint shared_lines;
  const struct lx_kernel *kernels;
  int kernel_count;
  const struct lx_program *programs;
  int program_count;
  cl_ulong local_bytes;
  size_t group_size;
  int doubles, floats;   /* `floats` are to be those of C: subnormals, infinities, to nearest */
  int division;          /* of floats: LX_DEVICE, ... */
  double most_on_host;   /* operations below which calls are the host's, as tuned; or LX_WEIGHED */
  cl_ulong on_host;      /* operations that the host has done as they were few */
  double timed, operation_time; /* operations of a call that was timed on the host, and of one of them */
  double slower, last_slower; /* how many times longer the device took than was thought, twice; the last time */
};

/* A program in a run: whether a kernel of it is launched, and the program then. */
struct lx_use {
  int needed;
  cl_program program;
};

/* One run of a part: the OpenCL objects that it holds, and the first thing that went wrong: a call
   that returned `status`, or why it cannot be. After that nothing more is done. Without kernels
   launches are only counted. */
struct lx_job {
  struct lx_part *part;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  struct lx_use *uses;
  cl_kernel *kernels;
  cl_ulong largest;
  cl_uint address_bits;
  size_t launched, copies;
  cl_int status;
  const char *call, *why;
  int error, last_kernel;
  struct lx_rates rates;
  double operations, on_host, bytes; /* of the call: of the host, seconds there, and copied */
  double in_line, in_all; /* operations of one work-item of each launch, and of all of them */
  double slower;          /* of the part */
  double start_time;      /* once all is built; 0 where something was built for it */
};

LX_LOCAL struct lx_job lx_begin(struct lx_part *part, struct lx_use *uses)
{
  struct lx_job job;
  memset(&job, 0, sizeof job);
  if (part != NULL)
    memset(uses, 0, (size_t)part->program_count * sizeof *uses);
  job.part = part;
  job.uses = uses;
  job.status = CL_SUCCESS;
  job.error = LX_ERRNO;
  job.operations = LX_UNBOUNDED;
  job.on_host = LX_FOREVER;
  return job;
}

/* Whether all is well after a call; nothing that comes after a failure hides it. */
LX_LOCAL int lx_ok(struct lx_job *job, cl_int status, const char *call)
{
  if (job->status == CL_SUCCESS && status != CL_SUCCESS) {
    job->status = status;
    job->call = call;
  }
  return job->status == CL_SUCCESS;
}

LX_LOCAL void lx_refuse(struct lx_job *job, cl_int status, const char *why)
{
  if (job->status == CL_SUCCESS) {
    job->status = status;
    job->why = why;
  }
}

/* The same where something does not hold; whether the run goes on. */
LX_LOCAL int lx_require(struct lx_job *job, int holds, const char *why)
{
  if (!holds)
    lx_refuse(job, CL_INVALID_VALUE, why);
  return holds;
}

/* ---------------------------------------------------------------- what is said */

LX_LOCAL int lx_verbose(void)
{
  const char *level = getenv("LOOPXFORM_VERBOSE");
  return level != NULL && *level != '\0' && strcmp(level, "0") != 0;
}

LX_LOCAL const char *lx_status_name(cl_int status)
{
#define LX_STATUS(name) { CL_##name, "CL_" #name }
  static const struct { cl_int status; const char *name; } known[] = {
    LX_STATUS(DEVICE_NOT_FOUND), LX_STATUS(DEVICE_NOT_AVAILABLE), LX_STATUS(COMPILER_NOT_AVAILABLE), LX_STATUS(MEM_OBJECT_ALLOCATION_FAILURE), LX_STATUS(OUT_OF_RESOURCES), 
    LX_STATUS(OUT_OF_HOST_MEMORY), LX_STATUS(PROFILING_INFO_NOT_AVAILABLE), LX_STATUS(MEM_COPY_OVERLAP), LX_STATUS(BUILD_PROGRAM_FAILURE), LX_STATUS(MAP_FAILURE), 
    LX_STATUS(MISALIGNED_SUB_BUFFER_OFFSET), LX_STATUS(EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST), LX_STATUS(COMPILE_PROGRAM_FAILURE), LX_STATUS(LINKER_NOT_AVAILABLE), LX_STATUS(LINK_PROGRAM_FAILURE), 
    LX_STATUS(DEVICE_PARTITION_FAILED), LX_STATUS(KERNEL_ARG_INFO_NOT_AVAILABLE), LX_STATUS(INVALID_VALUE), LX_STATUS(INVALID_DEVICE_TYPE), LX_STATUS(INVALID_PLATFORM), 
    LX_STATUS(INVALID_DEVICE), LX_STATUS(INVALID_CONTEXT), LX_STATUS(INVALID_QUEUE_PROPERTIES), LX_STATUS(INVALID_COMMAND_QUEUE), LX_STATUS(INVALID_HOST_PTR), 
    LX_STATUS(INVALID_MEM_OBJECT), LX_STATUS(INVALID_BINARY), LX_STATUS(INVALID_BUILD_OPTIONS), LX_STATUS(INVALID_PROGRAM), LX_STATUS(INVALID_PROGRAM_EXECUTABLE), 
    LX_STATUS(INVALID_KERNEL_NAME), LX_STATUS(INVALID_KERNEL_DEFINITION), LX_STATUS(INVALID_KERNEL), LX_STATUS(INVALID_ARG_INDEX), LX_STATUS(INVALID_ARG_VALUE), 
    LX_STATUS(INVALID_ARG_SIZE), LX_STATUS(INVALID_KERNEL_ARGS), LX_STATUS(INVALID_WORK_DIMENSION), LX_STATUS(INVALID_WORK_GROUP_SIZE), LX_STATUS(INVALID_WORK_ITEM_SIZE), 
    LX_STATUS(INVALID_GLOBAL_OFFSET), LX_STATUS(INVALID_EVENT_WAIT_LIST), LX_STATUS(INVALID_EVENT), LX_STATUS(INVALID_OPERATION), LX_STATUS(INVALID_BUFFER_SIZE), 
    LX_STATUS(INVALID_GLOBAL_WORK_SIZE), LX_STATUS(INVALID_PROPERTY), LX_STATUS(INVALID_COMPILER_OPTIONS), LX_STATUS(INVALID_LINKER_OPTIONS), 
    { -1001, "CL_PLATFORM_NOT_FOUND_KHR" }
  };
  size_t which;
  for (which = 0; which < sizeof known / sizeof known[0]; which++)
    if (known[which].status == status)
      return known[which].name;
  return "an unknown status";
}

/* Says why the host runs the loops of a part. */
LX_LOCAL void lx_tell(const struct lx_part *part, const char *why, const char *call, cl_int status)
{
  if (!lx_verbose())
    return;
  if (why != NULL)
    fprintf(stderr, "loopxform: %s: %s: %s; running the loops on the host\n", part->place, part->name,
            why);
  else
    fprintf(stderr, "loopxform: %s: %s: %s failed: %s (%d); running the loops on the host\n",
            part->place, part->name, call, lx_status_name(status), (int)status);
}

/* ---------------------------------------------------------------- what is shared */

#if defined __linux__ && defined __GNUC__ /* by another name: the user may have one */
extern int lx_clock(int which, void *time) __asm__("clock_gettime");
#else
#include <time.h>
#endif

/* On a clock that goes on, in seconds. */
LX_LOCAL double lx_seconds(void)
{
#if defined __linux__ && defined __GNUC__
  long now[2] = {0, 0};
  lx_clock(1 /* CLOCK_MONOTONIC */, now);
  return (double)now[0] + 1e-9 * (double)now[1];
#else
  return (double)clock() / CLOCKS_PER_SEC;
#endif
}

LX_LOCAL double lx_greater(double a, double b) { return a > b ? a : b; }

/* One thread at a time; others wait, also while a program is built. */
LX_LOCAL void lx_lock(void)
{
#ifdef __GNUC__
  while (__sync_lock_test_and_set(&lx_shared.lock, 1))
    sched_yield();
#endif
}

LX_LOCAL void lx_unlock(void)
{
#ifdef __GNUC__
  __sync_lock_release(&lx_shared.lock);
#endif
}

/* The device whose name contains the wanted words, else the first GPU, else the first device. */
LX_LOCAL cl_device_id lx_find_device(struct lx_job *job, const char *wanted)
{
  cl_platform_id platforms[16];
  cl_uint platform_count = 0, which, each;
  cl_device_id best = NULL;
  int best_rank = 0;
  if (wanted == NULL)
    wanted = getenv("LOOPXFORM_DEVICE");
  if (!lx_ok(job, clGetPlatformIDs(16, platforms, &platform_count), "clGetPlatformIDs"))
    return NULL;
  for (which = 0; which < platform_count && which < 16; which++) {
    cl_device_id devices[32];
    cl_uint device_count = 0;
    if (clGetDeviceIDs(platforms[which], CL_DEVICE_TYPE_ALL, 32, devices, &device_count) != CL_SUCCESS)
      continue;
    for (each = 0; each < device_count && each < 32; each++) {
      char name[256] = "";
      cl_device_type type = 0;
      int rank = 1;
      if (clGetDeviceInfo(devices[each], CL_DEVICE_NAME, sizeof name - 1, name, NULL) != CL_SUCCESS ||
          clGetDeviceInfo(devices[each], CL_DEVICE_TYPE, sizeof type, &type, NULL) != CL_SUCCESS)
        continue;
      if (type & CL_DEVICE_TYPE_GPU)
        rank = 2;
      if (wanted != NULL && *wanted != '\0')
        rank = strstr(name, wanted) != NULL ? 3 : 0;
      if (rank > best_rank) {
        best_rank = rank;
        best = devices[each];
      }
    }
  }
  if (best == NULL)
    lx_refuse(job, CL_DEVICE_NOT_FOUND, "no OpenCL device");
  return best;
}

LX_LOCAL void lx_let_go(struct lx_spare *spare)
{
  if (spare->room == NULL)
    return;
  clReleaseMemObject(spare->room);
  clReleaseCommandQueue(spare->queue);
  spare->room = NULL;
}

/* Frees what is shared; runs that are under way hold what they use. */
LX_LOCAL void lx_forget(void)
{
  struct lx_built *next;
  int which;
  for (which = 0; which < LX_SPARES; which++)
    lx_let_go(&lx_shared.spares[which]);
  for (; lx_shared.built != NULL; lx_shared.built = next) {
    next = lx_shared.built->next;
    if (lx_shared.built->program != NULL)
      clReleaseProgram(lx_shared.built->program);
    clReleaseContext(lx_shared.built->context);
    free(lx_shared.built);
  }
  if (lx_shared.queue != NULL)
    clReleaseCommandQueue(lx_shared.queue);
  if (lx_shared.context != NULL)
    clReleaseContext(lx_shared.context);
  lx_shared.queue = NULL;
  lx_shared.context = NULL;
  lx_shared.device = lx_shared.rated = NULL;
  lx_shared.operation_time = 0;
  LX_SET(&lx_shared.least, (cl_ulong)30000.0);
  LX_SET(&lx_shared.tried, 0);
}

/* A queue on the device, for all parts of the program. */
LX_LOCAL void lx_make_queue(struct lx_job *job)
{
  cl_int status = CL_SUCCESS;
  cl_device_id device = lx_shared.chosen;
  const double start_time = lx_seconds();
  LX_SET(&lx_shared.tried, 1);
  if (device == NULL)
    device = lx_find_device(job, NULL);
  if (device != NULL) {
    lx_shared.device = device;
    lx_shared.context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    if (!lx_ok(job, status, "clCreateContext"))
      lx_shared.context = NULL;
  }
  if (job->status == CL_SUCCESS) {
    lx_shared.queue = clCreateCommandQueue(lx_shared.context, device, 0, &status);
    if (!lx_ok(job, status, "clCreateCommandQueue"))
      lx_shared.queue = NULL;
  }
  lx_shared.status = job->status;
  if (job->status != CL_SUCCESS)
    LX_SET(&lx_shared.least, LX_ALL);
  lx_shared.find_time = lx_seconds() - start_time;
}

LX_SHARED void loopxform_release(void)
{
  lx_lock();
  lx_forget();
  lx_unlock();
}

LX_SHARED int loopxform_device(const char *name)
{
  struct lx_job job = lx_begin(NULL, NULL);
  cl_device_id found;
  lx_lock();
  found = lx_find_device(&job, name);
  if (found != NULL) {
    lx_forget();
    lx_shared.chosen = name != NULL ? found : NULL;
  }
  lx_unlock();
  return found != NULL;
}

/* ---------------------------------------------------------------- one run of a part */

LX_LOCAL void lx_ask(struct lx_job *job, cl_device_info what, size_t bytes, void *answer)
{
  if (job->status == CL_SUCCESS)
    lx_ok(job, clGetDeviceInfo(job->device, what, bytes, answer, NULL), "clGetDeviceInfo");
}

/* What is held of a queue and its context, until `lx_end`. */
LX_LOCAL void lx_hold(struct lx_job *job, cl_command_queue queue, cl_context context,
                      cl_device_id device)
{
  job->device = device;
  if (lx_ok(job, clRetainContext(context), "clRetainContext"))
    job->context = context;
  if (job->context != NULL && lx_ok(job, clRetainCommandQueue(queue), "clRetainCommandQueue"))
    job->queue = queue;
  lx_ask(job, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof job->largest, &job->largest);
  lx_ask(job, CL_DEVICE_ADDRESS_BITS, sizeof job->address_bits, &job->address_bits);
}

/* Asked first: some compilers end the process over what does not fit. */
LX_LOCAL int lx_fits(struct lx_job *job)
{
  const struct lx_part *part = job->part;
  cl_ulong local_bytes = 0;
  size_t group_size = 0;
  const cl_device_fp_config ieee = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
  cl_device_fp_config doubles = 0, floats = 0;
  lx_ask(job, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local_bytes, &local_bytes);
  lx_ask(job, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group_size, &group_size);
  if (part->doubles)
    lx_ask(job, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles);
  if (local_bytes < part->local_bytes || group_size < part->group_size ||
      (part->doubles && doubles == 0))
    lx_refuse(job, CL_BUILD_PROGRAM_FAILURE,
              "the device has too little local memory, too small groups, or no double");
  if (part->floats || part->division == LX_EXACT)
    lx_ask(job, CL_DEVICE_SINGLE_FP_CONFIG, sizeof floats, &floats);
  if (part->floats && (floats & ieee) != ieee)
    lx_refuse(job, CL_BUILD_PROGRAM_FAILURE,
              "the device lacks subnormal floats, infinities, or rounding to nearest");
  if (part->division == LX_EXACT && !(floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT))
    lx_refuse(job, CL_BUILD_PROGRAM_FAILURE, "the device does not divide floats as C does");
  return job->status == CL_SUCCESS;
}

LX_LOCAL void lx_print_log(cl_program program, cl_device_id device)
{
  size_t bytes = 0;
  char *text;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != CL_SUCCESS)
    return;
  text = malloc(bytes + 1);
  if (text == NULL)
    return;
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, text, NULL) == CL_SUCCESS) {
    text[bytes] = '\0';
    fprintf(stderr, "%s\n", text);
  }
  free(text);
}

/* Whether the device is NVIDIA's, and copies into local memory asynchronously. */
LX_LOCAL int lx_asynchronous(cl_device_id device)
{
  const cl_device_info capability_major = 0x4000; /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV */
  cl_uint vendor = 0, major = 0;
  if (clGetDeviceInfo(device, CL_DEVICE_VENDOR_ID, sizeof vendor, &vendor, NULL) != CL_SUCCESS ||
      vendor != 0x10de ||
      clGetDeviceInfo(device, capability_major, sizeof major, &major, NULL) != CL_SUCCESS)
    return 0;
  return major >= 8;
}

/* ---------------------------------------------------------------- programs on disk */

/* Where the binary of a program is kept: a file that opens with `built_from`, which says what it was
   built from and for. No `file_path` where nothing is kept. */
struct lx_binary {
  char file_path[1024], built_from[1024];
};

LX_LOCAL cl_ulong lx_digest(const unsigned char *held_bytes, size_t byte_count)
{
  cl_ulong fnv_1a = 14695981039346656037u;
  size_t each;
  for (each = 0; each < byte_count; each++)
    fnv_1a = (fnv_1a ^ held_bytes[each]) * 1099511628211u;
  return fnv_1a;
}

/* Whether there is room behind a text for more of it. */
LX_LOCAL int lx_append(char *text, size_t room, const char *more_text)
{
  const size_t text_length = strlen(text), more_length = strlen(more_text);
  if (text_length + more_length >= room)
    return 0;
  memcpy(text + text_length, more_text, more_length + 1);
  return 1;
}

/* As `lx_append`, a number of 64 bits. */
LX_LOCAL int lx_append_number(char *text, size_t room, cl_ulong number)
{
  char hex_digits[17] = "";
  int each;
  for (each = 15; each >= 0; each--, number /= 16)
    hex_digits[each] = "0123456789abcdef"[number % 16];
  return lx_append(text, room, hex_digits);
}

#if defined __linux__ && defined __GNUC__
#define LX_KEEPS_BINARIES
/* By another name: the user may have something else that is called mkdirat. */
extern int lx_mkdirat(int at_folder, const char *folder_path, unsigned access_mode) __asm__("mkdirat");

/* The folder of programs: LOOPXFORM_CACHE names what it is in, or is off. 0 where there is none. */
LX_LOCAL int lx_cache_folder(char *folder_path, size_t room)
{
  const char *wanted = getenv("LOOPXFORM_CACHE"), *cache_home = getenv("XDG_CACHE_HOME");
  const char *user_home = getenv("HOME");
  const char *below = "/loopxform/programs";
  if (wanted != NULL && *wanted != '\0') {
    if (strcmp(wanted, "off") == 0 || strcmp(wanted, "0") == 0)
      return 0;
    below = "/programs";
  } else if (cache_home != NULL && *cache_home != '\0') {
    wanted = cache_home;
  } else if (user_home != NULL && *user_home != '\0') {
    wanted = user_home;
    below = "/.cache/loopxform/programs";
  } else {
    return 0;
  }
  return lx_append(folder_path, room, wanted) && lx_append(folder_path, room, below);
}

/* Makes the folder of a file, and those above it that are not there. */
LX_LOCAL void lx_make_folders(const char *file_path)
{
  char folder_path[1024] = "";
  char *next_slash;
  if (!lx_append(folder_path, sizeof folder_path, file_path))
    return;
  for (next_slash = strchr(folder_path + 1, '/'); next_slash != NULL;
       next_slash = strchr(next_slash + 1, '/')) {
    *next_slash = '\0';
    lx_mkdirat(-100 /* AT_FDCWD */, folder_path, 0700);
    *next_slash = '/';
  }
}
#endif

/* Adds what tells a device, and what its driver makes of programs, from others. 0 where there is no room. */
LX_LOCAL int lx_append_device(char *text, size_t room, cl_device_id device)
{
  const cl_device_info asked[] = {CL_DEVICE_NAME, CL_DEVICE_VERSION, CL_DRIVER_VERSION};
  size_t each;
  for (each = 0; each < sizeof asked / sizeof asked[0]; each++) {
    char answer[256] = "";
    if (clGetDeviceInfo(device, asked[each], sizeof answer - 1, answer, NULL) != CL_SUCCESS ||
        !lx_append(text, room, answer) || !lx_append(text, room, "\n"))
      return 0;
  }
  return 1;
}

/* The file of what was built from something: its name follows from that. */
LX_LOCAL void lx_name_file(struct lx_binary *binary)
{
  const size_t room = sizeof binary->file_path;
#ifdef LX_KEEPS_BINARIES
  if (lx_cache_folder(binary->file_path, room) && lx_append(binary->file_path, room, "/") &&
      lx_append_number(binary->file_path, room - 32,
                       lx_digest((const unsigned char *)binary->built_from, strlen(binary->built_from))))
    return;
#endif
  memset(binary->file_path, 0, room);
}

LX_LOCAL struct lx_binary lx_binary_of(cl_device_id device, const char *key, const char *options)
{
  struct lx_binary binary = {"", ""};
  const size_t room = sizeof binary.built_from;
  if (lx_append_device(binary.built_from, room, device) && lx_append(binary.built_from, room, options) &&
      lx_append(binary.built_from, room, "\n") && lx_append(binary.built_from, room, key) &&
      lx_append(binary.built_from, room, "\n"))
    lx_name_file(&binary);
  return binary;
}

/* What a file holds behind `built_from` and the digest of the rest; NULL where it is another's, or not
   whole. */
LX_LOCAL unsigned char *lx_stored(const struct lx_binary *binary, size_t *byte_count)
{
  const long most_bytes = 1L << 30;
  const size_t head_bytes = strlen(binary->built_from) + sizeof(cl_ulong);
  FILE *binary_file = *binary->file_path != '\0' ? fopen(binary->file_path, "rb") : NULL;
  unsigned char *held_bytes = NULL;
  long file_bytes;
  cl_ulong fnv_1a = 0;
  if (binary_file == NULL)
    return NULL;
  if (fseek(binary_file, 0, SEEK_END) == 0 && (file_bytes = ftell(binary_file)) > (long)head_bytes &&
      file_bytes < most_bytes && fseek(binary_file, 0, SEEK_SET) == 0 &&
      (held_bytes = malloc((size_t)file_bytes)) != NULL) {
    *byte_count = (size_t)file_bytes - head_bytes;
    if (fread(held_bytes, 1, (size_t)file_bytes, binary_file) == (size_t)file_bytes) {
      memcpy(&fnv_1a, held_bytes + head_bytes - sizeof fnv_1a, sizeof fnv_1a);
      if (memcmp(held_bytes, binary->built_from, head_bytes - sizeof fnv_1a) == 0 &&
          fnv_1a == lx_digest(held_bytes + head_bytes, *byte_count)) {
        memmove(held_bytes, held_bytes + head_bytes, *byte_count);
        fclose(binary_file);
        return held_bytes;
      }
    }
  }
  free(held_bytes);
  fclose(binary_file);
  return NULL;
}

/* The program that was kept; NULL where there is none that the device takes. */
LX_LOCAL cl_program lx_load(struct lx_job *job, const struct lx_binary *binary, const char *options)
{
  size_t byte_count = 0;
  unsigned char *held_bytes = lx_stored(binary, &byte_count);
  const unsigned char *binaries = held_bytes;
  cl_int status = CL_SUCCESS, taken = CL_SUCCESS;
  cl_program program = NULL;
  if (held_bytes == NULL)
    return NULL;
  program = clCreateProgramWithBinary(job->context, 1, &job->device, &byte_count, &binaries, &taken,
                                      &status);
  free(held_bytes);
  if (status != CL_SUCCESS)
    return NULL;
  if (taken == CL_SUCCESS && clBuildProgram(program, 1, &job->device, options, NULL, NULL) == CL_SUCCESS)
    return program;
  clReleaseProgram(program);
  return NULL;
}

/* Keeps bytes for other processes. The file takes its name when it is whole; where it cannot be
   written, nothing is kept. */
LX_LOCAL void lx_store(const struct lx_binary *binary, const void *held_bytes, size_t byte_count)
{
#ifdef LX_KEEPS_BINARIES
  char temporary_path[1024] = "";
  const size_t room = sizeof temporary_path;
  const cl_ulong fnv_1a = lx_digest(held_bytes, byte_count);
  FILE *binary_file;
  int is_whole;
  /* The address tells the threads of a process apart, and most processes; whoever comes second to a
     name keeps nothing. */
  if (*binary->file_path == '\0' || !lx_append(temporary_path, room, binary->file_path) ||
      !lx_append(temporary_path, room, ".") ||
      !lx_append_number(temporary_path, room, (cl_ulong)(uintptr_t)held_bytes))
    return;
  lx_make_folders(binary->file_path);
  binary_file = fopen(temporary_path, "wbx");
  if (binary_file == NULL)
    return;
  is_whole = fputs(binary->built_from, binary_file) >= 0 &&
             fwrite(&fnv_1a, sizeof fnv_1a, 1, binary_file) == 1 &&
             fwrite(held_bytes, 1, byte_count, binary_file) == byte_count;
  if (fclose(binary_file) != 0 || !is_whole || rename(temporary_path, binary->file_path) != 0)
    remove(temporary_path);
#else
  (void)binary, (void)held_bytes, (void)byte_count;
#endif
}

/* Keeps a program that was built. */
LX_LOCAL void lx_keep(const struct lx_binary *binary, cl_program program)
{
  size_t byte_count = 0;
  unsigned char *held_bytes;
  cl_uint device_count = 0;
  if (*binary->file_path == '\0' ||
      clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof device_count, &device_count, NULL) !=
          CL_SUCCESS || device_count != 1 ||
      clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof byte_count, &byte_count, NULL) !=
          CL_SUCCESS || byte_count == 0 || (held_bytes = malloc(byte_count)) == NULL)
    return;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof held_bytes, &held_bytes, NULL) == CL_SUCCESS)
    lx_store(binary, held_bytes, byte_count);
  free(held_bytes);
}


/* Whether a kernel is the first of a program that has its lines. */
LX_LOCAL int lx_is_first(const struct lx_part *part, int which, int each)
{
  int before;
  if (part->kernels[each].program != which)
    return 0;
  for (before = 0; before < each; before++)
    if (part->kernels[before].program == which &&
        part->kernels[before].first_line == part->kernels[each].first_line)
      return 0;
  return 1;
}

/* The text of a program, in rows of some lines: those above all kernels, and those of its own. */
LX_LOCAL const char **lx_text(const struct lx_part *part, int which, cl_uint *count)
{
  const char **text;
  int each;
  cl_uint line;
  *count = part->shared_lines;
  for (each = 0; each < part->kernel_count; each++)
    if (lx_is_first(part, which, each))
      *count += part->kernels[each].line_count;
  text = malloc(*count * sizeof *text);
  if (text == NULL)
    return NULL;
  *count = 0;
  for (line = 0; line < part->shared_lines; line++)
    text[(*count)++] = part->lines[line];
  for (each = 0; each < part->kernel_count; each++)
    if (lx_is_first(part, which, each))
      for (line = 0; line < part->kernels[each].line_count; line++)
        text[(*count)++] = part->lines[part->kernels[each].first_line + line];
  return text;
}

LX_LOCAL cl_program lx_compile(struct lx_job *job, int which, const char *options)
{
  cl_int status = CL_SUCCESS;
  cl_uint count;
  cl_program program = NULL;
  const char **text = lx_text(job->part, which, &count);
  if (!lx_ok(job, text != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc"))
    return NULL;
  program = clCreateProgramWithSource(job->context, count, text, NULL, &status);
  free(text);
  if (!lx_ok(job, status, "clCreateProgramWithSource"))
    return NULL;
  status = clBuildProgram(program, 1, &job->device, options, NULL, NULL);
  if (lx_ok(job, status, "clBuildProgram"))
    return program;
  if (lx_verbose())
    lx_print_log(program, job->device);
  clReleaseProgram(program);
  return NULL;
}

/* A program of the part, from disk where it was built before; NULL where it cannot be built. */
LX_LOCAL cl_program lx_build(struct lx_job *job, int which)
{
  cl_device_fp_config config = 0;
  char options[4096] = "";
  struct lx_binary binary;
  cl_program program;
  if (!lx_fits(job))
    return NULL;
  if (job->part->programs[which].division == LX_RELAXED)
    strcat(options, "-cl-unsafe-math-optimizations ");
  else if (job->part->programs[which].division != LX_DEVICE &&
      clGetDeviceInfo(job->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL) ==
          CL_SUCCESS && (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT))
    strcat(options, "-cl-fp32-correctly-rounded-divide-sqrt ");
  if (lx_asynchronous(job->device))
    strcat(options, "-DLX_ASYNC");
  strcat(options, job->part->programs[which].options);
  binary = lx_binary_of(job->device, job->part->programs[which].key, options);
  program = lx_load(job, &binary, options);
  if (program == NULL) {
    program = lx_compile(job, which, options);
    if (program != NULL)
      lx_keep(&binary, program);
  }
  return program;
}

/* Builds a program of the part and keeps it, or that it cannot be built. */
LX_LOCAL struct lx_built *lx_add(struct lx_job *job, int which)
{
  struct lx_built *built = malloc(sizeof *built);
  if (!lx_ok(job, built != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc"))
    return NULL;
  if (!lx_ok(job, clRetainContext(job->context), "clRetainContext")) {
    free(built);
    return NULL;
  }
  memcpy(built->key, job->part->programs[which].key, sizeof built->key);
  built->context = job->context;
  built->device = job->device;
  built->program = lx_build(job, which);
  built->next = lx_shared.built;
  lx_shared.built = built;
  return built;
}

/* The program of a part, as it was built before. */
LX_LOCAL struct lx_built *lx_find_built(const struct lx_part *part, int which, cl_context context,
                                        cl_device_id device)
{
  struct lx_built *built = lx_shared.built;
  while (built != NULL && (built->context != context || built->device != device ||
                           strcmp(built->key, part->programs[which].key) != 0))
    built = built->next;
  return built;
}

/* Holds a program of the part: kernels with the same text are built once for each context. */
LX_LOCAL void lx_hold_program(struct lx_job *job, int which)
{
  struct lx_built *built = lx_find_built(job->part, which, job->context, job->device);
  if (built == NULL && job->status == CL_SUCCESS)
    built = lx_add(job, which);
  if (job->status != CL_SUCCESS)
    return;
  if (built->program == NULL)
    lx_refuse(job, CL_BUILD_PROGRAM_FAILURE, "its kernels could not be built before");
  else if (lx_ok(job, clRetainProgram(built->program), "clRetainProgram"))
    job->uses[which].program = built->program;
}

/* Holds the programs whose kernels will be launched. */
LX_LOCAL void lx_hold_programs(struct lx_job *job)
{
  int which;
  for (which = 0; which < job->part->program_count; which++)
    if (job->uses[which].needed)
      lx_hold_program(job, which);
}

/* ---------------------------------------------------------------- host or device */

/* Seconds of an operation of the host at its best: of loops over neighbouring floats, as the user's
   compiler writes them. */
LX_LOCAL double lx_host_operation(void)
{
  float addends[1024], results[1024];
  volatile float half_of = 0.5f, last_result = 0;
  double time_taken, best_time = 1;
  int turn, again, each;
  for (each = 0; each < 1024; each++)
    addends[each] = results[each] = (float)each;
  for (turn = 0; turn < 8; turn++) {
    const double start_time = lx_seconds();
    for (again = 0; again < 64; again++) {
      const float factor = half_of;
      for (each = 0; each < 1024; each++)
        results[each] = factor * results[each] + addends[each];
    }
    time_taken = lx_seconds() - start_time;
    last_result = last_result + results[turn];
    best_time = LX_MIN(best_time, time_taken);
  }
  return best_time / (1024 * 64 * 5); /* five operations each */
}

/* The operations below which calls are the host's, as a text says; LX_WEIGHED where it says nothing. */
LX_LOCAL double lx_amount(const char *text)
{
  char *rest = NULL;
  const double most = strtod(text, &rest);
  if (strcmp(text, "always") == 0 || strcmp(text, "never") == 0)
    return *text == 'a' ? LX_FOREVER : 0;
  return rest != text && *rest == '\0' && most >= 0 ? most : LX_WEIGHED;
}

/* Asks once what LOOPXFORM_HOST says. When the program starts, where that can be: it takes longer than a
   small call. */
LX_LOCAL LX_AT_START void lx_ask_user(void)
{
  const char *wanted = getenv("LOOPXFORM_HOST");
  const double most = wanted != NULL ? lx_amount(wanted) : LX_WEIGHED;
  lx_lock();
  if (!lx_shared.asked) {
    if (most == LX_WEIGHED && wanted != NULL && *wanted != '\0')
      fprintf(stderr, "loopxform: LOOPXFORM_HOST=%s: not always, never or a number of operations\n", wanted);
    lx_shared.wanted = most;
    lx_shared.verbose = lx_verbose();
    LX_SET(&lx_shared.least, (cl_ulong)30000.0);
    LX_SET(&lx_shared.asked, 1);
  }
  lx_unlock();
}

/* Says which version runs, and why. */
LX_LOCAL void lx_tell_version(const struct lx_part *part, double operations, const char *version)
{
  char count[32] = "unknown number of";
  const int error = LX_ERRNO;
  if (operations < LX_UNBOUNDED)
    sprintf(count, "%.3g", operations);
  fprintf(stderr, "loopxform: %s: %s: on the %s (%s operations)\n", part->place, part->name, version, count);
  LX_ERRNO = error;
}

/* The operations below which calls of a part are the host's; LX_WEIGHED where that is open. */
LX_LOCAL double lx_limit(const struct lx_part *part)
{
  return lx_shared.wanted >= 0 ? lx_shared.wanted : part->most_on_host;
}

/* Whether the host has done the operations before a device could have begun, whatever it is: before
   it has been found, or a kernel launched. Many small calls together are not small. */
LX_LOCAL int lx_is_small(struct lx_part *part, double operations)
{
  const double most = 500000000.0;
  double limit;
  if (!LX_GET(&lx_shared.asked))
    lx_ask_user();
  limit = lx_limit(part);
  if (limit >= 0 ? operations >= limit
                 : operations >= (double)LX_GET(&lx_shared.least) &&
                       (LX_GET(&lx_shared.tried) || operations >= most ||
                        (double)LX_ADD(&part->on_host, (cl_ulong)operations) >= LX_PATIENCE * most))
    return 0;
  if (lx_shared.verbose)
    lx_tell_version(part, operations, limit >= 0 ? "host, as was asked for" :
                    LX_GET(&lx_shared.least) == LX_ALL ? "host, as there is no device" :
                    "host, done before a device begins");
  return 1;
}

/* The file of what was measured of the device that the user asks for by this name. */
LX_LOCAL struct lx_binary lx_rates_file(void)
{
  struct lx_binary binary = {"", "rates 5\n"};
  const char *wanted = getenv("LOOPXFORM_DEVICE");
  const size_t room = sizeof binary.built_from;
  if (lx_shared.chosen != NULL ? lx_append_device(binary.built_from, room, lx_shared.chosen)
                               : lx_append(binary.built_from, room, wanted != NULL ? wanted : ""))
    lx_name_file(&binary);
  return binary;
}

/* What an earlier process has measured; else what no device is known to be quicker than. */
LX_LOCAL void lx_recall_rates(void)
{
  const struct lx_rates quick = { 0.05, 0.02, 2e-06, 5e-06, 2e-11, 1e-10, 1e-14, 0 };
  const struct lx_binary binary = lx_rates_file();
  size_t byte_count = 0;
  unsigned char *held_bytes = lx_stored(&binary, &byte_count);
  lx_shared.rates = quick;
  if (held_bytes != NULL && byte_count == sizeof quick)
    memcpy(&lx_shared.rates, held_bytes, sizeof quick);
  free(held_bytes);
}

/* Seconds of the launches that were gone through, and of the copies. */
LX_LOCAL double lx_on_device(const struct lx_job *job)
{
  const struct lx_rates *rates = &job->rates;
  const double kernels_time = LX_DOUBT * (job->in_line * rates->item_time + job->in_all * rates->many_time);
  return job->slower * ((double)job->launched * rates->launch_time + (double)job->copies * rates->copy_time +
                        job->bytes * rates->byte_time + kernels_time);
}

/* Seconds until the device can begin: to find and measure it, or, once it was measured, to build what is
   not built. */
LX_LOCAL double lx_price(const struct lx_job *job)
{
  const struct lx_part *part = job->part;
  const double begin_time = lx_shared.tried ? 0 : job->rates.find_time;
  double builds = 0; /* of the probe: a program takes one, and one for 20 rows of its text */
  int which, each;
  if (job->rates.device_key == 0)
    return begin_time + LX_MEASURING;
  for (which = 0; which < part->program_count; which++)
    if (job->uses[which].needed && lx_find_built(part, which, lx_shared.context, lx_shared.device) == NULL)
      for (each = 0, builds += 1; each < part->kernel_count; each++)
        builds += lx_is_first(part, which, each) ? part->kernels[each].line_count / 20.0 : 0;
  return begin_time + builds * job->rates.build_time;
}

/* Says what was weighed up, and which version runs. */
LX_LOCAL void lx_tell_weighed(const struct lx_job *job, const char *version, double price)
{
  char text[512] = "device, as was asked for";
  if (lx_limit(job->part) < 0 && job->operations >= LX_UNBOUNDED)
    strcpy(text, "device, as data decide how long its loops run");
  if (job->on_host < LX_FOREVER)
    sprintf(text, "%s: %.3g s on the host, %.3g s on the device (launches: %.0f, bytes: %.0f), %.3g s until it begins",
            version, job->on_host, lx_on_device(job), (double)job->launched, job->bytes, price);
  if (*version == 'd')
    sprintf(text + strlen(text), "; last kernel %.200s", job->part->kernels[job->last_kernel].name);
  lx_tell_version(job->part, job->operations, text);
}

/* Begins to weigh up a call of so many operations. */
LX_LOCAL void lx_weigh(struct lx_job *job, double operations)
{
  job->operations = operations;
  if (operations >= LX_UNBOUNDED || lx_limit(job->part) >= 0)
    return;
  lx_lock();
  if (lx_shared.operation_time == 0) {
    lx_shared.operation_time = lx_host_operation();
    lx_recall_rates();
  }
  job->rates = lx_shared.rates;
  job->slower = lx_greater(1, job->part->slower);
  job->on_host = operations * (job->part->timed > 0 && job->part->timed <= operations
                                   ? job->part->operation_time : lx_shared.operation_time);
  lx_unlock();
}

/* Times the user's loops, for later calls of as many operations: a bound from below becomes a time. */
struct lx_timer {
  struct lx_part *part;
  double operations, start_time;
};
static LX_THREAD struct lx_timer lx_next_timer;
#ifdef __GNUC__
#define LX_TIMED struct lx_timer lx_timer __attribute__((__cleanup__(lx_stop), __unused__)) = lx_begin_host();
#else
#define LX_TIMED
#endif

LX_LOCAL struct lx_timer lx_begin_host(void)
{
  const struct lx_timer timer = lx_next_timer;
  lx_next_timer.part = NULL;
  return timer;
}

LX_LOCAL void lx_stop(struct lx_timer *timer)
{
  struct lx_part *part = timer->part;
  double operation_time;
  if (part == NULL)
    return;
  operation_time = (lx_seconds() - timer->start_time) / timer->operations;
  lx_lock();
  if (part->timed == 0 || timer->operations <= part->timed || operation_time < part->operation_time) {
    part->timed = timer->operations;
    part->operation_time = operation_time;
  }
  lx_unlock();
}

/* Whether a device that has yet to begin is put off, at a price in seconds: it is worth that where this
   call alone gains as much, or calls before it would have gained LX_PATIENCE times as much. */
LX_LOCAL int lx_is_put_off(const struct lx_job *job, double price)
{
  const double gain = job->on_host - lx_on_device(job);
  const double most = job->rates.device_key != 0 && gain >= price ? 0 : LX_PATIENCE * price;
  const int is_put_off = gain <= 0 || lx_shared.missed + gain < most;
  lx_shared.missed = lx_greater(0, lx_shared.missed + (is_put_off ? lx_greater(0, gain) : -most));
  return is_put_off;
}

/* Has the loops timed, which run next. */
LX_LOCAL void lx_time_host(const struct lx_job *job)
{
  const struct lx_timer timer = {job->part, job->operations, lx_seconds()};
  lx_next_timer = timer;
}

/* Whether the host has done a call before the device. */
LX_LOCAL int lx_host_is_sooner(struct lx_job *job)
{
  double price;
  int is_sooner;
  if (job->on_host == LX_FOREVER || (job->status != CL_SUCCESS && job->on_host > lx_on_device(job)))
    return 0;
  lx_lock();
  price = lx_price(job);
  is_sooner = lx_is_put_off(job, price);
  lx_unlock();
  if (!is_sooner)
    return 0;
  if (lx_shared.verbose)
    lx_tell_weighed(job, "host", price);
  LX_ERRNO = job->error; /* where no rates are kept */
  lx_time_host(job);
  return 1;
}

/* How much longer than was thought a run on the device took, which may be wrong once. */
LX_LOCAL void lx_learn(struct lx_job *job)
{
  struct lx_part *part = job->part;
  if (lx_verbose())
    lx_tell_weighed(job, "device", 0);
  if (job->on_host == LX_FOREVER || job->start_time == 0)
    return;
  lx_lock();
  job->slower *= (lx_seconds() - job->start_time) / lx_on_device(job);
  part->slower = LX_MIN(part->last_slower, job->slower);
  part->last_slower = job->slower;
  lx_unlock();
}

LX_LOCAL void lx_measure(struct lx_job *job, cl_ulong device_key);

/* Measures a device that is used for the first time, and weighs up again. */
LX_LOCAL void lx_weigh_again(struct lx_job *job)
{
  char text[1024] = "";
  cl_ulong device_key;
  double price = 0;
  if (job->on_host == LX_FOREVER || job->status != CL_SUCCESS)
    return;
  if (lx_shared.rated != job->device) {
    (void)lx_append_device(text, sizeof text, job->device);
    device_key = lx_digest((const unsigned char *)text, strlen(text));
    if (lx_shared.rates.device_key != device_key) {
      lx_measure(job, device_key);
      job->rates = lx_shared.rates;
      price = lx_price(job);
    }
    lx_shared.rated = job->device;
    LX_SET(&lx_shared.least, (cl_ulong)(lx_shared.rates.launch_time / lx_shared.operation_time));
  }
  job->rates = lx_shared.rates;
  if (lx_is_put_off(job, price)) {
    lx_refuse(job, CL_INVALID_OPERATION, "the host is sooner than this device");
    lx_time_host(job);
  }
}

/* Whether the host rounds to nearest, as kernels do. */
LX_LOCAL int lx_rounds_to_nearest(void)
{
  static const volatile float one = 1, tiny = 1e-30f;
  const volatile float up = one + tiny, down = one - tiny;
  return up == one && down == one;
}

/* For a run on the shared queue. */
LX_LOCAL void lx_open(struct lx_job *job)
{
  const struct lx_built *built;
  if (!lx_rounds_to_nearest())
    lx_refuse(job, CL_INVALID_OPERATION, "the host does not round to nearest");
  if (job->status != CL_SUCCESS)
    return;
  lx_lock();
  if (!lx_shared.tried)
    lx_make_queue(job);
  if (lx_shared.status == CL_SUCCESS)
    lx_hold(job, lx_shared.queue, lx_shared.context, lx_shared.device);
  lx_ok(job, lx_shared.status, "an earlier call of OpenCL");
  lx_weigh_again(job);
  built = lx_shared.built;
  lx_hold_programs(job);
  if (built == lx_shared.built)
    job->start_time = lx_seconds();
  lx_unlock();
}

LX_LOCAL void lx_get_queue(struct lx_job *job, cl_command_queue queue, cl_context *context,
                           cl_device_id *device)
{
  if (lx_ok(job, clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof *context, context, NULL),
            "clGetCommandQueueInfo"))
    lx_ok(job, clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof *device, device, NULL),
          "clGetCommandQueueInfo");
}

/* For a run on a queue of the caller's. */
LX_LOCAL void lx_open_on(struct lx_job *job, cl_command_queue queue)
{
  cl_context context = NULL;
  cl_device_id device = NULL;
  lx_get_queue(job, queue, &context, &device);
  if (job->status != CL_SUCCESS)
    return;
  lx_lock();
  lx_hold(job, queue, context, device);
  lx_hold_programs(job);
  lx_unlock();
}

LX_SHARED int loopxform_use(cl_command_queue queue)
{
  struct lx_job job = lx_begin(NULL, NULL);
  cl_context context = NULL;
  cl_device_id device = NULL;
  if (queue != NULL) {
    lx_get_queue(&job, queue, &context, &device);
    if (job.status == CL_SUCCESS)
      lx_hold(&job, queue, context, device);
  }
  lx_lock();
  if (job.status == CL_SUCCESS) {
    lx_forget();
    LX_SET(&lx_shared.tried, queue != NULL);
    lx_shared.status = CL_SUCCESS;
    lx_shared.device = device;
    lx_shared.context = context;
    lx_shared.queue = queue;
  }
  lx_unlock();
  if (job.status != CL_SUCCESS && job.queue != NULL)
    clReleaseCommandQueue(job.queue);
  if (job.status != CL_SUCCESS && job.context != NULL)
    clReleaseContext(job.context);
  return job.status;
}

/* Lets go of what the run holds. */
LX_LOCAL void lx_end(struct lx_job *job)
{
  int which;
  for (which = 0; which < job->part->program_count; which++)
    if (job->uses[which].program != NULL)
      clReleaseProgram(job->uses[which].program);
  if (job->queue != NULL)
    clReleaseCommandQueue(job->queue);
  if (job->context != NULL)
    clReleaseContext(job->context);
}

/* 1 where all went well; else it is said that the host runs the loops. */
LX_LOCAL int lx_done(struct lx_job *job)
{
  if (job->status != CL_SUCCESS)
    lx_tell(job->part, job->why, job->call, job->status);
  else
    lx_learn(job);
  lx_end(job);
  LX_ERRNO = job->error; /* OpenCL sets it, where the user's loops do not */
  return job->status == CL_SUCCESS;
}

/* ---------------------------------------------------------------- memory of the device */

/* Room for as many elements of so many bytes. */
LX_LOCAL cl_mem lx_room(struct lx_job *job, long long count, size_t element)
{
  cl_int status = CL_SUCCESS;
  cl_mem room;
  if (count > 0 && ((unsigned long long)count > SIZE_MAX / element ||
                    (cl_ulong)count * element > job->largest))
    lx_refuse(job, CL_INVALID_BUFFER_SIZE, "an array is larger than the device allocates");
  if (job->status != CL_SUCCESS)
    return NULL;
  room = clCreateBuffer(job->context, CL_MEM_READ_WRITE, count > 0 ? (size_t)count * element : 1,
                        NULL, &status);
  return lx_ok(job, status, "clCreateBuffer") ? room : NULL;
}

LX_LOCAL void lx_free_room(cl_mem room)
{
  if (room != NULL)
    clReleaseMemObject(room);
}

/* Whether what is enqueued later runs later, also on what an earlier run used. */
LX_LOCAL int lx_in_order(struct lx_job *job)
{
  cl_command_queue_properties properties = 0;
  return clGetCommandQueueInfo(job->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) ==
             CL_SUCCESS && !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* The bytes of a room that is kept between runs; 0 for one that is not. */
LX_LOCAL cl_ulong lx_kept(long long count, size_t element)
{
  return count > 0 && (cl_ulong)count <= LX_SPARE_BYTES / element ? (cl_ulong)count * element : 0;
}

/* As `lx_room`, for what only kernels use: there may be some from an earlier run. */
LX_LOCAL cl_mem lx_own_room(struct lx_job *job, long long count, size_t element)
{
  const cl_ulong bytes = lx_kept(count, element);
  cl_mem room = NULL;
  int which;
  if (job->status != CL_SUCCESS)
    return NULL;
  lx_lock();
  for (which = 0; which < LX_SPARES && room == NULL; which++) {
    struct lx_spare *spare = &lx_shared.spares[which];
    if (spare->room != NULL && spare->queue == job->queue && bytes > 0 && spare->bytes == bytes) {
      room = spare->room;
      spare->room = NULL;
      clReleaseCommandQueue(spare->queue);
    }
  }
  lx_unlock();
  return room != NULL ? room : lx_room(job, count, element);
}

/* Frees what `lx_own_room` gave, or keeps it for the next run. */
LX_LOCAL void lx_free_own_room(struct lx_job *job, cl_mem room, long long count, size_t element)
{
  struct lx_spare spare;
  if (room == NULL)
    return;
  spare.room = room;
  spare.queue = job->queue;
  spare.bytes = lx_kept(count, element);
  if (job->status != CL_SUCCESS || spare.bytes == 0 || !lx_in_order(job) || clRetainCommandQueue(job->queue) != CL_SUCCESS) {
    clReleaseMemObject(room);
    return;
  }
  lx_lock();
  lx_let_go(&lx_shared.spares[lx_shared.next_spare % LX_SPARES]);
  lx_shared.spares[lx_shared.next_spare++ % LX_SPARES] = spare;
  lx_unlock();
}

/* A part of an array: the bytes in front of it, and its own. */
struct lx_span {
  size_t at, bytes;
};

/* The elements from `begin` to before `end`. */
LX_LOCAL struct lx_span lx_span(long long begin, long long end, size_t element)
{
  struct lx_span part = {0, 0};
  if (0 <= begin && begin < end) {
    part.at = (size_t)begin * element;
    part.bytes = (size_t)(end - begin) * element;
  }
  return part;
}

/* The same, of a part that a run copies. */
LX_LOCAL struct lx_span lx_copied(struct lx_job *job, long long begin, long long end, size_t element)
{
  const struct lx_span part = lx_span(begin, end, element);
  job->copies++;
  job->bytes += (double)part.bytes;
  return part;
}

LX_LOCAL void lx_write(struct lx_job *job, cl_mem room, const void *data, struct lx_span part)
{
  if (job->status == CL_SUCCESS && part.bytes > 0)
    lx_ok(job, clEnqueueWriteBuffer(job->queue, room, CL_TRUE, part.at, part.bytes,
                                    (const char *)data + part.at, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

/* Reads the part into `data`, which has room for it alone. */
LX_LOCAL void lx_read_part(struct lx_job *job, cl_mem room, void *data, struct lx_span part)
{
  if (job->status == CL_SUCCESS && part.bytes > 0)
    lx_ok(job, clEnqueueReadBuffer(job->queue, room, CL_TRUE, part.at, part.bytes, data, 0, NULL, NULL),
          "clEnqueueReadBuffer");
}

LX_LOCAL void lx_read(struct lx_job *job, cl_mem room, void *data, struct lx_span part)
{
  lx_read_part(job, room, (char *)data + part.at, part);
}

/* Reads the part into new memory, to be freed by lx_replace. */
LX_LOCAL void *lx_fetch(struct lx_job *job, cl_mem room, struct lx_span part)
{
  void *data = NULL;
  if (job->status == CL_SUCCESS && part.bytes > 0) {
    data = malloc(part.bytes);
    if (lx_ok(job, data != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc"))
      lx_read_part(job, room, data, part);
  }
  return data;
}

LX_LOCAL void lx_replace(struct lx_job *job, void *data, void *by, struct lx_span part)
{
  if (job->status == CL_SUCCESS && by != NULL)
    memcpy((char *)data + part.at, by, part.bytes);
  free(by);
}

/* Whether two pieces of memory have no byte in common. */
LX_LOCAL int lx_apart(const void *one, size_t one_bytes, const void *other, size_t other_bytes)
{
  return (uintptr_t)one + one_bytes <= (uintptr_t)other ||
         (uintptr_t)other + other_bytes <= (uintptr_t)one;
}

/* ---------------------------------------------------------------- launches */

/* Kernel objects of this run alone: two threads may be in here at once. */
LX_LOCAL void lx_make_kernels(struct lx_job *job, cl_kernel *kernels)
{
  cl_int status = CL_SUCCESS;
  int which;
  job->kernels = kernels;
  job->launched = 0;
  for (which = 0; which < job->part->kernel_count && job->status == CL_SUCCESS; which++) {
    const struct lx_kernel *kernel = &job->part->kernels[which];
    if (job->uses[kernel->program].program == NULL)
      continue;
    kernels[which] = clCreateKernel(job->uses[kernel->program].program, kernel->name, &status);
    if (!lx_ok(job, status, "clCreateKernel"))
      kernels[which] = NULL;
  }
}

LX_LOCAL void lx_free_kernels(struct lx_job *job)
{
  int which;
  for (which = 0; which < job->part->kernel_count; which++)
    if (job->kernels[which] != NULL)
      clReleaseKernel(job->kernels[which]);
  job->kernels = NULL;
}

LX_LOCAL void lx_set(struct lx_job *job, int kernel, cl_uint place, size_t bytes, const void *value)
{
  if (job->kernels != NULL && job->kernels[kernel] != NULL && job->status == CL_SUCCESS)
    lx_ok(job, clSetKernelArg(job->kernels[kernel], place, bytes, value), "clSetKernelArg");
}

LX_LOCAL size_t lx_count(long long groups) { return groups > 0 ? (size_t)groups : 0; }

/* Items in one dimension, as far as the device and the host can count. */
LX_LOCAL size_t lx_items(struct lx_job *job, size_t groups, size_t shape)
{
  const size_t most = job->address_bits < CHAR_BIT * sizeof groups
                          ? ((size_t)1 << job->address_bits) - 1 : SIZE_MAX;
  if (groups > most / shape)
    lx_refuse(job, CL_INVALID_GLOBAL_WORK_SIZE, "there are more work-items than the device counts");
  return groups * shape;
}

/* One launch. A kernel reads what those before it wrote, whatever the order of the queue. Without kernels
   the `operations` of each work-item are counted, as long as the device may be sooner than the host. */
LX_LOCAL void lx_step(struct lx_job *job, int kernel, size_t groups_x, size_t groups_y, size_t groups_z,
                      double operations)
{
  const size_t *shape = job->part->kernels[kernel].shape;
  size_t items[3];
  if (job->status != CL_SUCCESS || groups_x == 0 || groups_y == 0 || groups_z == 0)
    return;
  job->launched++;
  job->last_kernel = kernel;
  if (job->kernels == NULL) {
    job->uses[job->part->kernels[kernel].program].needed = 1;
    if (job->on_host == LX_FOREVER)
      return;
    job->in_line += operations;
    job->in_all += operations * (double)groups_x * (double)groups_y * (double)groups_z *
                   (double)(shape[0] * shape[1] * shape[2]);
    if (lx_on_device(job) > job->on_host)
      lx_refuse(job, CL_INVALID_OPERATION, "its launches take longer");
    return;
  }
  if (job->launched > 1)
    lx_ok(job, clEnqueueBarrierWithWaitList(job->queue, 0, NULL, NULL), "clEnqueueBarrierWithWaitList");
  items[0] = lx_items(job, groups_x, shape[0]);
  items[1] = lx_items(job, groups_y, shape[1]);
  items[2] = lx_items(job, groups_z, shape[2]);
  if (job->status == CL_SUCCESS)
    lx_ok(job, clEnqueueNDRangeKernel(job->queue, job->kernels[kernel], 3, NULL, items, shape, 0, NULL,
                                      NULL), "clEnqueueNDRangeKernel");
}

/* Whether what follows depends on data, which there are none of without kernels: then there is
   something to do. */
LX_LOCAL int lx_ahead(struct lx_job *job)
{
  int which;
  if (job->kernels != NULL || job->status != CL_SUCCESS)
    return job->status != CL_SUCCESS;
  for (which = 0; which < job->part->program_count; which++)
    job->uses[which].needed = 1;
  job->launched++;
  return 1;
}

/* The number that kernels have left in a flag; 0 after a failure. */
LX_LOCAL cl_int lx_told(struct lx_job *job, cl_mem flag)
{
  cl_int number = 0;
  if (job->status == CL_SUCCESS)
    lx_ok(job, clEnqueueBarrierWithWaitList(job->queue, 0, NULL, NULL), "clEnqueueBarrierWithWaitList");
  lx_read(job, flag, &number, lx_span(0, 1, sizeof number));
  return job->status == CL_SUCCESS ? number : 0;
}

LX_LOCAL void lx_finish(struct lx_job *job)
{
  if (job->status == CL_SUCCESS)
    lx_ok(job, clFinish(job->queue), "clFinish");
}

/* ---------------------------------------------------------------- a device, measured */

static const char *const lx_probe_lines[] = {
  "__kernel void lx_item(__global float *a, int n)\n{\nconst int i = get_global_id(0);\nfloat x = a[i & 255];\n"
  "for (int k = 0; k < n; k++)\nx = 0.5f * x + a[k & 255];\na[256 + i] = x;\n}\n"
  "__kernel void lx_many(__global float8 *a, int n)\n{\nconst int i = get_global_id(0);\nfloat8 x = a[i & 31], y = x, z = x, w = x;\n"
  "for (int k = 0; k < n; k++) {\nconst float8 b = a[k & 31];\nx = 0.5f * x + b, y = 0.4f * y + b;\n"
  "z = 0.3f * z + b, w = 0.2f * w + b;\n}\na[32 + i] = x + y + z + w;\n}\n"
};
static const struct lx_kernel lx_probe_kernels[] = {
  { "lx_item", 0, 0, 1, { 1, 1, 1 } }, { "lx_many", 0, 0, 1, { 64, 1, 1 } }
};
static const struct lx_program lx_probe_programs[] = { { "probe", "", 0 } };
static struct lx_part lx_probe = {
  .place = "loopxform", .name = "probe", .lines = lx_probe_lines, .kernels = lx_probe_kernels,
  .kernel_count = 2, .programs = lx_probe_programs, .program_count = 1
};

/* Whether there is time to measure on. */
LX_LOCAL int lx_has_time(const struct lx_job *job)
{
  return job->status == CL_SUCCESS && lx_seconds() - job->start_time < 0.06;
}

/* Seconds of some launches of a kernel of the probe, the least of up to three times. */
LX_LOCAL double lx_time_launches(struct lx_job *job, int kernel, size_t groups, cl_int iterations, int times)
{
  double start_time, time_taken, best_time = 1e3;
  int turn, each;
  lx_set(job, kernel, 1, sizeof iterations, &iterations);
  for (turn = 0; turn == 0 || (turn < 3 && lx_has_time(job)); turn++) {
    start_time = lx_seconds();
    for (each = 0; each < times; each++)
      lx_step(job, kernel, groups, 1, 1, 0);
    lx_finish(job);
    time_taken = lx_seconds() - start_time;
    best_time = LX_MIN(best_time, time_taken);
  }
  return best_time;
}

/* Seconds of an operation of each work-item of so many groups: an iteration does three. */
LX_LOCAL double lx_time_operation(struct lx_job *job, int kernel, size_t groups)
{
  const double empty_time = lx_time_launches(job, kernel, groups, 0, 1);
  cl_int iterations = 1;
  double time_taken;
  do {
    iterations *= 4;
    time_taken = lx_time_launches(job, kernel, groups, iterations, 1) - empty_time;
  } while (time_taken < 2e-3 && iterations < 1 << 24 && lx_has_time(job));
  return lx_greater(time_taken, 1e-9) / (3.0 * iterations);
}

/* Measures the device of a job, in a tenth of a second but for a build, and keeps that for other
   processes. */
LX_LOCAL void lx_measure(struct lx_job *job, cl_ulong device_key)
{
  struct lx_rates *rates = &lx_shared.rates;
  struct lx_use use = {0, NULL};
  cl_kernel kernels[2] = {NULL, NULL};
  struct lx_job probe = lx_begin(&lx_probe, &use);
  const struct lx_binary binary = lx_rates_file();
  const struct lx_span word = {0, 4}, all = {0, (size_t)4 << 20};
  char *data = calloc(1, all.bytes);
  double start_time = lx_seconds();
  cl_mem room;
  lx_ok(&probe, data != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "malloc");
  lx_hold(&probe, job->queue, job->context, job->device);
  if (probe.status == CL_SUCCESS)
    use.program = lx_compile(&probe, 0, "");
  rates->device_key = device_key;
  rates->find_time = lx_shared.find_time;
  probe.start_time = lx_seconds();
  rates->build_time = probe.start_time - start_time;
  lx_make_kernels(&probe, kernels);
  room = lx_room(&probe, (long long)all.bytes, 1);
  lx_set(&probe, 0, 0, sizeof room, &room);
  lx_set(&probe, 1, 0, sizeof room, &room);
  lx_write(&probe, room, data, all);
  rates->launch_time = lx_time_launches(&probe, 0, 1, 0, 32) / 32;
  start_time = lx_seconds();
  lx_write(&probe, room, data, word);
  rates->copy_time = lx_seconds() - start_time;
  lx_write(&probe, room, data, all);
  lx_read(&probe, room, data, all);
  rates->byte_time = (lx_seconds() - start_time) / (2 * (double)all.bytes);
  rates->item_time = lx_time_operation(&probe, 0, 1);
  rates->many_time = lx_time_operation(&probe, 1, 1024) / (1024.0 * 64 * 32);
  if (probe.status == CL_SUCCESS)
    lx_store(&binary, rates, sizeof *rates);
  else
    rates->many_time = 1; /* of each operation: nothing is known to be sooner there */
  lx_free_kernels(&probe);
  lx_free_room(room);
  lx_end(&probe);
  free(data);
}


#endif

#ifndef LOOPXFORM_TUNING
#define LOOPXFORM_TUNING
/* ---------------------------------------------------------------- thresholds, as tuned */

/* A number that decides between versions, and what a tuning file says of it: -1 where it is silent. */
struct lx_threshold {
  const char *name;
  long long used_number, tuned_number;
};

/* Those of a part: SOURCE.tuning calls them FUNCTION.NAME, and may speak of other functions (with spaces
   around each name) too. They keep their numbers once they are read. */
struct lx_tuning {
  struct lx_part *part;
  const char *source_name, *function_name, *function_names;
  struct lx_threshold *thresholds;
  int threshold_count, is_read;
  double most_on_host; /* as the file says, or LX_WEIGHED */
};

/* Says why a tuning file is not used; `what_text` is that in it. */
LX_LOCAL int lx_not_tuned(const struct lx_tuning *tuning, const char *file_path, int line_number,
                          const char *why_not, const char *what_text)
{
  char place_text[32] = "";
  if (line_number > 0)
    sprintf(place_text, ":%d", line_number);
  fprintf(stderr, "loopxform: %s%s: %s: '%s'; %s runs as it was built\n", file_path, place_text, why_not,
          what_text, tuning->function_name);
  return -1;
}

/* A text without the spaces around it. */
LX_LOCAL char *lx_trimmed(char *text)
{
  const char *spaces = " \t\r\n";
  size_t text_length = strlen(text);
  while (text_length > 0 && strchr(spaces, text[text_length - 1]) != NULL)
    text[--text_length] = '\0';
  return text + strspn(text, spaces);
}

/* Whether a word is among others that have spaces around them. */
LX_LOCAL int lx_is_among(const char *words, const char *word)
{
  const size_t word_length = strlen(word);
  const char *found = words;
  while (word_length > 0 && (found = strstr(found + 1, word)) != NULL)
    if (found[-1] == ' ' && found[word_length] == ' ')
      return 1;
  return 0;
}

/* Takes what a line says of the part. NULL where it means something; else what is wrong with `what_text`. */
LX_LOCAL const char *lx_take_line(struct lx_tuning *tuning, char *line_text, const char *device_name,
                                  const char **what_text)
{
  const struct lx_threshold *behind_last = tuning->thresholds + tuning->threshold_count;
  struct lx_threshold *threshold = tuning->thresholds;
  char *value_text = strchr(line_text, '='), *parameter_name;
  size_t digit_count;
  *what_text = line_text;
  if (value_text == NULL)
    return "this is not NAME=VALUE";
  *value_text++ = '\0';
  line_text = lx_trimmed(line_text);
  *what_text = value_text = lx_trimmed(value_text);
  if (strcmp(line_text, "version") == 0)
    return strcmp(value_text, "1") != 0 ? "this is another version of tuning files" : NULL;
  if (strcmp(line_text, "device") == 0)
    return device_name != NULL && *device_name != '\0' && strcmp(value_text, device_name) != 0
               ? "this is for another device" : NULL;
  parameter_name = strrchr(line_text, '.');
  if (parameter_name != NULL)
    *parameter_name++ = '\0';
  if (strcmp(line_text, tuning->function_name) != 0) {
    *what_text = line_text;
    return lx_is_among(tuning->function_names, line_text) ? NULL : "there is no function with this name";
  }
  if (parameter_name == NULL) {
    *what_text = line_text;
    return "this is not FUNCTION.NAME=VALUE";
  }
  if (strcmp(parameter_name, "host") == 0) {
    tuning->most_on_host = lx_amount(value_text);
    return tuning->most_on_host < 0 ? "this is not never, always or a number of operations" : NULL;
  }
  *what_text = parameter_name;
  while (threshold < behind_last && strcmp(parameter_name, threshold->name) != 0)
    threshold++;
  if (threshold == behind_last) /* other parameters have decided how the part was built */
    return strncmp(parameter_name, "suff_", 5) == 0 ? "there is no threshold with this name" : NULL;
  if (threshold->tuned_number >= 0)
    return "this is given twice";
  *what_text = value_text;
  digit_count = strspn(value_text, "0123456789");
  if (digit_count == 0 || digit_count > 10 || value_text[digit_count] != '\0' ||
      strtoll(value_text, NULL, 10) > 2147483647)
    return "this is not a number from 0 to 2147483647";
  threshold->tuned_number = strtoll(value_text, NULL, 10);
  return NULL;
}

/* What is wrong with a file, with `what_text` in which line (0: with all of it); NULL: nothing. */
LX_LOCAL const char *lx_take_lines(struct lx_tuning *tuning, FILE *tuning_file, const char *device_name,
                                   char *line_text, int room, const char **what_text, int *line_number)
{
  const char *why_not = NULL;
  while (why_not == NULL && fgets(line_text, room, tuning_file) != NULL) {
    char *line_begin = line_text + (*line_number == 0 && strncmp(line_text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    int next_letter = strchr(line_begin, '\n') != NULL ? '\n' : getc(tuning_file);
    const int is_whole = next_letter == '\n' || next_letter == EOF;
    while (next_letter != '\n' && next_letter != EOF)
      next_letter = getc(tuning_file);
    ++*line_number;
    *what_text = line_begin;
    if (*line_begin != '#' && *lx_trimmed(line_begin) != '\0')
      why_not = is_whole ? lx_take_line(tuning, line_begin, device_name, what_text) : "this line is too long";
  }
  if (why_not != NULL || !ferror(tuning_file))
    return why_not;
  *line_number = 0;
  *what_text = strerror(LX_ERRNO);
  return "it cannot be read";
}

/* Takes what a file says: 1 where it says something of the part, 0 where it does not or there is none, -1
   where it is not used, and that is said. A file of a folder is for the device of this name ("": there is
   no device), and need not be there; without a name the user has asked for it. */
LX_LOCAL int lx_take_file(struct lx_tuning *tuning, const char *file_path, const char *device_name)
{
  char line_text[1024];
  const char *why_not, *what_text = "";
  int line_number = 0, is_tuned = 0, each;
  FILE *tuning_file = fopen(file_path, "r");
  if (tuning_file == NULL && device_name != NULL && LX_ERRNO == 2 /* ENOENT */)
    return 0;
  if (tuning_file == NULL)
    return lx_not_tuned(tuning, file_path, 0, "it cannot be read", strerror(LX_ERRNO));
  tuning->most_on_host = LX_WEIGHED;
  for (each = 0; each < tuning->threshold_count; each++)
    tuning->thresholds[each].tuned_number = -1;
  why_not = lx_take_lines(tuning, tuning_file, device_name, line_text, sizeof line_text, &what_text, &line_number);
  fclose(tuning_file);
  if (why_not != NULL)
    return lx_not_tuned(tuning, file_path, line_number, why_not, what_text);
  for (each = 0; each < tuning->threshold_count; each++)
    if (tuning->thresholds[each].tuned_number >= 0) {
      tuning->thresholds[each].used_number = tuning->thresholds[each].tuned_number;
      is_tuned = 1;
    }
  if (tuning->most_on_host >= 0) {
    tuning->part->most_on_host = tuning->most_on_host;
    is_tuned = 1;
  }
  if (lx_verbose() && (is_tuned || device_name == NULL))
    fprintf(stderr, "loopxform: %s: %s: %sthresholds in %s\n", tuning->part->place, tuning->part->name,
            is_tuned ? "" : "no ", file_path);
  return is_tuned;
}

/* Takes what FOLDER/SOURCE.DEVICE.tuning says, else FOLDER/SOURCE.tuning. Of a device's name, the letters
   and digits count. */
LX_LOCAL void lx_take_folder(struct lx_tuning *tuning, const char *folder_path, const char *device_name)
{
  char device_suffix[128] = ".";
  size_t name_length = 1;
  const char *device_suffixes[2], *next_letter;
  int each, is_tuned = 0;
  for (next_letter = device_name; *next_letter != '\0' && name_length < 101; next_letter++)
    if ((unsigned)(*next_letter | 32) - 'a' < 26 || (unsigned)*next_letter - '0' < 10)
      device_suffix[name_length++] = *next_letter;
    else if (name_length > 1 && device_suffix[name_length - 1] != '-')
      device_suffix[name_length++] = '-';
  if (*next_letter == '\0' && device_suffix[name_length - 1] == '-')
    device_suffix[name_length - 1] = '\0';
  device_suffixes[0] = device_suffix[1] != '\0' ? device_suffix : ".device";
  device_suffixes[1] = "";
  for (each = *device_name == '\0'; each < 2 && is_tuned == 0; each++) {
    char file_path[1024] = "";
    const size_t room = sizeof file_path;
    if (lx_append(file_path, room, folder_path) && lx_append(file_path, room, "/") &&
        lx_append(file_path, room, tuning->source_name) && lx_append(file_path, room, device_suffixes[each]) &&
        lx_append(file_path, room, ".tuning"))
      is_tuned = lx_take_file(tuning, file_path, device_name);
  }
  if (is_tuned == 0 && lx_verbose())
    fprintf(stderr, "loopxform: %s: %s: no thresholds in %s\n", tuning->part->place, tuning->part->name, folder_path);
}

/* Reads what LOOPXFORM_TUNING names: a file, or a folder of files for the device, which is found for that. */
LX_LOCAL void lx_read_tuning(struct lx_tuning *tuning)
{
  const char *wanted = getenv("LOOPXFORM_TUNING");
  const size_t name_length = wanted != NULL ? strlen(wanted) : 0;
  struct lx_job job = lx_begin(NULL, NULL);
  char device_name[256] = "";
  lx_lock();
  if (!tuning->is_read && name_length > 7 && strcmp(wanted + name_length - 7, ".tuning") == 0) {
    lx_take_file(tuning, wanted, NULL);
  } else if (!tuning->is_read && name_length > 0) {
    if (!lx_shared.tried)
      lx_make_queue(&job);
    if (lx_shared.device != NULL)
      (void)clGetDeviceInfo(lx_shared.device, CL_DEVICE_NAME, sizeof device_name - 1, device_name, NULL);
    lx_take_folder(tuning, wanted, lx_trimmed(device_name));
  }
  LX_SET(&tuning->is_read, 1);
  lx_unlock();
  LX_ERRNO = job.error;
}

/* Has the thresholds of a part read before its first call. */
LX_LOCAL void lx_tune(struct lx_tuning *tuning)
{
  if (!LX_GET(&tuning->is_read))
    lx_read_tuning(tuning);
}
#endif


#include <stddef.h>
/* The user's loops: what the kernel replaces, and what runs where it cannot. */
static void sat1_on_host(int m, int n, const int a[restrict m][n], int s[restrict m + 1][n])
{
  for (int i = 0; i < m; i++) {
    int r = 0;
    for (int j = 0; j < n; j++) {
      r += a[i][j];
      s[i + 1][j] = s[i][j] + r;
    }
  }
}

static const char *const lx_source_sat1[] = {
  "#pragma OPENCL FP_CONTRACT ON\n#define LX_UNROLL _Pragma(\"unroll\")\n\n",
  "__kernel __attribute__((reqd_work_group_size(Tx, 1, 1)))\nvoid lx_sat1(const int m, const int n, __global const int *restrict a,\n__global uint *restrict r_part_4)\n{\n__local uint r_own_part[Tx] __attribute__((aligned(16)));\n__local uint r_own_part_2[16] __attribute__((aligned(16)));\nconst int local_x = (int)get_local_id(0), i = (int)(get_group_id(0) / ((n + 2303) / 2304));\nconst int jj = (int)(get_group_id(0) % ((n + 2303) / 2304)) * 2304, j_t = local_x;\n",
  "const int j_t_c_t = local_x, once = local_x;\n{\nuint r_own_own;\nr_own_own = 0u;\nfor (int j = jj + j_t; j < min(n, jj + 2304); j += Tx)\nr_own_own += a[(ptrdiff_t)i*n + j];\nr_own_part[local_x] = r_own_own;\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (local_x < 16) {\nuint r_own_own_2;\nr_own_own_2 = 0u;\nfor (int j_t_c = j_t_c_t; j_t_c < Tx; j_t_c += 16)\nr_own_own_2 += r_own_part[j_t_c];\nr_own_part_2[local_x] = r_own_own_2;\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\n",
  "if (local_x < 1) {\nuint r_own;\nr_own = 0u;\nfor (int j_t_c_t_c = 0; j_t_c_t_c < 16; ++j_t_c_t_c)\nr_own += r_own_part_2[j_t_c_t_c];\nr_part_4[(ptrdiff_t)i*max((n + 2303) / 2304, 1) + jj / 2304] = r_own;\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(256, 1, 1)))\nvoid lx_sat1_2(const int m, const int n, __global uint *restrict r_part_4)\n{\n__local int r[1] __attribute__((aligned(16)));\n__local uint r_part_2[256] __attribute__((aligned(16)));\n__local uint r_part_3[16] __attribute__((aligned(16)));\n__local uint r_part_own[2304] __attribute__((aligned(16)));\nconst int local_x = (int)get_local_id(0), i_3 = (int)get_group_id(0), once_3 = local_x;\n",
  "const int jj_c_o_2_c_o = 16*local_x, once_2 = local_x, jj_c_o_2_c_o_2 = 16*local_x;\nconst int jj_c_2_t = local_x;\nif (local_x < 1)\nr[0] = 0;\nfor (int jj_c_o = 0; jj_c_o < (n + 2303) / 2304; jj_c_o += 2304) {\nbarrier(CLK_GLOBAL_MEM_FENCE);\nif (jj_c_o + 2304 <= (n + 2303) / 2304) {\n{\nconst int jj_c_o_2 = jj_c_o + 9*local_x;\n{\nuint r_own_2;\nr_own_2 = 0u;\nfor (int jj_c = jj_c_o_2; jj_c < jj_c_o_2 + 9; ++jj_c) {\nuint r_next;\n",
  "r_next = r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c];\nr_own_2 += r_next;\n}\nr_part_2[local_x] = r_own_2;\n}\n}\n} else {\n{\nconst int jj_c_o_2 = jj_c_o + 9*local_x;\nif (jj_c_o_2 < (n + 2303) / 2304) {\nuint r_own_2;\nr_own_2 = 0u;\nfor (int jj_c = jj_c_o_2; jj_c < min((n + 2303) / 2304, jj_c_o_2 + 9); ++jj_c) {\nuint r_next;\nr_next = r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c];\nr_own_2 += r_next;\n}\nr_part_2[local_x] = r_own_2;\n}\n}\n",
  "}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj_c_o + 2304 <= (n + 2303) / 2304) {\nif (local_x < 16) {\nuint r_own_3;\nr_own_3 = 0u;\nfor (int jj_c_o_2_c = jj_c_o_2_c_o; jj_c_o_2_c < jj_c_o_2_c_o + 16; ++jj_c_o_2_c) {\nuint r_next_2;\nr_next_2 = r_part_2[jj_c_o_2_c];\nr_own_3 += r_next_2;\n}\nr_part_3[local_x] = r_own_3;\n}\n} else {\nif (local_x < 16 && jj_c_o_2_c_o < ((n + 2303) / 2304 - jj_c_o + 8) / 9) {\nuint r_own_3;\nr_own_3 = 0u;\n",
  "for (int jj_c_o_2_c = jj_c_o_2_c_o; jj_c_o_2_c < min(((n + 2303) / 2304 - jj_c_o + 8) / 9, jj_c_o_2_c_o + 16); ++jj_c_o_2_c) {\nuint r_next_2;\nr_next_2 = r_part_2[jj_c_o_2_c];\nr_own_3 += r_next_2;\n}\nr_part_3[local_x] = r_own_3;\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj_c_o + 2304 <= (n + 2303) / 2304) {\nif (local_x < 1)\nfor (int jj_c_o_2_c_o_c = 0; jj_c_o_2_c_o_c < 16; ++jj_c_o_2_c_o_c) {\nuint r_next_3;\nr_next_3 = r_part_3[jj_c_o_2_c_o_c];\n",
  "r_part_3[jj_c_o_2_c_o_c] = r[0];\nr[0] += r_next_3;\n}\n} else {\nif (local_x < 1)\nfor (int jj_c_o_2_c_o_c = 0; jj_c_o_2_c_o_c < min((((n + 2303) / 2304 - jj_c_o + 8) / 9 + 15) / 16, 16); ++jj_c_o_2_c_o_c) {\nuint r_next_3;\nr_next_3 = r_part_3[jj_c_o_2_c_o_c];\nr_part_3[jj_c_o_2_c_o_c] = r[0];\nr[0] += r_next_3;\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj_c_o + 2304 <= (n + 2303) / 2304) {\nif (local_x < 16) {\nint r_run_3;\nr_run_3 = r_part_3[local_x];\n",
  "for (int jj_c_o_2_c_2 = jj_c_o_2_c_o_2; jj_c_o_2_c_2 < jj_c_o_2_c_o_2 + 16; ++jj_c_o_2_c_2) {\nuint r_next_2;\nr_next_2 = r_part_2[jj_c_o_2_c_2];\nr_part_2[jj_c_o_2_c_2] = r_run_3;\nr_run_3 += r_next_2;\n}\n}\n} else {\nif (local_x < 16 && jj_c_o_2_c_o_2 < ((n + 2303) / 2304 - jj_c_o + 8) / 9) {\nint r_run_3;\nr_run_3 = r_part_3[local_x];\n",
  "for (int jj_c_o_2_c_2 = jj_c_o_2_c_o_2; jj_c_o_2_c_2 < min(((n + 2303) / 2304 - jj_c_o + 8) / 9, jj_c_o_2_c_o_2 + 16); ++jj_c_o_2_c_2) {\nuint r_next_2;\nr_next_2 = r_part_2[jj_c_o_2_c_2];\nr_part_2[jj_c_o_2_c_2] = r_run_3;\nr_run_3 += r_next_2;\n}\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj_c_o + 2304 <= (n + 2303) / 2304) {\n{\nconst int jj_c_o_2_2 = jj_c_o + 9*local_x;\n{\nint r_run_2;\nr_run_2 = r_part_2[local_x];\n",
  "for (int jj_c_3 = jj_c_o_2_2; jj_c_3 < jj_c_o_2_2 + 9; ++jj_c_3) {\nuint r_next;\nr_next = r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c_3];\nr_part_own[jj_c_3 - jj_c_o] = r_run_2;\nr_run_2 += r_next;\n}\n}\n}\n} else {\n{\nconst int jj_c_o_2_2 = jj_c_o + 9*local_x;\nif (jj_c_o_2_2 < (n + 2303) / 2304) {\nint r_run_2;\nr_run_2 = r_part_2[local_x];\nfor (int jj_c_3 = jj_c_o_2_2; jj_c_3 < min((n + 2303) / 2304, jj_c_o_2_2 + 9); ++jj_c_3) {\nuint r_next;\n",
  "r_next = r_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c_3];\nr_part_own[jj_c_3 - jj_c_o] = r_run_2;\nr_run_2 += r_next;\n}\n}\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\nif (jj_c_o + 2304 <= (n + 2303) / 2304) {\nfor (int jj_c_2 = jj_c_o + jj_c_2_t; jj_c_2 < jj_c_o + 2304; jj_c_2 += Tx)\nr_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c_2] = r_part_own[jj_c_2 - jj_c_o];\n} else {\n",
  "for (int jj_c_2 = jj_c_o + jj_c_2_t; jj_c_2 < min((n + 2303) / 2304, jj_c_o + 2304); jj_c_2 += Tx)\nr_part_4[(ptrdiff_t)i_3*max((n + 2303) / 2304, 1) + jj_c_2] = r_part_own[jj_c_2 - jj_c_o];\n}\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(256, 1, 1)))\nvoid lx_sat1_3(const int m, const int n, __global const int *restrict a, __global int *restrict s,\n__global const uint *restrict r_part_4)\n{\n__local uint r_run_part[256] __attribute__((aligned(16)));\n__local int a_loc[2304] __attribute__((aligned(16)));\n__local uint r_run_part_2[16] __attribute__((aligned(16)));\n__local int s_own[2304] __attribute__((aligned(16)));\n",
  "const int local_x = (int)get_local_id(0);\nconst uint item = (uint)get_local_id(0);\nconst int i_4 = (int)(get_group_id(0) / ((n + 2303) / 2304));\nconst int jj_2 = (int)(get_group_id(0) % ((n + 2303) / 2304)) * 2304, j_3_o = jj_2 + 9*local_x;\nconst int j_3_o_c_o = 16*local_x, once_4 = local_x, j_3_o_c_o_2 = 16*local_x;\nconst int j_3_o_2 = jj_2 + 9*local_x, j_3_2_t = local_x;\nif (jj_2 + 2304 <= n) {\n\nLX_UNROLL for (uint r = 0; r < 9; ++r) {\n",
  "const uint at = r * (256) + item;\nconst int c0 = (int)(at);\na_loc[c0] = a[(ptrdiff_t)i_4*n + (jj_2 + c0)];\n}\n} else {\n\nLX_UNROLL for (uint r = 0; r < 9; ++r) {\nconst uint at = r * (256) + item;\nconst int c0 = (int)(at);\na_loc[c0] = a[(ptrdiff_t)i_4*n + min(jj_2 + c0, n - 1)];\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj_2 + 2304 <= n) {\n{\nuint r_run_own;\nr_run_own = 0u;\nfor (int j_3 = j_3_o; j_3 < j_3_o + 9; ++j_3)\nr_run_own += a_loc[j_3 - jj_2];\n",
  "r_run_part[local_x] = r_run_own;\n}\n} else {\nif (j_3_o < n) {\nuint r_run_own;\nr_run_own = 0u;\nfor (int j_3 = j_3_o; j_3 < min(n, j_3_o + 9); ++j_3)\nr_run_own += a_loc[j_3 - jj_2];\nr_run_part[local_x] = r_run_own;\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj_2 + 2304 <= n) {\nif (local_x < 16) {\nuint r_run_own_2;\nr_run_own_2 = 0u;\nfor (int j_3_o_c = j_3_o_c_o; j_3_o_c < j_3_o_c_o + 16; ++j_3_o_c) {\nuint r_run_next;\nr_run_next = r_run_part[j_3_o_c];\n",
  "r_run_own_2 += r_run_next;\n}\nr_run_part_2[local_x] = r_run_own_2;\n}\n} else {\nif (local_x < 16 && j_3_o_c_o < (n - jj_2 + 8) / 9) {\nuint r_run_own_2;\nr_run_own_2 = 0u;\nfor (int j_3_o_c = j_3_o_c_o; j_3_o_c < min((n - jj_2 + 8) / 9, j_3_o_c_o + 16); ++j_3_o_c) {\nuint r_run_next;\nr_run_next = r_run_part[j_3_o_c];\nr_run_own_2 += r_run_next;\n}\nr_run_part_2[local_x] = r_run_own_2;\n}\n}\nint r_run = 0;\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj_2 + 2304 <= n) {\n",
  "if (local_x < 1) {\nr_run = r_part_4[(ptrdiff_t)i_4*max((n + 2303) / 2304, 1) + jj_2 / 2304];\nfor (int j_3_o_c_o_c = 0; j_3_o_c_o_c < 16; ++j_3_o_c_o_c) {\nuint r_run_next_2;\nr_run_next_2 = r_run_part_2[j_3_o_c_o_c];\nr_run_part_2[j_3_o_c_o_c] = r_run;\nr_run += r_run_next_2;\n}\n}\n} else {\nif (local_x < 1) {\nr_run = r_part_4[(ptrdiff_t)i_4*max((n + 2303) / 2304, 1) + jj_2 / 2304];\n",
  "for (int j_3_o_c_o_c = 0; j_3_o_c_o_c < min(((n - jj_2 + 8) / 9 + 15) / 16, 16); ++j_3_o_c_o_c) {\nuint r_run_next_2;\nr_run_next_2 = r_run_part_2[j_3_o_c_o_c];\nr_run_part_2[j_3_o_c_o_c] = r_run;\nr_run += r_run_next_2;\n}\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj_2 + 2304 <= n) {\nif (local_x < 16) {\nint r_run_run_2;\nr_run_run_2 = r_run_part_2[local_x];\nfor (int j_3_o_c_2 = j_3_o_c_o_2; j_3_o_c_2 < j_3_o_c_o_2 + 16; ++j_3_o_c_2) {\nuint r_run_next;\n",
  "r_run_next = r_run_part[j_3_o_c_2];\nr_run_part[j_3_o_c_2] = r_run_run_2;\nr_run_run_2 += r_run_next;\n}\n}\n} else {\nif (local_x < 16 && j_3_o_c_o_2 < (n - jj_2 + 8) / 9) {\nint r_run_run_2;\nr_run_run_2 = r_run_part_2[local_x];\nfor (int j_3_o_c_2 = j_3_o_c_o_2; j_3_o_c_2 < min((n - jj_2 + 8) / 9, j_3_o_c_o_2 + 16); ++j_3_o_c_2) {\nuint r_run_next;\nr_run_next = r_run_part[j_3_o_c_2];\nr_run_part[j_3_o_c_2] = r_run_run_2;\nr_run_run_2 += r_run_next;\n}\n}\n}\n",
  "barrier(CLK_LOCAL_MEM_FENCE);\nif (jj_2 + 2304 <= n) {\n{\nint r_run_run;\nr_run_run = r_run_part[local_x];\nfor (int j_3_3 = j_3_o_2; j_3_3 < j_3_o_2 + 9; ++j_3_3) {\nr_run_run += a_loc[j_3_3 - jj_2];\ns_own[j_3_3 - jj_2] = r_run_run;\n}\n}\n} else {\nif (j_3_o_2 < n) {\nint r_run_run;\nr_run_run = r_run_part[local_x];\nfor (int j_3_3 = j_3_o_2; j_3_3 < min(n, j_3_o_2 + 9); ++j_3_3) {\nr_run_run += a_loc[j_3_3 - jj_2];\ns_own[j_3_3 - jj_2] = r_run_run;\n}\n}\n}\n",
  "barrier(CLK_LOCAL_MEM_FENCE);\nif (jj_2 + 2304 <= n) {\nfor (int j_3_2 = jj_2 + j_3_2_t; j_3_2 < jj_2 + 2304; j_3_2 += Tx)\ns[(ptrdiff_t)(i_4 + 1)*n + j_3_2] = s_own[j_3_2 - jj_2];\n} else {\nfor (int j_3_2 = jj_2 + j_3_2_t; j_3_2 < min(n, jj_2 + 2304); j_3_2 += Tx)\ns[(ptrdiff_t)(i_4 + 1)*n + j_3_2] = s_own[j_3_2 - jj_2];\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(Tx, 1, 1)))\nvoid lx_sat1_4(const int m, const int n, __global const int *restrict a, __global int *restrict s)\n{\n__local int r[1] __attribute__((aligned(16)));\n__local uint r_part[Tx] __attribute__((aligned(16)));\n__local int a_loc[LX_1] __attribute__((aligned(16)));\n__local uint r_part_2[LX_2] __attribute__((aligned(16)));\n__local int s_own[LX_1] __attribute__((aligned(16)));\n",
  "const int local_x = (int)get_local_id(0);\nconst uint item = (uint)get_local_id(0);\nconst int i = (int)get_group_id(0), once_2 = local_x, jjj_c_o = LX_3*local_x, once = local_x;\nconst int jjj_c_o_2 = LX_3*local_x, j_3_t = local_x;\nif (local_x < 1)\nr[0] = 0;\nfor (int jj = 0; jj < n; jj += LX_1) {\nif (jj + LX_1 <= n) {\n\nLX_UNROLL for (uint r_ = 0; r_ < 9; ++r_) {\nconst uint at = r_ * (Tx) + item;\nconst int c0 = (int)(at);\n",
  "a_loc[c0] = a[(ptrdiff_t)i*n + (jj + c0)];\n}\n} else {\n\nLX_UNROLL for (uint r_ = 0; r_ < 9; ++r_) {\nconst uint at = r_ * (Tx) + item;\nconst int c0 = (int)(at);\na_loc[c0] = a[(ptrdiff_t)i*n + min(jj + c0, n - 1)];\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj + LX_1 <= n) {\n{\nconst int jjj = jj + 9*local_x;\n{\nuint r_own;\nr_own = 0u;\nfor (int j = jjj; j < jjj + 9; ++j)\nr_own += a_loc[j - jj];\nr_part[local_x] = r_own;\n}\n}\n} else {\n{\n",
  "const int jjj = jj + 9*local_x;\nif (jjj < n) {\nuint r_own;\nr_own = 0u;\nfor (int j = jjj; j < min(n, jjj + 9); ++j)\nr_own += a_loc[j - jj];\nr_part[local_x] = r_own;\n}\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj + LX_1 <= n) {\nif (local_x < LX_2) {\nuint r_own_2;\nr_own_2 = 0u;\nfor (int jjj_c = jjj_c_o; jjj_c < jjj_c_o + LX_3; ++jjj_c) {\nuint r_next;\nr_next = r_part[jjj_c];\nr_own_2 += r_next;\n}\nr_part_2[local_x] = r_own_2;\n}\n} else {\n",
  "if (local_x < LX_2 && jjj_c_o < (n - jj + 8) / 9) {\nuint r_own_2;\nr_own_2 = 0u;\nfor (int jjj_c = jjj_c_o; jjj_c < min((n - jj + 8) / 9, jjj_c_o + LX_3); ++jjj_c) {\nuint r_next;\nr_next = r_part[jjj_c];\nr_own_2 += r_next;\n}\nr_part_2[local_x] = r_own_2;\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj + LX_1 <= n) {\nif (local_x < 1)\nfor (int jjj_c_o_c = 0; jjj_c_o_c < LX_2; ++jjj_c_o_c) {\nuint r_next_2;\nr_next_2 = r_part_2[jjj_c_o_c];\nr_part_2[jjj_c_o_c] = r[0];\n",
  "r[0] += r_next_2;\n}\n} else {\nif (local_x < 1)\nfor (int jjj_c_o_c = 0; jjj_c_o_c < min(((n - jj + 8) / 9 + LX_4) / LX_3, LX_2); ++jjj_c_o_c) {\nuint r_next_2;\nr_next_2 = r_part_2[jjj_c_o_c];\nr_part_2[jjj_c_o_c] = r[0];\nr[0] += r_next_2;\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj + LX_1 <= n) {\nif (local_x < LX_2) {\nint r_run_2;\nr_run_2 = r_part_2[local_x];\nfor (int jjj_c_2 = jjj_c_o_2; jjj_c_2 < jjj_c_o_2 + LX_3; ++jjj_c_2) {\nuint r_next;\n",
  "r_next = r_part[jjj_c_2];\nr_part[jjj_c_2] = r_run_2;\nr_run_2 += r_next;\n}\n}\n} else {\nif (local_x < LX_2 && jjj_c_o_2 < (n - jj + 8) / 9) {\nint r_run_2;\nr_run_2 = r_part_2[local_x];\nfor (int jjj_c_2 = jjj_c_o_2; jjj_c_2 < min((n - jj + 8) / 9, jjj_c_o_2 + LX_3); ++jjj_c_2) {\nuint r_next;\nr_next = r_part[jjj_c_2];\nr_part[jjj_c_2] = r_run_2;\nr_run_2 += r_next;\n}\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (jj + LX_1 <= n) {\n{\nconst int jjj_2 = jj + 9*local_x;\n",
  "{\nint r_run;\nr_run = r_part[local_x];\nfor (int j_4 = jjj_2; j_4 < jjj_2 + 9; ++j_4) {\nr_run += a_loc[j_4 - jj];\ns_own[j_4 - jj] = r_run;\n}\n}\n}\n} else {\n{\nconst int jjj_2 = jj + 9*local_x;\nif (jjj_2 < n) {\nint r_run;\nr_run = r_part[local_x];\nfor (int j_4 = jjj_2; j_4 < min(n, jjj_2 + 9); ++j_4) {\nr_run += a_loc[j_4 - jj];\ns_own[j_4 - jj] = r_run;\n}\n}\n}\n}\nbarrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\nif (jj + LX_1 <= n) {\n",
  "for (int j_3 = jj + j_3_t; j_3 < jj + LX_1; j_3 += Tx)\ns[(ptrdiff_t)(i + 1)*n + j_3] = s_own[j_3 - jj];\n} else {\nfor (int j_3 = jj + j_3_t; j_3 < min(n, jj + LX_1); j_3 += Tx)\ns[(ptrdiff_t)(i + 1)*n + j_3] = s_own[j_3 - jj];\n}\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(Tx, 1, 1)))\nvoid lx_sat1_5(const int m, const int n, __global const int *restrict a, __global int *restrict s)\n{\n__local int a_loc[Tk][Tx + 1] __attribute__((aligned(16)));\nconst int local_x = (int)get_local_id(0);\nconst uint item = (uint)get_local_id(0);\nconst int ii = (int)get_group_id(0) * Tx, i = ii + local_x;\nint r;\nr = 0;\nfor (int jj = 0; jj < n / Tk * Tk; jj += Tk) {\nbarrier(CLK_LOCAL_MEM_FENCE);\n\n",
  "LX_UNROLL for (uint r_ = 0; r_ < 128; ++r_) {\nconst uint at = r_ * (Tx) + item;\nconst int c0 = (int)(at / Tk), c1 = (int)(at % Tk);\na_loc[c1][c0] = a[(ptrdiff_t)min(ii + c0, m - 1)*n + (jj + c1)];\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (i < m)\nLX_UNROLL for (int j = 0; j < Tk; ++j) {\nr += a_loc[j][local_x];\ns[(ptrdiff_t)(i + 1)*n + (jj + j)] = r;\n}\n}\nfor (int jj = n / Tk * Tk; jj < n; jj += Tk) {\nbarrier(CLK_LOCAL_MEM_FENCE);\n\n",
  "LX_UNROLL for (uint r_ = 0; r_ < 128; ++r_) {\nconst uint at = r_ * (Tx) + item;\nconst int c0 = (int)(at / Tk), c1 = (int)(at % Tk);\na_loc[c1][c0] = a[(ptrdiff_t)min(ii + c0, m - 1)*n + min(jj + c1, n - 1)];\n}\nbarrier(CLK_LOCAL_MEM_FENCE);\nif (i < m)\nLX_UNROLL for (int j = 0; j < Tk; ++j)\nif (jj + j < n) {\nr += a_loc[j][local_x];\ns[(ptrdiff_t)(i + 1)*n + (jj + j)] = r;\n}\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))\nvoid lx_sat1_6(const int m, const int n, __global const int *restrict s,\n__global uint *restrict s_last_part)\n{\nconst int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);\nconst int i_2_o_t = (int)get_group_id(1) * (64*Ty), j_2_t = (int)get_group_id(0) * Tx;\nconst int i_2_o = i_2_o_t + 64*local_y, j_2 = j_2_t + local_x;\nif (i_2_o < m && j_2 < n) {\nuint s_last_own;\ns_last_own = 0u;\n",
  "for (int i_2 = i_2_o; i_2 < min(m, i_2_o + 64); ++i_2)\ns_last_own = s_last_own + s[(ptrdiff_t)(i_2 + 1)*n + j_2];\ns_last_part[(ptrdiff_t)(i_2_o / 64)*max(n, 1) + j_2] = s_last_own;\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))\nvoid lx_sat1_7(const int m, const int n, __global const uint *restrict s_last_part,\n__global uint *restrict s_last_part_2)\n{\nconst int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);\nconst int i_2_o_c_o_t = (int)get_group_id(1) * (16*Ty), j_2_2_t = (int)get_group_id(0) * Tx;\nconst int i_2_o_c_o = i_2_o_c_o_t + 16*local_y, j_2_2 = j_2_2_t + local_x;\n",
  "if (i_2_o_c_o < (m + 63) / 64 && j_2_2 < n) {\nuint s_last_own_2;\ns_last_own_2 = 0u;\nfor (int i_2_o_c = i_2_o_c_o; i_2_o_c < min((m + 63) / 64, i_2_o_c_o + 16); ++i_2_o_c) {\nuint s_last_next;\ns_last_next = s_last_part[(ptrdiff_t)i_2_o_c*max(n, 1) + j_2_2];\ns_last_own_2 += s_last_next;\n}\ns_last_part_2[(ptrdiff_t)(i_2_o_c_o / 16)*max(n, 1) + j_2_2] = s_last_own_2;\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(Tx*Ty, 1, 1)))\nvoid lx_sat1_8(const int m, const int n, __global const int *restrict s,\n__global uint *restrict s_last_part_2)\n{\nconst int local_x = (int)get_local_id(0), j_2_3_t = (int)get_group_id(0) * (Tx*Ty);\nconst int j_2_3 = j_2_3_t + local_x;\nif (j_2_3 < n) {\nint s_last = 0;\nif (0 < m)\ns_last = s[(ptrdiff_t)0*n + j_2_3];\nfor (int i_2_o_c_o_c = 0; i_2_o_c_o_c < ((m + 63) / 64 + 15) / 16; ++i_2_o_c_o_c) {\n",
  "uint s_last_next_2;\ns_last_next_2 = s_last_part_2[(ptrdiff_t)i_2_o_c_o_c*max(n, 1) + j_2_3];\ns_last_part_2[(ptrdiff_t)i_2_o_c_o_c*max(n, 1) + j_2_3] = s_last;\ns_last += s_last_next_2;\n}\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))\nvoid lx_sat1_9(const int m, const int n, __global uint *restrict s_last_part,\n__global const uint *restrict s_last_part_2)\n{\nconst int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);\nconst int i_2_o_c_o_2_t = (int)get_group_id(1) * (16*Ty), j_2_4_t = (int)get_group_id(0) * Tx;\nconst int i_2_o_c_o_2 = i_2_o_c_o_2_t + 16*local_y, j_2_4 = j_2_4_t + local_x;\n",
  "if (i_2_o_c_o_2 < (m + 63) / 64 && j_2_4 < n) {\nint s_last_run_2;\ns_last_run_2 = s_last_part_2[(ptrdiff_t)(i_2_o_c_o_2 / 16)*max(n, 1) + j_2_4];\nfor (int i_2_o_c_2 = i_2_o_c_o_2; i_2_o_c_2 < min((m + 63) / 64, i_2_o_c_o_2 + 16); ++i_2_o_c_2) {\nuint s_last_next;\ns_last_next = s_last_part[(ptrdiff_t)i_2_o_c_2*max(n, 1) + j_2_4];\ns_last_part[(ptrdiff_t)i_2_o_c_2*max(n, 1) + j_2_4] = s_last_run_2;\ns_last_run_2 += s_last_next;\n}\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(Tx, Ty, 1)))\nvoid lx_sat1_10(const int m, const int n, __global int *restrict s,\n__global const uint *restrict s_last_part)\n{\nconst int local_x = (int)get_local_id(0), local_y = (int)get_local_id(1);\nconst int i_2_o_2_t = (int)get_group_id(1) * (64*Ty), j_2_5_t = (int)get_group_id(0) * Tx;\nconst int i_2_o_2 = i_2_o_2_t + 64*local_y, j_2_5 = j_2_5_t + local_x;\nif (i_2_o_2 < m && j_2_5 < n) {\nint s_last_run;\n",
  "s_last_run = s_last_part[(ptrdiff_t)(i_2_o_2 / 64)*max(n, 1) + j_2_5];\nfor (int i_2_2 = i_2_o_2; i_2_2 < min(m, i_2_o_2 + 64); ++i_2_2) {\ns_last_run = s_last_run + s[(ptrdiff_t)(i_2_2 + 1)*n + j_2_5];\ns[(ptrdiff_t)(i_2_2 + 1)*n + j_2_5] = s_last_run;\n}\n}\n}\n",
  "__kernel __attribute__((reqd_work_group_size(Tx*Ty, 1, 1)))\nvoid lx_sat1_11(const int m, const int n, __global int *restrict s)\n{\nconst int local_x = (int)get_local_id(0), j_2_t = (int)get_group_id(0) * (Tx*Ty);\nconst int j_2 = j_2_t + local_x;\nif (j_2 < n) {\nint s_last = 0;\nif (0 < m)\ns_last = s[(ptrdiff_t)0*n + j_2];\nfor (int i_2 = 0; i_2 < m; ++i_2) {\ns_last = s_last + s[(ptrdiff_t)(i_2 + 1)*n + j_2];\ns[(ptrdiff_t)(i_2 + 1)*n + j_2] = s_last;\n}\n}\n}\n",
};

static const struct lx_kernel lx_kernels_sat1[] = {
  { "lx_sat1", 0, 1, 3, { 256, 1, 1 } }, { "lx_sat1_2", 0, 4, 11, { 256, 1, 1 } },
  { "lx_sat1_3", 0, 15, 10, { 256, 1, 1 } }, { "lx_sat1_4", 1, 25, 9, { 256, 1, 1 } },
  { "lx_sat1_4", 2, 25, 9, { 32, 1, 1 } }, { "lx_sat1_5", 3, 34, 3, { 32, 1, 1 } },
  { "lx_sat1_6", 4, 37, 2, { 16, 16, 1 } }, { "lx_sat1_7", 4, 39, 2, { 16, 16, 1 } },
  { "lx_sat1_8", 4, 41, 2, { 256, 1, 1 } }, { "lx_sat1_9", 4, 43, 2, { 16, 16, 1 } },
  { "lx_sat1_10", 4, 45, 2, { 16, 16, 1 } }, { "lx_sat1_11", 5, 47, 1, { 256, 1, 1 } },
};

static const struct lx_program lx_programs_sat1[] = {
  { "8bbeac869746c6d299c47bd268e0a73f", " -DTx=256", LX_ROUNDED }, { "5a30f792ab25ef56922f5eacdd8e4e83", " -DTx=256 -DLX_1=2304 -DLX_2=16 -DLX_3=16 -DLX_4=15", LX_ROUNDED },
  { "4ea5f837cecbe99c88640aa4edeb39b3", " -DTx=32 -DLX_1=288 -DLX_2=4 -DLX_3=8 -DLX_4=7", LX_ROUNDED }, { "4e99171aea925c8fd22c22713725be08", " -DTx=32 -DTk=128", LX_ROUNDED },
  { "b7d9af8729281ac18c80ef248953dc40", " -DTy=16 -DTx=16", LX_ROUNDED }, { "173f8ce2bc0076217a96b4dee788d267", " -DTx=16 -DTy=16", LX_ROUNDED },
};

static struct lx_part lx_part_sat1 = {
  .place = "/tmp/w/sr/cases.c:24",
  .name = "sat1",
  .lines = lx_source_sat1, .shared_lines = 1,
  .kernels = lx_kernels_sat1, .kernel_count = 12,
  .programs = lx_programs_sat1, .program_count = 6,
  .local_bytes = 19524, .group_size = 256, .doubles = 0,
  .floats = 0, .most_on_host = LX_WEIGHED, .division = LX_ROUNDED
};

static struct lx_threshold lx_thresholds_sat1[] = {
  { "suff_group_par_0", 128, -1 },
  { "suff_inner_par_1", 4608, -1 },
  { "suff_intra_par_2", 256, -1 },
  { "suff_intra_par_3", 32, -1 },
  { "suff_outer_par_4", 32768, -1 },
  { "suff_inner_par_5", 128, -1 },
};

static struct lx_tuning lx_tuning_sat1 = {
  .part = &lx_part_sat1, .source_name = "cases", .function_name = "sat1",
  .function_names = " sat1 desc desc_carry desc_max desc_rec rows rows_carry rows_f columns middle sat sat2 prods compact csr one ",
  .thresholds = lx_thresholds_sat1, .threshold_count = 6
};

/* Every launch in order; without kernels only asks whether all of them can be made. */
static void lx_run_sat1(struct lx_job *lx_job, cl_int m, cl_int n)
{
  if ((long long)m < lx_thresholds_sat1[0].used_number && (long long)n >= lx_thresholds_sat1[1].used_number) {
    lx_step(lx_job, 0, lx_count(LX_MAX((long long)m, 0) * LX_MAX(((long long)n + 2303) / 2304, 0)), lx_count(1), lx_count(1), ((2 * lx_greater(0, 0.00390625 * ((((-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 0.5 * ((double)n - 1)) - 127.5) + 256) - 1)) + 1) + 66.9375));
    lx_step(lx_job, 1, lx_count((long long)m), lx_count(1), lx_count(1), lx_job->operations);
    lx_step(lx_job, 2, lx_count(LX_MAX((long long)m, 0) * LX_MAX(((long long)n + 2303) / 2304, 0)), lx_count(1), lx_count(1), ((2 * lx_greater(0, (-lx_greater(-1 * (double)n, -1 * (0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 1)) + 9)) - 0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 1)))) + 1) + (2 * lx_greater(0, (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -1 * (0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -256) - 1) + 16)) - 0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -256) - 1))) + 1) + (3 * lx_greater(0, -lx_greater(-0.0625 * (0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8) + 15), -16)) + 1) + (3 * lx_greater(0, (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -1 * (0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -256) - 1) + 16)) - 0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -256) - 1))) + 1) + (3 * lx_greater(0, (-lx_greater(-1 * (double)n, -1 * (0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 1)) + 9)) - 0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 1)))) + 1) + 2 * lx_greater(0, 0.00390625 * ((((-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 0.5 * ((double)n - 1)) - 127.5) + 256) - 1)) + 228.99609375));
  } else if ((long long)n >= lx_thresholds_sat1[2].used_number) {
    lx_step(lx_job, 3, lx_count((long long)m), lx_count(1), lx_count(1), (lx_greater(0, 0.000434027777778 * ((double)n + 2303)) * ((2 * lx_greater(0, (-lx_greater(-1 * (double)n, -1 * (0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 1)) + 9)) - 0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 1)))) + 1) + (2 * lx_greater(0, (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -1 * (0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -256) - 1) + 16)) - 0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -256) - 1))) + 1) + 6 * lx_greater(0, -lx_greater(-0.0625 * (0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8) + 15), -16)) + (3 * lx_greater(0, (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -1 * (0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -256) - 1) + 16)) - 0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -256) - 1))) + 1) + (3 * lx_greater(0, (-lx_greater(-1 * (double)n, -1 * (0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 1)) + 9)) - 0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 1)))) + 1) + 2 * lx_greater(0, 0.00390625 * ((((-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 2304)) - 0.5 * ((double)n - 1)) - 127.5) + 256) - 1)) + 275.99609375) + 1));
  } else if ((long long)n >= lx_thresholds_sat1[3].used_number) {
    lx_step(lx_job, 4, lx_count((long long)m), lx_count(1), lx_count(1), (lx_greater(0, 0.00347222222222 * ((double)n + 287)) * ((2 * lx_greater(0, (-lx_greater(-1 * (double)n, -1 * (0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 288)) - 1)) + 9)) - 0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 288)) - 1)))) + 1) + (2 * lx_greater(0, (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -1 * (0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -32) - 1) + 8)) - 0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -32) - 1))) + 1) + 6 * lx_greater(0, -lx_greater(-0.125 * (0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8) + 7), -4)) + (3 * lx_greater(0, (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -1 * (0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -32) - 1) + 8)) - 0.5 * (-lx_greater(-0.111111111111 * (((double)n - 0.5 * ((double)n - 1)) + 8), -32) - 1))) + 1) + (3 * lx_greater(0, (-lx_greater(-1 * (double)n, -1 * (0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 288)) - 1)) + 9)) - 0.5 * (0.5 * ((double)n - 1) + (-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 288)) - 1)))) + 1) + 2 * lx_greater(0, 0.03125 * ((((-lx_greater(-1 * (double)n, -1 * (0.5 * ((double)n - 1) + 288)) - 0.5 * ((double)n - 1)) - 15.5) + 32) - 1)) + 163.96875) + 1));
  } else {
    lx_step(lx_job, 5, lx_count(((long long)m + 32 - 1) / 32), lx_count(1), lx_count(1), (896 * lx_greater(0, 0.0078125 * (double)n) + 1152 * lx_greater(0, 0.0078125 * ((((double)n - 1 * (double)n) + 128) - 1)) + 1));
  }
  if ((long long)n < lx_thresholds_sat1[4].used_number && (long long)m >= lx_thresholds_sat1[5].used_number) {
    lx_step(lx_job, 6, lx_count(((long long)n + 16 - 1) / 16), lx_count(((long long)m + 64*16 - 1) / (64*16)), lx_count(1), (2 * lx_greater(0, (-lx_greater(-1 * (double)m, -1 * (0.5 * (0.5 * ((double)m - 1) + (-lx_greater(-1 * (double)m, -1 * (0.5 * ((double)m - 1) + 1024)) - 1)) + 64)) - 0.5 * (0.5 * ((double)m - 1) + (-lx_greater(-1 * (double)m, -1 * (0.5 * ((double)m - 1) + 1024)) - 1)))) + 1));
    lx_step(lx_job, 7, lx_count(((long long)n + 16 - 1) / 16), lx_count((((long long)m + 63) / 64 + 16*16 - 1) / (16*16)), lx_count(1), (2 * lx_greater(0, (-lx_greater(-0.015625 * ((double)m + 63), -1 * (0.5 * (0.5 * (0.015625 * ((double)m + 63) - 1) + (-lx_greater(-0.015625 * ((double)m + 63), -1 * (0.5 * (0.015625 * ((double)m + 63) - 1) + 256)) - 1)) + 16)) - 0.5 * (0.5 * (0.015625 * ((double)m + 63) - 1) + (-lx_greater(-0.015625 * ((double)m + 63), -1 * (0.5 * (0.015625 * ((double)m + 63) - 1) + 256)) - 1)))) + 1));
    lx_step(lx_job, 8, lx_count(((long long)n + 16*16 - 1) / (16*16)), lx_count(1), lx_count(1), (3 * lx_greater(0, 0.0625 * (0.015625 * ((double)m + 63) + 15)) + 2));
    lx_step(lx_job, 9, lx_count(((long long)n + 16 - 1) / 16), lx_count((((long long)m + 63) / 64 + 16*16 - 1) / (16*16)), lx_count(1), (3 * lx_greater(0, (-lx_greater(-0.015625 * ((double)m + 63), -1 * (0.5 * (0.5 * (0.015625 * ((double)m + 63) - 1) + (-lx_greater(-0.015625 * ((double)m + 63), -1 * (0.5 * (0.015625 * ((double)m + 63) - 1) + 256)) - 1)) + 16)) - 0.5 * (0.5 * (0.015625 * ((double)m + 63) - 1) + (-lx_greater(-0.015625 * ((double)m + 63), -1 * (0.5 * (0.015625 * ((double)m + 63) - 1) + 256)) - 1)))) + 1));
    lx_step(lx_job, 10, lx_count(((long long)n + 16 - 1) / 16), lx_count(((long long)m + 64*16 - 1) / (64*16)), lx_count(1), (3 * lx_greater(0, (-lx_greater(-1 * (double)m, -1 * (0.5 * (0.5 * ((double)m - 1) + (-lx_greater(-1 * (double)m, -1 * (0.5 * ((double)m - 1) + 1024)) - 1)) + 64)) - 0.5 * (0.5 * ((double)m - 1) + (-lx_greater(-1 * (double)m, -1 * (0.5 * ((double)m - 1) + 1024)) - 1)))) + 1));
  } else {
    lx_step(lx_job, 11, lx_count(((long long)n + 16*16 - 1) / (16*16)), lx_count(1), lx_count(1), (3 * lx_greater(0, (double)m) + 2));
  }
  (void)m; (void)n;
}

static void lx_launch_sat1(struct lx_job *lx_job, cl_int m, cl_int n, cl_mem a, cl_mem s)
{
  cl_kernel lx_kernels[12] = {NULL};
  int lx_n;
  const int lx_own_r_part_4 = (long long)m < lx_thresholds_sat1[0].used_number && (long long)n >= lx_thresholds_sat1[1].used_number;
  cl_mem lx_mem_r_part_4 = lx_own_r_part_4 ? lx_own_room(lx_job, LX_MAX((long long)m, 1) * LX_MAX(((long long)n + 2303) / 2304, 1), sizeof(unsigned int)) : NULL;
  const int lx_own_s_last_part = (long long)n < lx_thresholds_sat1[4].used_number && (long long)m >= lx_thresholds_sat1[5].used_number;
  cl_mem lx_mem_s_last_part = lx_own_s_last_part ? lx_own_room(lx_job, LX_MAX(((long long)m + 63) / 64, 1) * LX_MAX((long long)n, 1), sizeof(unsigned int)) : NULL;
  const int lx_own_s_last_part_2 = (long long)n < lx_thresholds_sat1[4].used_number && (long long)m >= lx_thresholds_sat1[5].used_number;
  cl_mem lx_mem_s_last_part_2 = lx_own_s_last_part_2 ? lx_own_room(lx_job, LX_MAX((((long long)m + 63) / 64 + 15) / 16, 1) * LX_MAX((long long)n, 1), sizeof(unsigned int)) : NULL;
  lx_make_kernels(lx_job, lx_kernels);
  lx_set(lx_job, 0, 0, sizeof m, &m), lx_set(lx_job, 0, 1, sizeof n, &n);
  lx_set(lx_job, 0, 2, sizeof a, &a), lx_set(lx_job, 0, 3, sizeof lx_mem_r_part_4, &lx_mem_r_part_4);
  lx_set(lx_job, 1, 0, sizeof m, &m), lx_set(lx_job, 1, 1, sizeof n, &n);
  lx_set(lx_job, 1, 2, sizeof lx_mem_r_part_4, &lx_mem_r_part_4);
  lx_set(lx_job, 2, 0, sizeof m, &m), lx_set(lx_job, 2, 1, sizeof n, &n);
  lx_set(lx_job, 2, 2, sizeof a, &a), lx_set(lx_job, 2, 3, sizeof s, &s);
  lx_set(lx_job, 2, 4, sizeof lx_mem_r_part_4, &lx_mem_r_part_4);
  for (lx_n = 3; lx_n < 6; ++lx_n) {
    lx_set(lx_job, lx_n, 0, sizeof m, &m), lx_set(lx_job, lx_n, 1, sizeof n, &n);
    lx_set(lx_job, lx_n, 2, sizeof a, &a), lx_set(lx_job, lx_n, 3, sizeof s, &s);
  }
  lx_set(lx_job, 6, 0, sizeof m, &m), lx_set(lx_job, 6, 1, sizeof n, &n);
  lx_set(lx_job, 6, 2, sizeof s, &s), lx_set(lx_job, 6, 3, sizeof lx_mem_s_last_part, &lx_mem_s_last_part);
  lx_set(lx_job, 7, 0, sizeof m, &m), lx_set(lx_job, 7, 1, sizeof n, &n);
  lx_set(lx_job, 7, 2, sizeof lx_mem_s_last_part, &lx_mem_s_last_part), lx_set(lx_job, 7, 3, sizeof lx_mem_s_last_part_2, &lx_mem_s_last_part_2);
  lx_set(lx_job, 8, 0, sizeof m, &m), lx_set(lx_job, 8, 1, sizeof n, &n);
  lx_set(lx_job, 8, 2, sizeof s, &s), lx_set(lx_job, 8, 3, sizeof lx_mem_s_last_part_2, &lx_mem_s_last_part_2);
  lx_set(lx_job, 9, 0, sizeof m, &m), lx_set(lx_job, 9, 1, sizeof n, &n);
  lx_set(lx_job, 9, 2, sizeof lx_mem_s_last_part, &lx_mem_s_last_part), lx_set(lx_job, 9, 3, sizeof lx_mem_s_last_part_2, &lx_mem_s_last_part_2);
  lx_set(lx_job, 10, 0, sizeof m, &m), lx_set(lx_job, 10, 1, sizeof n, &n);
  lx_set(lx_job, 10, 2, sizeof s, &s), lx_set(lx_job, 10, 3, sizeof lx_mem_s_last_part, &lx_mem_s_last_part);
  lx_set(lx_job, 11, 0, sizeof m, &m), lx_set(lx_job, 11, 1, sizeof n, &n);
  lx_set(lx_job, 11, 2, sizeof s, &s);
  lx_run_sat1(lx_job, m, n);
  lx_free_kernels(lx_job);
  if (lx_own_r_part_4)
    lx_free_own_room(lx_job, lx_mem_r_part_4, LX_MAX((long long)m, 1) * LX_MAX(((long long)n + 2303) / 2304, 1), sizeof(unsigned int));
  if (lx_own_s_last_part)
    lx_free_own_room(lx_job, lx_mem_s_last_part, LX_MAX(((long long)m + 63) / 64, 1) * LX_MAX((long long)n, 1), sizeof(unsigned int));
  if (lx_own_s_last_part_2)
    lx_free_own_room(lx_job, lx_mem_s_last_part_2, LX_MAX((((long long)m + 63) / 64 + 15) / 16, 1) * LX_MAX((long long)n, 1), sizeof(unsigned int));
}

/* Why the launches do not mean the loops; NULL: they do. */
static const char *lx_refusal_sat1(int m, int n)
{
  return !((long long)n <= 2147483647 - 2304) ? "the bound n is too near the end of int" :
         !(((long long)n + 2303) / 2304 <= 2147483647 - 2304) ? "the bound (n + 2303) / 2304 is too near the end of int" :
         !((long long)n + 2303 >= -2147483647 && (long long)n + 2303 <= 2147483647) ? "n + 2303 overflows" :
         !((long long)m <= 2147483647 - 64*16) ? "the bound m is too near the end of int" :
         !((long long)n / 128 * 128 <= 2147483647 - 128) ? "the bound n / Tk * Tk is too near the end of int" :
         !(((long long)m + 63) / 64 <= 2147483647 - 16*16) ? "the bound (m + 63) / 64 is too near the end of int" :
         !((long long)m + 63 >= -2147483647 && (long long)m + 63 <= 2147483647) ? "m + 63 overflows" :
         !((((long long)m + 63) / 64 + 15) / 16 <= 2147483647 - 1) ? "the bound ((m + 63) / 64 + 15) / 16 is too near the end of int" :
         !(((long long)m + 63) / 64 + 15 >= -2147483647 && ((long long)m + 63) / 64 + 15 <= 2147483647) ? "(m + 63) / 64 + 15 overflows" :
         !(LX_MAX((long long)m, 1) <= 281474976710656LL && LX_MAX(((long long)n + 2303) / 2304, 1) <= 281474976710656LL / LX_MAX((long long)m, 1)) ? "r_part_4 would be too large" :
         !(LX_MAX(((long long)m + 63) / 64, 1) <= 281474976710656LL && LX_MAX((long long)n, 1) <= 281474976710656LL / LX_MAX(((long long)m + 63) / 64, 1)) ? "s_last_part would be too large" :
         !(LX_MAX((((long long)m + 63) / 64 + 15) / 16, 1) <= 281474976710656LL && LX_MAX((long long)n, 1) <= 281474976710656LL / LX_MAX((((long long)m + 63) / 64 + 15) / 16, 1)) ? "s_last_part_2 would be too large" :
         NULL;
}

int sat1_cl(cl_command_queue lx_queue, int m, int n, cl_mem a, cl_mem s)
{
  struct lx_use lx_uses[6];
  struct lx_job lx_job = lx_begin(&lx_part_sat1, lx_uses);
  lx_tune(&lx_tuning_sat1);
  if (lx_refusal_sat1(m, n) != NULL)
    return CL_INVALID_VALUE;
  /* What is computed for the launches is asked for before the first of them. */
  lx_run_sat1(&lx_job, m, n);
  if (lx_job.status != CL_SUCCESS || lx_job.launched == 0)
    return lx_job.status;
  if (a == s)
    return CL_MEM_COPY_OVERLAP;
  lx_open_on(&lx_job, lx_queue);
  lx_launch_sat1(&lx_job, (cl_int)m, (cl_int)n, a, s);
  lx_end(&lx_job);
  return lx_job.status;
}

LX_ALONE int lx_on_device_sat1(int m, int n, const int a[restrict m][n], int s[restrict m + 1][n])
{
  struct lx_use lx_uses[6];
  struct lx_job lx_job;
  const double lx_operations = 5 * lx_greater(0, (double)m) * lx_greater(0, (double)n);
  const char *lx_why = NULL;
  size_t lx_bytes_a = 0, lx_bytes_s = 0;
  cl_mem lx_mem_a, lx_mem_s;
  struct lx_span lx_in_a = {0, 0}, lx_in_s = {0, 0};
  struct lx_span lx_out_s = {0, 0};
  void *lx_new_s = NULL;
  (void)m; (void)n; (void)a; (void)s;
  lx_tune(&lx_tuning_sat1);
  if (lx_is_small(&lx_part_sat1, lx_operations))
    return 0;
  lx_job = lx_begin(&lx_part_sat1, lx_uses);
  lx_why = lx_refusal_sat1(m, n);
  if (lx_why == NULL) {
    lx_weigh(&lx_job, lx_operations);
    lx_run_sat1(&lx_job, m, n);
    if (lx_job.status == CL_SUCCESS && lx_job.launched == 0)
      return 1;
    lx_bytes_a = sizeof(int) * (((long long)m >= 1 && (long long)n >= 1) ? (size_t)((long long)m * (long long)n) : 0);
    if (lx_bytes_a > 0)
      lx_in_a = lx_copied(&lx_job, 0, (long long)m * (long long)n, sizeof(int));
    lx_bytes_s = sizeof(int) * (((long long)m >= 1 && (long long)n >= 1) ? (size_t)((long long)m * (long long)n + (long long)n) : 0);
    if (lx_bytes_s > 0)
      lx_in_s = lx_copied(&lx_job, 0, (long long)n, sizeof(int));
    if (lx_bytes_s > 0)
      lx_out_s = lx_copied(&lx_job, (long long)n, (long long)m * (long long)n + (long long)n, sizeof(int));
  }
  if (lx_why == NULL && lx_bytes_a > 0 && a == NULL)
    lx_why = "a is a null pointer";
  if (lx_why == NULL && lx_bytes_s > 0 && s == NULL)
    lx_why = "s is a null pointer";
  if (lx_why == NULL && !lx_apart(a, lx_bytes_a, s, lx_bytes_s))
    lx_why = "a and s overlap";
  if (lx_why != NULL)
    lx_refuse(&lx_job, CL_INVALID_VALUE, lx_why);
  else if (lx_host_is_sooner(&lx_job))
    return 0;
  lx_open(&lx_job);
  lx_mem_a = lx_room(&lx_job, (long long)m * (long long)n, sizeof(int));
  lx_write(&lx_job, lx_mem_a, (const void *)a, lx_in_a);
  lx_mem_s = lx_room(&lx_job, (long long)m * (long long)n + (long long)n, sizeof(int));
  lx_write(&lx_job, lx_mem_s, (const void *)s, lx_in_s);
  lx_launch_sat1(&lx_job, (cl_int)m, (cl_int)n, lx_mem_a, lx_mem_s);
  lx_finish(&lx_job);
  /* What the host would need again is replaced only once everything has arrived. */
  lx_new_s = lx_fetch(&lx_job, lx_mem_s, lx_out_s);
  lx_replace(&lx_job, (void *)s, lx_new_s, lx_out_s);
  lx_free_room(lx_mem_a);
  lx_free_room(lx_mem_s);
  return lx_done(&lx_job);
}

LX_LOCAL int lx_try_sat1(int m, int n, const int a[restrict m][n], int s[restrict m + 1][n])
{
  return LX_UNLIKELY(lx_on_device_sat1(m, n, a, s));
}

void sat1(int m, int n, const int a[restrict m][n], int s[restrict m + 1][n])
{
  if (!lx_try_sat1(m, n, a, s)) {
    LX_TIMED
    sat1_on_host(m, n, a, s);
  }
}
