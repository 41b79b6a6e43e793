/* Work-items, groups and launches of kernels that run as C. */

#ifndef LX_GROUPS_H
#define LX_GROUPS_H

#include <stddef.h>

enum { LX_LOCAL_ARRAYS = 64, LX_PARAMETERS = 256 };

/* A kernel: `run` calls it with the addresses of its scalars and with its pointers. */
struct lx_kernel {
  const char *name;
  void (*run)(void **arguments);
  int barriers;
};

/* One launch. Of a parameter that points to local memory `arguments` has nothing and `local_bytes`
   the size (0 for others). */
struct lx_launch {
  const struct lx_kernel *kernel;
  unsigned dimensions, parameters, threads;
  size_t groups[3], local[3];
  void *arguments[LX_PARAMETERS];
  size_t local_bytes[LX_PARAMETERS];
  long long nanoseconds;
  char message[160]; /* what went wrong, else empty */
};

/* What kernels call is in their own library, or in the program that loads it. */
#ifdef LX_SERVED
#define LX_SHARED __attribute__((visibility("default")))
#else
#define LX_SHARED __attribute__((visibility("hidden")))
#endif

struct lx_group {
  const struct lx_launch *launch;
  size_t id[3];
  void *arrays[LX_LOCAL_ARRAYS]; /* local memory, in the order in which kernels ask for it */
  struct lx_worker *worker;
  int round;
  char rounds[2], allocated; /* what orders the work-items, for ThreadSanitizer */
};

struct lx_item {
  size_t local_id[3];
  struct lx_group *group;
  unsigned asked; /* local arrays so far */
  int line;       /* of the barrier it waits at; 0: running; -1: done */
  void *stack;    /* where its fibre goes on */
  void *sanitizer;
};

/* Who runs. Fibres stay in the thread that they began in. */
extern _Thread_local struct lx_item *lx_me LX_SHARED;

/* Waits for the other work-items of the group. */
void lx_barrier(int line) LX_SHARED;

/* The next local array of the group: the same memory for each of its work-items. */
void *lx_local(size_t bytes) LX_SHARED;

/* Runs all groups. 0, or -1 with a message. */
int lx_run(struct lx_launch *launch) __attribute__((visibility("default")));

/* The kernels of the program, the last one without a name. */
extern const struct lx_kernel lx_kernels[] __attribute__((visibility("default")));

#endif
