/* A layer of OpenCL's loader: before a program is built, another process is asked to build it, whose
   PoCL has the library of OpenCL's functions in memory. Loading that takes half a second in every
   process that finds a program not in PoCL's cache; after this, all find it there. Where the other
   process does not answer, nothing is lost but that. */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static cl_icd_dispatch ours;
static const cl_icd_dispatch *theirs;

static int put(int to, const char *text, size_t length)
{
  while (length > 0) {
    const ssize_t sent = send(to, text, length, MSG_NOSIGNAL);
    if (sent <= 0)
      return 0;
    text += sent;
    length -= (size_t)sent;
  }
  return 1;
}

/* Sends "OPTIONS\0SOURCE" and waits until the other side has built it. */
static void ask(const char *options, const char *source)
{
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *path = getenv("PROGRAM_SERVER"), *more = getenv("POCL_EXTRA_BUILD_FLAGS");
  char answer;
  if (!path || strlen(path) >= sizeof address.sun_path)
    return;
  strcpy(address.sun_path, path);
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  if (server < 0)
    return;
  if (connect(server, (struct sockaddr *)&address, sizeof address) == 0 &&
      put(server, options, strlen(options)) && put(server, " ", 1) &&
      put(server, more ? more : "", more ? strlen(more) + 1 : 1) &&
      put(server, source, strlen(source)) && shutdown(server, SHUT_WR) == 0)
    (void)!read(server, &answer, 1);
  close(server);
}

static char *source_of(cl_program program)
{
  size_t size = 0;
  if (theirs->clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &size) != CL_SUCCESS)
    return NULL;
  char *source = calloc(size + 1, 1);
  if (source && theirs->clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, source, NULL))
    *source = 0;
  return source;
}

/* Whether a text is unlike those before. */
static int is_new(const char *text)
{
  static unsigned long long seen[256];
  unsigned long long hash = 14695981039346656037ull;
  for (const char *c = text; *c; c++)
    hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
  const int known = seen[hash % 256] == hash;
  seen[hash % 256] = hash;
  return !known;
}

static CL_API_ENTRY cl_int CL_API_CALL build(
  cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
  void(CL_CALLBACK *done)(cl_program, void *), void *data)
{
  char *source = source_of(program);
  if (source && *source && is_new(source))
    ask(options ? options : "", source);
  free(source);
  return theirs->clBuildProgram(program, count, devices, options, done, data);
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(
  cl_layer_info name, size_t size, void *value, size_t *needed)
{
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  const char own[] = "program server";
  const void *found = name == CL_LAYER_API_VERSION ? (const void *)&version : (const void *)own;
  const size_t length = name == CL_LAYER_API_VERSION ? sizeof version : sizeof own;
  if (needed)
    *needed = length;
  if (value)
    memcpy(value, found, size < length ? size : length);
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(
  cl_uint count, const cl_icd_dispatch *target, cl_uint *count_of_ours, const cl_icd_dispatch **layer)
{
  theirs = target;
  memcpy(&ours, target, count * sizeof(void *) < sizeof ours ? count * sizeof(void *) : sizeof ours);
  ours.clBuildProgram = build;
  *count_of_ours = sizeof ours / sizeof(void *);
  *layer = &ours;
  return CL_SUCCESS;
}
