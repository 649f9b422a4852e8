/// Results that the ranks of a node share.
#include "shared_results.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <functional>

namespace tutti::test {

namespace {

int number(int rank, int i, int salt) { return rank * 100003 + i * 7 + salt; }

}  // namespace

std::vector<int> numbers(int rank, int count, int salt) {
  std::vector<int> made(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) made[static_cast<std::size_t>(i)] = number(rank, i, salt);
  return made;
}

bool holds(const void* result, const std::vector<int>& counts, int salt) {
  const int* at = static_cast<const int*>(result);
  for (int rank = 0; rank < static_cast<int>(counts.size()); ++rank) {
    for (int i = 0; i < counts[static_cast<std::size_t>(rank)]; ++i) {
      if (*at++ != number(rank, i, salt)) return false;
    }
  }
  return true;
}

void* allgather(Context& context, const OwnComm& comm, int count, int salt, int mode) {
  void* result = nullptr;
  const std::vector<int> own = numbers(comm.rank(), count, salt);
  const int code =
      TUTTI_Allgather_shared(own.data(), count, MPI_INT, count, MPI_INT, comm.get(), mode, &result);
  if (code != MPI_SUCCESS) context.fail("allgather fails: " + error_text(code));
  const std::vector<int> counts(static_cast<std::size_t>(comm.size()), count);
  if (result == nullptr || !holds(result, counts, salt)) context.fail("wrong numbers");
  if (reinterpret_cast<std::uintptr_t>(result) % 4096 != 0) context.fail("not at a page");
  return result;
}

namespace {

/// Later calls leave held results unchanged, and results are distinct.
void held_results_stay(Context& context) {
  const OwnComm comm;
  const std::vector<int> counts(static_cast<std::size_t>(comm.size()), 700);
  std::vector<void*> held;
  for (int salt = 0; salt < 4; ++salt) {
    held.push_back(allgather(context, comm, 700, salt, salt % 2));
  }
  for (int salt = 0; salt < 4; ++salt) {
    if (!holds(held[static_cast<std::size_t>(salt)], counts, salt)) context.fail("it has changed");
  }
  for (void* result : held) {
    if (TUTTI_Shared_free(result) != MPI_SUCCESS) context.fail("cannot be released");
    if (TUTTI_Shared_free(result) == MPI_SUCCESS) context.fail("was released twice");
  }
  if (TUTTI_Shared_free(&held) != MPI_ERR_ARG) context.fail("what is no result was released");
}

/// Whether `touch` ends a process by a protection fault.
bool is_a_fault(const std::function<void()>& touch) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);  // not a launcher's or sanitizer's handler
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    touch();
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

/// The next result has another address, so a second release or a late use cannot affect it.
void released_ones_are_told(Context& context) {
  const OwnComm comm;
  const std::vector<int> counts(static_cast<std::size_t>(comm.size()), 700);
  const auto read = [](void* from) { static_cast<void>(*static_cast<volatile int*>(from)); };
  for (const int mode : {TUTTI_SHARED_READ_ONLY, TUTTI_COPY_ON_WRITE}) {
    void* const first = allgather(context, comm, 700, 1, mode);
    if (is_a_fault([&] { read(first); })) context.fail("cannot be read");
    TUTTI_Shared_free(first);
    void* const second = allgather(context, comm, 700, 2, TUTTI_SHARED_READ_ONLY);
    if (first == second) context.fail("the same address again");
    const int code = TUTTI_Shared_free(first);
    if (error_text(code).find("already been released") == std::string::npos) {
      context.fail("released twice: " + error_text(code));
    }
    if (!holds(second, counts, 2)) context.fail("the other one has changed");
    if (!is_a_fault([&] { read(first); })) context.fail("can be used after its release");
    if (!is_a_fault([&] { *static_cast<volatile int*>(second) = 0; })) {
      context.fail("can be written");
    }
    if (TUTTI_Shared_free(second) != MPI_SUCCESS) context.fail("cannot be released");
  }
}

/// The writes of a rank are private, and disappear when the memory is reused.
void writes_are_private(Context& context) {
  const OwnComm comm;
  const std::vector<int> counts(static_cast<std::size_t>(comm.size()), 50);
  for (int salt = 0; salt < 6; ++salt) {
    const bool writes = comm.rank() % 2 == salt % 2;
    void* result =
        allgather(context, comm, 50, salt, writes ? TUTTI_COPY_ON_WRITE : TUTTI_SHARED_READ_ONLY);
    if (writes) *static_cast<int*>(result) = -1;
    PMPI_Barrier(comm.get());
    if (!writes && !holds(result, counts, salt)) context.fail("another rank's write is seen");
    TUTTI_Shared_free(result);
  }
}

void irregular_and_bcast(Context& context) {
  const OwnComm dealt(0, context.rank() * 7 % 11 * context.size() + context.rank());
  std::vector<int> counts(static_cast<std::size_t>(dealt.size()));
  for (int i = 0; i < dealt.size(); ++i) counts[static_cast<std::size_t>(i)] = i * 300 % 1000;
  const int mine = counts[static_cast<std::size_t>(dealt.rank())];
  void* result = nullptr;
  const std::vector<int> own = numbers(dealt.rank(), mine, 5);
  TUTTI_Allgatherv_shared(own.data(), mine, MPI_INT, counts.data(), MPI_INT, dealt.get(),
                          TUTTI_SHARED_READ_ONLY, &result);
  if (result == nullptr || !holds(result, counts, 5)) context.fail("allgatherv: wrong numbers");
  TUTTI_Shared_free(result);
  for (int root = 0; root < dealt.size(); ++root) {
    // Beyond the node memory of --nodes: in chunks.
    const std::vector<int> vector = numbers(0, 50000, root);
    result = nullptr;
    TUTTI_Bcast_shared(dealt.rank() == root ? vector.data() : nullptr, 50000, MPI_INT, root,
                       dealt.get(), TUTTI_COPY_ON_WRITE, &result);
    if (result == nullptr || !holds(result, {50000}, root)) context.fail("bcast: wrong numbers");
    TUTTI_Shared_free(result);
  }
}

/// The composition of affine maps modulo a prime: x -> first x + second.
void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const int* before = static_cast<const int*>(in);
  int* after = static_cast<int*>(inout);
  for (int i = 0; i < *count; ++i, before += 2, after += 2) {
    after[1] = (before[0] * after[1] + before[1]) % 1009;
    after[0] = before[0] * after[0] % 1009;
  }
}

