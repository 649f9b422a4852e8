/* Requests that are tested in vain together, then completed by another function: 2 ranks. Prints
 * the number of ways to complete them that went well. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>

enum { first_tag, second_tag, arrived_tag, continue_tag };
enum way {
  by_wait,
  by_waitall,
  by_waitany,
  by_waitsome,
  by_testany,
  by_testsome,
  by_testall,
  ways
};

/* Completes both requests in one of the ways. */
static void complete(enum way way, MPI_Request requests[2], MPI_Status statuses[2]) {
  MPI_Status status[2];
  int indices[2];
  int done = 0;
  int flag = 0;
  int which = MPI_UNDEFINED;
  switch (way) {
    case by_wait:
      for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], &statuses[i]);
      return;
    case by_waitall:
      MPI_Waitall(2, requests, statuses);
      return;
    case by_testall:
      while (flag == 0) MPI_Testall(2, requests, &flag, statuses);
      return;
    default:
      break;
  }
  for (int completed = 0; completed < 2; completed += done) {
    done = 1;
    if (way == by_waitany) MPI_Waitany(2, requests, &which, status);
    if (way == by_testany) MPI_Testany(2, requests, &which, &done, status);
    if (way == by_waitsome) MPI_Waitsome(2, requests, &done, indices, status);
    if (way == by_testsome) MPI_Testsome(2, requests, &done, indices, status);
    if (way == by_waitany || way == by_testany) indices[0] = which;
    for (int i = 0; i < done; ++i) statuses[indices[i]] = status[i];
  }
}

/* Rank 0 sends the first message at once, and the second when rank 1 has tested. */
static void send(int round) {
  const int values[2] = {10 * round + 1, 10 * round + 2};
  int word = 0;
  MPI_Send(&values[0], 1, MPI_INT, 1, first_tag, MPI_COMM_WORLD);
  MPI_Send(&word, 1, MPI_INT, 1, arrived_tag, MPI_COMM_WORLD);
  MPI_Recv(&word, 1, MPI_INT, 1, continue_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&values[1], 1, MPI_INT, 1, second_tag, MPI_COMM_WORLD);
}

/* Returns whether both messages, and their statuses, have come. */
static int receive(int round, enum way way, MPI_Request requests[2], const int received[2]) {
  MPI_Status statuses[2];
  int flag = 0;
  int word = 0;
  MPI_Recv(&word, 1, MPI_INT, 0, arrived_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) MPI_Testall(2, requests, &flag, statuses);
  const int early = flag;
  MPI_Send(&word, 1, MPI_INT, 0, continue_tag, MPI_COMM_WORLD);
  complete(way, requests, statuses);
  return early == 0 && received[0] == 10 * round + 1 && received[1] == 10 * round + 2 &&
         statuses[0].MPI_TAG == first_tag && statuses[1].MPI_TAG == second_tag;
}

