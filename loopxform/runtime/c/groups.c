/* Runs the groups of a launch over threads, and the work-items of a group one after the other.

   A kernel without barriers is called for one work-item after the other. With barriers every
   work-item has a stack of its own (a fibre): a barrier goes on with the next one, and the last one
   starts the next round. All of a round must wait at the same barrier.

   With LX_TSAN fibres are threads to ThreadSanitizer, ordered by barriers alone: what two work-items
   of a group do between the same barriers, or two groups at any time, must not touch the same
   memory. With LX_ASAN each local array is a block of its own. This file itself is compiled without
   a sanitizer. */

#define _GNU_SOURCE
#include "groups.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

_Thread_local struct lx_item *lx_me;

/* ---------------------------------------------------------------- stacks */

/* A change of stacks: keeps what a call keeps on the stack left, and goes on on the other. */
void lx_switch(void **left, void *other) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
#define LX_KEPT 7 /* six registers and the address */
__asm__(".text\n.hidden lx_switch\n.globl lx_switch\n.type lx_switch,@function\nlx_switch:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
        ".size lx_switch,.-lx_switch\n");
#elif defined(__aarch64__)
#define LX_KEPT 20
__asm__(".text\n.hidden lx_switch\n.globl lx_switch\n.type lx_switch,@function\nlx_switch:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n  ret\n"
        ".size lx_switch,.-lx_switch\n");
#else
#include <ucontext.h>
#define LX_UCONTEXT 1
void lx_switch(void **left, void *other)
{
  ucontext_t here;
  *left = &here;
  swapcontext(&here, other);
}
#endif

/* program.py has no kernel compiled that needs more than 3/4 of it. So no page need be kept from use
   between two stacks, of which a process has 65530 at most. AddressSanitizer's redzones need more.
   LX_APART gives neighbours other sets of the caches. */
#if defined(LX_ASAN)
enum { LX_STACK = 1 << 22, LX_APART = 4096 };
#else
enum { LX_STACK = 1 << 20, LX_APART = 4096 };
#endif

/* The stacks of the work-items of a group. */
struct lx_stacks {
  struct lx_stacks *next;
  size_t items, bytes;
  char *memory;
};

static pthread_mutex_t lx_spare_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lx_stacks *lx_spare; /* kept from launch to launch */

static inline struct lx_stacks *lx_stacks_new(size_t items)
{
  struct lx_stacks *s = malloc(sizeof *s);
  if (!s)
    return NULL;
  s->items = items;
  s->bytes = items * (LX_STACK + LX_APART);
  s->memory = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (s->memory == MAP_FAILED) {
    free(s);
    return NULL;
  }
#ifdef MADV_NOHUGEPAGE
  madvise(s->memory, s->bytes, MADV_NOHUGEPAGE); /* only the top of each is used */
#endif
  return s;
}

static inline void lx_stacks_free(struct lx_stacks *s)
{
  munmap(s->memory, s->bytes);
  free(s);
}

static inline struct lx_stacks *lx_stacks_take(size_t items)
{
  pthread_mutex_lock(&lx_spare_lock);
  struct lx_stacks **at = &lx_spare;
  while (*at && (*at)->items < items)
    at = &(*at)->next;
  struct lx_stacks *s = *at;
  if (s)
    *at = s->next;
  pthread_mutex_unlock(&lx_spare_lock);
  return s ? s : lx_stacks_new(items);
}

static void lx_stacks_give(struct lx_stacks *s)
{
  pthread_mutex_lock(&lx_spare_lock);
  s->next = lx_spare;
  lx_spare = s;
  pthread_mutex_unlock(&lx_spare_lock);
}

static char *lx_stack_of(const struct lx_stacks *s, size_t n)
{
  return s->memory + n * (LX_STACK + LX_APART);
}

/* ---------------------------------------------------------------- what sanitizers are told */

#ifdef LX_ASAN
void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *size);
#endif
#ifdef LX_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *at);
void __tsan_release(void *at);
enum { LX_NO_SYNC = 1, LX_ALWAYS_FIBRES = 1 };
#else
enum { LX_ALWAYS_FIBRES = 0 };
#endif

