/* How a simulated rank waits: exported by the front, so that all copies of Tutti and the program
 * share one state for each rank. */
#ifndef TUTTI_SIMGRID_WAITING_H
#define TUTTI_SIMGRID_WAITING_H

#ifdef __cplusplus
extern "C" {
#endif

/* Lets other ranks run. If the calling rank has tested MPI requests in vain since it last waited,
 * blocks until one completes; the next test reports it. */
void tutti_simgrid_yield(void);

/* Blocks until a rank of the same host raises a signal. Others may be taken for it: check. */
void tutti_simgrid_wait_for(const void* signal);
void tutti_simgrid_raise(const void* signal);

#ifdef __cplusplus
}
#endif

#endif
