/* Ends a program whose ranks wait too long; each rank says in which step it hangs. For C and C++.
 */
#pragma once

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char watched_rank[32];
static char watched_step[200] = "the start";

/* Calls only functions that a signal handler may call. */
static inline void report_hang(int number) {
  const char* const parts[] = {watched_rank, " hangs in ", watched_step, "\n"};
  char line[sizeof watched_rank + sizeof watched_step + 16];
  size_t length = 0;
  (void)number;
  for (size_t part = 0; part < sizeof parts / sizeof parts[0]; ++part) {
    for (const char* at = parts[part]; *at != '\0'; ++at) line[length++] = *at;
  }
  if (write(STDERR_FILENO, line, length) < 0) _exit(2);
  sleep(3); /* the launcher then ends the other ranks, which are to have said theirs */
  _exit(1);
}

/* Gives the program `seconds`. */
static inline void watch(int rank, unsigned seconds) {
  snprintf(watched_rank, sizeof watched_rank, "rank %d", rank);
  signal(SIGALRM, report_hang);
  alarm(seconds);
}

/* Names the step that begins. */
static inline void waits_in(const char* step) {
  snprintf(watched_step, sizeof watched_step, "%s", step);
}