/// Nodes with consecutive ranks and with others, in chunks, and an operation that does not commute.
void allreduce(Context& context) {
  MPI_Op composition = MPI_OP_NULL;
  PMPI_Op_create(compose, 0, &composition);
  for (const int key :
       {context.rank(), context.rank() * 7 % 11 * context.size() + context.rank()}) {
    const OwnComm comm(0, key);
    const int p = comm.size();
    for (const int count : {0, 1, 1000, 50000}) {
      context.step(std::to_string(count) + " numbers");
      std::vector<int> sums(static_cast<std::size_t>(count), 0);
      for (int rank = 0; rank < p; ++rank) {
        for (int i = 0; i < count; ++i) sums[static_cast<std::size_t>(i)] += number(rank, i, 3);
      }
      const std::vector<int> own = numbers(comm.rank(), count, 3);
      void* result = nullptr;
      TUTTI_Allreduce_shared(own.data(), count, MPI_INT, MPI_SUM, comm.get(), comm.rank() % 2,
                             &result);
      const int* const found = static_cast<const int*>(result);
      if (found == nullptr || !std::equal(sums.begin(), sums.end(), found)) {
        context.fail("wrong sums");
      }
      TUTTI_Shared_free(result);
      std::vector<int> maps;
      std::vector<int> all(static_cast<std::size_t>(2 * count));
      for (int rank = p - 1; rank >= 0; --rank) {
        maps.clear();
        for (int i = 0; i < count; ++i) maps.insert(maps.end(), {rank + 2, (rank + i) % 1009});
        int pairs = count;
        if (rank == p - 1) all = maps;
        if (rank < p - 1) compose(maps.data(), all.data(), &pairs, nullptr);
      }
      maps.clear();
      for (int i = 0; i < count; ++i) {
        maps.insert(maps.end(), {comm.rank() + 2, (comm.rank() + i) % 1009});
      }
      TUTTI_Allreduce_shared_c(maps.data(), count, MPI_2INT, composition, comm.get(),
                               TUTTI_SHARED_READ_ONLY, &result);
      if (result == nullptr || !std::equal(all.begin(), all.end(), static_cast<int*>(result))) {
        context.fail("wrong maps");
      }
      TUTTI_Shared_free(result);
    }
    void* result = nullptr;
    const double one = 1;
    const int code = TUTTI_Allreduce_shared(&one, 1, MPI_DOUBLE, MPI_BAND, comm.get(),
                                            TUTTI_SHARED_READ_ONLY, &result);
    if (code == MPI_SUCCESS) context.fail("bits of doubles were combined");
  }
  PMPI_Op_free(&composition);
}