/* Frees some requests, so that the memory of the next ones has been used before. */
static void warm(void) {
  enum { messages = 20 };
  int words[messages] = {0};
  MPI_Request requests[messages];
  for (int i = 0; i < messages; ++i) {
    MPI_Irecv(&words[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  }
  for (int i = 0; i < messages; ++i) MPI_Send(&words[i], 1, MPI_INT, 0, i, MPI_COMM_SELF);
  MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
}

static int is_done(MPI_Request* request) {
  MPI_Request copy = *request;
  int flag = 0;
  MPI_Test(&copy, &flag, MPI_STATUS_IGNORE);
  if (flag != 0) *request = copy;
  return flag;
}

/* MPI_REQUEST_NULL counts as complete, whether or not the status is ignored, also beside a request
 * that waits for what this rank sends only after it has yielded. */
static int none(int rank) {
  MPI_Request pending;
  MPI_Request none = MPI_REQUEST_NULL;
  MPI_Status status;
  int word = 0;
  int flag = 0;
  int ignored = 0;
  int empty = 0;
  if (rank == 0) {
    MPI_Recv(&word, 1, MPI_INT, 1, continue_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 1, first_tag, MPI_COMM_WORLD);
    return 0;
  }
  MPI_Irecv(&word, 1, MPI_INT, 0, first_tag, MPI_COMM_WORLD, &pending);
  MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
  MPI_Test(&none, &ignored, MPI_STATUS_IGNORE);
  MPI_Test(&none, &empty, &status);
  sched_yield();
  MPI_Send(&word, 1, MPI_INT, 0, continue_tag, MPI_COMM_WORLD);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  return flag == 0 && ignored != 0 && empty != 0;
}

/* Requests that are tested in turn as copies at one address. */
static int in_turn(int rank) {
  int received[2] = {0, 0};
  int word = 5;
  if (rank == 0) {
    MPI_Recv(&word, 1, MPI_INT, 1, continue_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i) MPI_Send(&word, 1, MPI_INT, 1, 1 - i, MPI_COMM_WORLD);
    return 0;
  }
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Send(&word, 1, MPI_INT, 0, continue_tag, MPI_COMM_WORLD);
  for (int done = 0; done < 2;) {
    for (int i = 0; i < 2; ++i) {
      if (requests[i] != MPI_REQUEST_NULL) done += is_done(&requests[i]);
    }
  }
  return received[0] == 5 && received[1] == 5;
}

/* A request that begins after a test has completed another one is no early result of that. */
static int third(int rank) {
  enum { messages = 3 };
  int received[messages] = {0, 0, 0};
  int word = 0;
  int flag = 0;
  MPI_Request requests[messages];
  MPI_Status status;
  if (rank == 0) {
    for (int i = 0; i < messages; ++i) {
      const int value = i + 1;
      if (i > 0) MPI_Recv(&word, 1, MPI_INT, 1, continue_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
      if (i == 0) MPI_Send(&word, 1, MPI_INT, 1, arrived_tag, MPI_COMM_WORLD);
    }
    return 0;
  }
  MPI_Irecv(&received[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&received[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv(&word, 1, MPI_INT, 0, arrived_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  MPI_Irecv(&received[2], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[2]);
  for (int i = 0; i < 2; ++i) MPI_Send(&word, 1, MPI_INT, 0, continue_tag, MPI_COMM_WORLD);
  MPI_Wait(&requests[2], &status);
  const int is_third = received[2] == 3 && status.MPI_TAG == 2;
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return flag == 0 && is_third && received[0] == 1 && received[1] == 2;
}

/* A persistent request that a test found inactive starts anew. */
static int started(int rank) {
  int received[2] = {0, 0};
  int value = 7;
  int flag = 0;
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Recv(&flag, 1, MPI_INT, 1, continue_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 1, first_tag, MPI_COMM_WORLD);
    MPI_Send(&value, 1, MPI_INT, 1, second_tag, MPI_COMM_WORLD);
    return 0;
  }
  MPI_Recv_init(&received[0], 1, MPI_INT, 0, first_tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&received[1], 1, MPI_INT, 0, second_tag, MPI_COMM_WORLD, &requests[1]);
  int which = -1;
  int some = -1;
  MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  MPI_Testany(2, requests, &which, &some, MPI_STATUS_IGNORE);
  flag += some;
  MPI_Start(&requests[0]);
  MPI_Send(&value, 1, MPI_INT, 0, continue_tag, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  const int is_new = received[0] == 7;
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  return flag == 0 && is_new && received[1] == 7;
}

int main(int argc, char** argv) {
  int rank = 0;
  int good = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int way = 0; way < ways; ++way) {
    int received[2] = {0, 0};
    MPI_Request requests[2];
    if (rank == 0) {
      send(way);
    } else {
      MPI_Irecv(&received[0], 1, MPI_INT, 0, first_tag, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(&received[1], 1, MPI_INT, 0, second_tag, MPI_COMM_WORLD, &requests[1]);
      good += receive(way, (enum way)way, requests, received) && requests[0] == MPI_REQUEST_NULL &&
              requests[1] == MPI_REQUEST_NULL;
    }
  }
  warm();
  good += third(rank) + started(rank) + in_turn(rank) + none(rank);
  /* Persistent requests start again in each way. */
  int received[2] = {0, 0};
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank == 1) {
    MPI_Recv_init(&received[0], 1, MPI_INT, 0, first_tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&received[1], 1, MPI_INT, 0, second_tag, MPI_COMM_WORLD, &requests[1]);
  }
  for (int way = 0; way < ways; ++way) {
    if (rank == 0) {
      send(way);
      continue;
    }
    MPI_Startall(2, requests);
    good += receive(way, (enum way)way, requests, received);
  }
  if (rank == 1) {
    for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
    printf("%d of %d\n", good, 2 * ways + 4);
  }
  MPI_Finalize();
  return 0;
}
