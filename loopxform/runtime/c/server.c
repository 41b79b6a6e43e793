/* A process that runs kernels under a sanitizer: it reads requests from the standard input and
   answers on the standard output, in the numbers of this machine. A sanitizer that finds something
   ends it. */

#include "groups.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOCATE = 1, FREE, WRITE, READ, COPY, LAUNCH };
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

static void launch(void)
{
  static unsigned char scalars[LX_PARAMETERS][16];
  struct lx_launch l = {.kernel = &lx_kernels[number()], .threads = 1};
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
    default:
      return 1;
    }
    fflush(stdout);
  }
}
