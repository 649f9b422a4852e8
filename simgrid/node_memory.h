/* What node memory costs a simulated rank: exported by the front, so that all copies of Tutti share
 * one list of it. */
#ifndef TUTTI_SIMGRID_NODE_MEMORY_H
#define TUTTI_SIMGRID_NODE_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds or removes `bytes` of memory that the ranks of a node share. */
void tutti_simgrid_share(const void* address, size_t bytes);
void tutti_simgrid_unshare(const void* address, size_t bytes);

/* Charges the calling rank the time of moving `bytes` between 2 addresses, by the bandwidth of
 * messages inside its node; none if neither is shared. Costs O(log(pieces of shared memory)). */
void tutti_simgrid_move(const void* from, const void* to, size_t bytes);

/* Lets the time pass that the calling rank has been charged since the last time: before it sends,
 * waits, signals, reads a clock or returns to the program. So thousands of small moves, between
 * which nobody can see the rank, cost the simulator one event. */
void tutti_simgrid_finish_moves(void);

#ifdef __cplusplus
}
#endif

#endif
