/* A process that runs kernels under a sanitizer: it reads requests from the standard input and
   answers on the standard output, in the numbers of this machine. A sanitizer that finds something
   ends it. Kernels are in libraries that it loads. */

#include "groups.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOCATE = 1, FREE, WRITE, READ, COPY, LAUNCH, LOAD };
enum { SCALAR, BUFFER, LOCAL };

static void take(void *to, size_t bytes)
{
  if (bytes && fread(to, bytes, 1, stdin) != 1)
    exit(0);
}

static uint64_t number(void)
{
  uint64_t x;
  take(&x, sizeof x);
  return x;
}

static void *address(void)
{
  return (void *)(uintptr_t)number();
}

static void tell(const void *from, size_t bytes)
{
  if (bytes && fwrite(from, bytes, 1, stdout) != 1)
    exit(0);
}

static void tell_number(uint64_t x)
{
  tell(&x, sizeof x);
}

static const struct lx_kernel **programs;
static size_t loaded;

/* The next program; answers with what went wrong, if anything did. */
static void load(void)
{
  const size_t bytes = number();
  char *path = calloc(bytes + 1, 1), message[160] = "";
  if (!path)
    exit(1);
  take(path, bytes);
  const struct lx_kernel **more = realloc(programs, (loaded + 1) * sizeof *more);
  if (!more)
    exit(1);
  programs = more;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library)
    programs[loaded++] = dlsym(library, "lx_kernels");
  else
    snprintf(message, sizeof message, "%s", dlerror());
  free(path);
  tell(message, sizeof message);
}

static void launch(void)
{
  static unsigned char scalars[LX_PARAMETERS][16];
  const struct lx_kernel *kernels = programs[number()];
  struct lx_launch l = {.kernel = &kernels[number()], .threads = 1};
  l.dimensions = (unsigned)number();
  for (int n = 0; n < 3; n++)
    l.groups[n] = number();
  for (int n = 0; n < 3; n++)
    l.local[n] = number();
  l.parameters = (unsigned)number();
  for (unsigned n = 0; n < l.parameters; n++) {
    const uint64_t kind = number();
    if (kind == SCALAR) {
      take(scalars[n], sizeof scalars[n]);
      l.arguments[n] = scalars[n];
    } else if (kind == BUFFER)
      l.arguments[n] = address();
    else
      l.local_bytes[n] = number();
  }
  lx_run(&l);
  tell_number((uint64_t)l.nanoseconds);
  tell(l.message, sizeof l.message);
}

int main(void)
{
  for (;;) {
    switch (number()) {
    case ALLOCATE:
      tell_number((uint64_t)(uintptr_t)malloc(number()));
      break;
    case FREE:
      free(address());
      break;
    case WRITE: {
      void *to = address();
      take(to, number());
      break;
    }
    case READ: {
      const void *from = address();
      tell(from, number());
      break;
    }
    case COPY: {
      void *to = address(), *from = address();
      memcpy(to, from, number());
      break;
    }
    case LAUNCH:
      launch();
      break;
    case LOAD:
      load();
      break;
    default:
      return 1;
    }
    fflush(stdout);
  }
}