/* ---------------------------------------------------------------- a thread that runs groups */

/* Memory that lives until the launch ends: sanitizers would mistake one that is used again. */
struct lx_block {
  struct lx_block *next;
  void *memory;
};

enum { LX_ARENA = 1 << 20, LX_AT_ONCE = 16, LX_THREADS = 256 };

struct lx_worker {
  struct lx_launch *launch;
  struct lx_shared *shared;
  struct lx_stacks *stacks;
  struct lx_item *items;
  void *stack; /* where it goes on when a work-item waits or is done */
  struct lx_block *blocks;
  char *arena; /* local memory that groups use one after the other */
  size_t arena_used;
  void *arguments[LX_PARAMETERS];
  void *sanitizer;
  const void *bottom;
  size_t size;
  char begin, end; /* what orders a launch with what is before and behind it */
};

struct lx_shared {
  struct lx_launch *launch;
  size_t total, next;
  int failed;
};

static void lx_fail(struct lx_worker *w, const char *text, int number)
{
  if (!__atomic_exchange_n(&w->shared->failed, 1, __ATOMIC_ACQ_REL))
    snprintf(w->launch->message, sizeof w->launch->message, text, number);
}

static inline void *lx_block_new(struct lx_worker *w, size_t bytes)
{
  struct lx_block *block = malloc(sizeof *block);
  void *memory = malloc(bytes ? bytes : 1);
  if (!block || !memory)
    abort();
  block->memory = memory;
  block->next = w->blocks;
  w->blocks = block;
  return memory;
}

static void *lx_allocate(struct lx_worker *w, size_t bytes)
{
#if defined(LX_ASAN) || defined(LX_TSAN)
  return memset(lx_block_new(w, bytes), 0xff, bytes);
#else
  const size_t rounded = (bytes + 127) & ~(size_t)127;
  if (w->arena_used + rounded > LX_ARENA)
    return NULL;
  char *memory = w->arena + w->arena_used;
  w->arena_used += rounded;
  return memory;
#endif
}

void *lx_local(size_t bytes)
{
  struct lx_group *g = lx_me->group;
  const unsigned n = lx_me->asked++;
  if (n >= LX_LOCAL_ARRAYS)
    abort();
  if (!g->arrays[n]) {
#ifdef LX_TSAN
    /* The thread makes it, before any work-item begins to use it. */
    __tsan_switch_to_fiber(g->worker->sanitizer, LX_NO_SYNC);
#endif
    g->arrays[n] = lx_allocate(g->worker, bytes);
#ifdef LX_TSAN
    __tsan_release(&g->allocated);
    __tsan_switch_to_fiber(lx_me->sanitizer, LX_NO_SYNC);
#endif
    if (!g->arrays[n]) {
      fprintf(stderr, "loopxform: no room for local memory\n");
      abort();
    }
  }
#ifdef LX_TSAN
  __tsan_acquire(&g->allocated);
#endif
  return g->arrays[n];
}

static void lx_to_item(struct lx_worker *w, struct lx_item *item, size_t n)
{
  (void)n;
  lx_me = item;
#ifdef LX_ASAN
  void *fake;
  __sanitizer_start_switch_fiber(&fake, lx_stack_of(w->stacks, n), LX_STACK);
#endif
#ifdef LX_TSAN
  __tsan_switch_to_fiber(item->sanitizer, LX_NO_SYNC);
#endif
  lx_switch(&w->stack, item->stack);
#ifdef LX_ASAN
  __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
}

static void lx_to_worker(struct lx_item *item, int line)
{
  struct lx_worker *w = item->group->worker;
  item->line = line;
#ifdef LX_ASAN
  void *fake;
  __sanitizer_start_switch_fiber(line < 0 ? NULL : &fake, w->bottom, w->size);
#endif
#ifdef LX_TSAN
  __tsan_release(line < 0 ? &w->end : &item->group->rounds[item->group->round]);
  __tsan_switch_to_fiber(w->sanitizer, LX_NO_SYNC);
#endif
  lx_switch(&item->stack, w->stack);
#ifdef LX_ASAN
  __sanitizer_finish_switch_fiber(fake, &w->bottom, &w->size);
#endif
#ifdef LX_TSAN
  /* Those that go on before this one add to the other round. */
  __tsan_acquire(&item->group->rounds[1 - item->group->round]);
#endif
}