/// The large-count forms.
void large_counts(Context& context) {
  const OwnComm comm;
  const std::vector<MPI_Count> counts(static_cast<std::size_t>(comm.size()), 30);
  const std::vector<int> blocks(counts.size(), 30);
  const std::vector<int> own = numbers(comm.rank(), 30, 4);
  void* results[3] = {};
  TUTTI_Allgather_shared_c(own.data(), 30, MPI_INT, 30, MPI_INT, comm.get(), 0, &results[0]);
  TUTTI_Allgatherv_shared_c(own.data(), 30, MPI_INT, counts.data(), MPI_INT, comm.get(), 1,
                            &results[1]);
  TUTTI_Bcast_shared_c(own.data(), 30, MPI_INT, comm.size() - 1, comm.get(), 0, &results[2]);
  if (results[0] == nullptr || !holds(results[0], blocks, 4)) context.fail("allgather");
  if (results[1] == nullptr || !holds(results[1], blocks, 4)) context.fail("allgatherv");
  const std::vector<int> last = numbers(comm.size() - 1, 30, 4);
  if (results[2] == nullptr ||
      !std::equal(last.begin(), last.end(), static_cast<int*>(results[2]))) {
    context.fail("bcast");
  }
  for (void* const result : results) TUTTI_Shared_free(result);
}

void outlives_its_communicator(Context& context) {
  void* result = nullptr;
  int ranks = 0;
  {
    const OwnComm comm;
    ranks = comm.size();
    result = allgather(context, comm, 9, 1, TUTTI_SHARED_READ_ONLY);
  }
  if (!holds(result, std::vector<int>(static_cast<std::size_t>(ranks), 9), 1)) {
    context.fail("it went with its communicator");
  }
  TUTTI_Shared_free(result);
}

void misuse_is_an_error(Context& context) {
  const OwnComm comm;
  int own = 0;
  void* result = &own;
  if (TUTTI_Allgather_shared(&own, 1, MPI_INT, 1, MPI_INT, MPI_COMM_NULL, 0, &result) !=
      MPI_ERR_COMM) {
    context.fail("there is no communicator");
  }
  if (result != nullptr) context.fail("a result after an error");
  if (TUTTI_Allgather_shared(&own, 1, MPI_INT, 1, MPI_INT, comm.get(), 7, &result) == MPI_SUCCESS) {
    context.fail("there is no such mode");
  }
  if (TUTTI_Allgather_shared(&own, 1, MPI_DOUBLE_INT, 1, MPI_DOUBLE_INT, comm.get(), 0, &result) ==
      MPI_SUCCESS) {
    context.fail("a type with gaps was taken");
  }
  allgather(context, comm, 1, 0,
            TUTTI_SHARED_READ_ONLY);  // never released: the process ends with it
}

/// A rank with invalid arguments blocks no other rank: all return an error, and stay in step.
void bad_arguments_of_one_rank(Context& context) {
  const OwnComm comm;
  const bool bad = comm.rank() == comm.size() - 1;
  const std::vector<int> counts(static_cast<std::size_t>(comm.size()), 1);
  for (int what = 0; what < 5; ++what) {
    context.step("mistake " + std::to_string(what));
    int own = 0;
    void* result = nullptr;
    void** place = bad && what == 0 ? nullptr : &result;
    const int mode = bad && what == 1 ? 7 : TUTTI_SHARED_READ_ONLY;
    const int count = bad && what == 2 ? -1 : 1;
    const void* given = bad && what == 3 ? MPI_IN_PLACE : &own;
    const int code =
        what == 4 ? TUTTI_Bcast_shared(given, 1, MPI_INT, bad ? -1 : 0, comm.get(), mode, place)
        : what % 2 == 0
            ? TUTTI_Allgather_shared(given, count, MPI_INT, count, MPI_INT, comm.get(), mode, place)
            : TUTTI_Allgatherv_shared(given, count, MPI_INT, counts.data(), MPI_INT, comm.get(),
                                      mode, place);
    if (code == MPI_SUCCESS || result != nullptr) context.fail("no error");
    int error_class = 0;
    PMPI_Error_class(code, &error_class);
    if ((error_class == MPI_ERR_OTHER) == bad) context.fail("the error is " + error_text(code));
    TUTTI_Shared_free(allgather(context, comm, 100, what, TUTTI_SHARED_READ_ONLY));
  }
}

}  // namespace

void add_shared_results(Suite& suite) {
  suite.add_tutti_only("shared results, held ones stay", held_results_stay);
  suite.add_tutti_only("shared results, released ones", released_ones_are_told);
  suite.add_tutti_only("shared results, writes are private", writes_are_private);
  suite.add_tutti_only("shared results, irregular and bcast", irregular_and_bcast);
  suite.add_tutti_only("shared results, allreduce", allreduce);
  suite.add_tutti_only("shared results, large counts", large_counts);
  suite.add_tutti_only("shared results, outlive their communicator", outlives_its_communicator);
  suite.add_tutti_only("shared results, misuse", misuse_is_an_error);
  suite.add_tutti_only("shared results, bad arguments of one rank", bad_arguments_of_one_rank);
}

}  // namespace tutti::test
