"""A `main` whose threads call written functions at the same time, while one of them now and then
gives back what they share."""

from __future__ import annotations

TEXT = """
#include <pthread.h>
enum {{ ROUNDS = {rounds}, THREADS = {threads} }};

static void *work(void *first)
{{
  long found = 0;
  for (int round = 0; round < ROUNDS; round++) {{
    found += {call};
    if (*(int *)first == 0 && round % {release} == {release} - 1)
      loopxform_release();
  }}
  return (void *)found;
}}

int main(void)
{{
  int first[THREADS];
  pthread_t threads[THREADS];
  long found = 0;
  for (int t = 0; t < THREADS; t++) {{
    first[t] = t;
    pthread_create(&threads[t], NULL, work, &first[t]);
  }}
  for (int t = 0; t < THREADS; t++) {{
    void *some;
    pthread_join(threads[t], &some);
    found += (long)some;
  }}
  loopxform_release();
  puts(found ? "differs" : "same");
  return 0;
}}
"""


def threads_calling(call: str, *, threads: int, rounds: int, release: int) -> str:
    """The text of so many `threads`, each of which evaluates `call` in so many `rounds`: not 0
    where a result is wrong. It may name `round` and the number of the thread, `*(int *)first`."""
    return TEXT.format(call=call, threads=threads, rounds=rounds, release=release)