void lx_barrier(int line)
{
  lx_to_worker(lx_me, line);
}

/* The first function on the stack of a work-item. */
__attribute__((noreturn)) static void lx_item_main(void)
{
  struct lx_worker *w = lx_me->group->worker;
#ifdef LX_ASAN
  __sanitizer_finish_switch_fiber(NULL, &w->bottom, &w->size);
#endif
#ifdef LX_TSAN
  __tsan_acquire(&w->begin);
#endif
  w->launch->kernel->run(w->arguments);
  lx_to_worker(lx_me, -1);
  abort();
}

static void lx_prepare(struct lx_worker *w, struct lx_item *item, size_t n)
{
  char *top = lx_stack_of(w->stacks, n) + LX_STACK;
#ifdef LX_UCONTEXT
  ucontext_t *context = (ucontext_t *)((uintptr_t)(top - sizeof *context) & ~(uintptr_t)63);
  getcontext(context);
  context->uc_stack.ss_sp = lx_stack_of(w->stacks, n);
  context->uc_stack.ss_size = (size_t)((char *)context - lx_stack_of(w->stacks, n));
  context->uc_link = NULL;
  makecontext(context, lx_item_main, 0);
  item->stack = context;
#else
  void **sp = (void **)((uintptr_t)top & ~(uintptr_t)63);
#if defined(__x86_64__)
  *--sp = NULL; /* as after a call: the address to go back to, which nobody does */
  *--sp = (void *)lx_item_main;
  sp -= LX_KEPT - 1;
  memset(sp, 0, (LX_KEPT - 1) * sizeof *sp);
#else
  sp -= LX_KEPT;
  memset(sp, 0, LX_KEPT * sizeof *sp);
  sp[11] = (void *)lx_item_main;
#endif
  item->stack = sp;
#endif
#ifdef LX_TSAN
  item->sanitizer = __tsan_create_fiber(0);
#endif
}

static size_t lx_items(const struct lx_launch *l)
{
  return l->local[0] * l->local[1] * l->local[2];
}

static void lx_place(struct lx_item *item, const struct lx_launch *l, size_t n)
{
  item->local_id[0] = n % l->local[0];
  item->local_id[1] = n / l->local[0] % l->local[1];
  item->local_id[2] = n / l->local[0] / l->local[1];
  item->asked = 0;
  item->line = 0;
}

static inline void lx_plain_group(struct lx_worker *w, struct lx_group *g)
{
  const size_t items = lx_items(w->launch);
  struct lx_item *item = w->items;
  lx_me = item;
  item->group = g;
  for (size_t n = 0; n < items; n++) {
    lx_place(item, w->launch, n);
    w->launch->kernel->run(w->arguments);
  }
}

static void lx_fibre_group(struct lx_worker *w, struct lx_group *g)
{
  const size_t items = lx_items(w->launch);
#ifdef LX_TSAN
  w->stacks = lx_stacks_new(items); /* of stacks that others had, it would remember these */
  if (!w->stacks)
    abort();
#endif
  for (size_t n = 0; n < items; n++) {
    lx_place(&w->items[n], w->launch, n);
    w->items[n].group = g;
    lx_prepare(w, &w->items[n], n);
  }
  for (int line = 0; line >= 0 && !w->shared->failed; g->round = 1 - g->round) {
    for (size_t n = 0; n < items; n++)
      lx_to_item(w, &w->items[n], n);
    line = w->items[0].line;
    for (size_t n = 1; n < items; n++)
      if (w->items[n].line != line) {
        const int other = w->items[n].line;
        lx_fail(w, "the barrier of line %d is not reached by all work-items of a group",
                line > 0 ? line : other);
        line = -1;
        break;
      }
  }
#ifdef LX_TSAN
  for (size_t n = 0; n < items; n++)
    __tsan_destroy_fiber(w->items[n].sanitizer);
  lx_stacks_free(w->stacks);
  w->stacks = NULL;
#endif
}

