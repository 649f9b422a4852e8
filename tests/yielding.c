/* Lets a rank of MPICH over UCX give way while it waits, for tests of more ranks than cores.
 *
 * MPICH polls without a pause, so each message waits for the scheduler to take the core from ranks
 * that wait themselves. Preloaded, this yields after each poll that found nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "ucp_worker_progress");
  /* Python loads its MPI privately: then nothing comes next. */
  if (next == NULL) {
    void* library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    *(void**)&next = dlsym(library, "ucp_worker_progress");
  }
  const unsigned events = next(worker);
  if (events == 0) sched_yield();
  return events;
}