static void lx_run_group(struct lx_worker *w, size_t number)
{
  const struct lx_launch *l = w->launch;
#ifdef LX_TSAN
  struct lx_group *g = lx_block_new(w, sizeof *g); /* what orders its work-items is its own */
#else
  struct lx_group here, *g = &here;
#endif
  memset(g, 0, sizeof *g);
  g->launch = l;
  g->worker = w;
  g->id[0] = number % l->groups[0];
  g->id[1] = number / l->groups[0] % l->groups[1];
  g->id[2] = number / l->groups[0] / l->groups[1];
  w->arena_used = 0;
  for (unsigned n = 0; n < l->parameters; n++)
    w->arguments[n] = l->local_bytes[n] ? lx_allocate(w, l->local_bytes[n]) : l->arguments[n];
#ifdef LX_TSAN
  __tsan_release(&w->begin);
#endif
  if (LX_ALWAYS_FIBRES || l->kernel->barriers)
    lx_fibre_group(w, g);
  else
    lx_plain_group(w, g);
}

/* Some groups at a time, fewer towards the end. */
static void lx_run_groups(struct lx_worker *w)
{
  struct lx_shared *s = w->shared;
  while (!__atomic_load_n(&s->failed, __ATOMIC_RELAXED)) {
    const size_t taken = __atomic_load_n(&s->next, __ATOMIC_RELAXED);
    const size_t left = taken < s->total ? s->total - taken : 0;
    size_t count = left / (4 * (size_t)s->launch->threads) + 1;
    count = count > LX_AT_ONCE ? LX_AT_ONCE : count;
    const size_t first = __atomic_fetch_add(&s->next, count, __ATOMIC_RELAXED);
    if (first >= s->total)
      return;
    for (size_t n = first; n < first + count && n < s->total && !s->failed; n++)
      lx_run_group(w, n);
  }
}

static void *lx_work(void *shared)
{
  struct lx_shared *s = shared;
  struct lx_worker w = {.launch = s->launch, .shared = s};
  const size_t items = lx_items(s->launch);
  const int fibres = s->launch->kernel->barriers;
  w.items = calloc(items, sizeof *w.items);
  w.arena = aligned_alloc(128, LX_ARENA);
#ifdef LX_TSAN
  w.sanitizer = __tsan_get_current_fiber();
  const int ready = 1;
#else
  w.stacks = fibres ? lx_stacks_take(items) : NULL;
  const int ready = !fibres || w.stacks;
#endif
  (void)fibres;
  if (w.items && w.arena && ready)
    lx_run_groups(&w);
  else
    lx_fail(&w, "there is no memory for %d work-items", (int)items);
#ifdef LX_TSAN
  __tsan_acquire(&w.end);
#endif
  if (w.stacks)
    lx_stacks_give(w.stacks);
  while (w.blocks) {
    struct lx_block *block = w.blocks;
    w.blocks = block->next;
    free(block->memory);
    free(block);
  }
  free(w.items);
  free(w.arena);
  lx_me = NULL;
  return NULL;
}

/* ---------------------------------------------------------------- a launch */

int lx_run(struct lx_launch *l)
{
  struct timespec begin, end;
  struct lx_shared s = {.launch = l, .total = l->groups[0] * l->groups[1] * l->groups[2]};
  pthread_t threads[LX_THREADS];
  size_t others = 0, wanted = l->threads > 1 ? l->threads - 1 : 0;
  l->message[0] = 0;
  wanted = wanted >= s.total ? (s.total ? s.total - 1 : 0) : wanted;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  while (others < wanted && others < LX_THREADS &&
         !pthread_create(&threads[others], NULL, lx_work, &s))
    others++;
  lx_work(&s);
  while (others)
    pthread_join(threads[--others], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  l->nanoseconds = (end.tv_sec - begin.tv_sec) * 1000000000LL + (end.tv_nsec - begin.tv_nsec);
  return l->message[0] ? -1 : 0;
}
