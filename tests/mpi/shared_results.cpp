/// Results that the ranks of a node share.

#include <sys/resource.h>

#include <cstdint>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

int number(int rank, int i, int salt) { return rank * 100003 + i * 7 + salt; }

std::vector<int> numbers(int rank, int count, int salt) {
  std::vector<int> made(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) made[static_cast<std::size_t>(i)] = number(rank, i, salt);
  return made;
}

/// Blocks of all ranks, one after the other.
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

/// Results that are held stay as they are, whatever is called later, and are told apart.
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
    if (TUTTI_Shared_free(result) != MPI_ERR_ARG) context.fail("was released twice");
  }
  if (TUTTI_Shared_free(&held) != MPI_ERR_ARG) context.fail("what is no result was released");
}

/// What one rank writes is its own, and gone when the memory is used again.
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
  void* result = nullptr;
  int own = 0;
  if (TUTTI_Allgather_shared(&own, 1, MPI_INT, 1, MPI_INT, comm.get(), 7, &result) == MPI_SUCCESS) {
    context.fail("there is no such mode");
  }
  if (TUTTI_Allgather_shared(&own, 1, MPI_DOUBLE_INT, 1, MPI_DOUBLE_INT, comm.get(), 0, &result) ==
      MPI_SUCCESS) {
    context.fail("a type with gaps was taken");
  }
  allgather(context, comm, 1, 0, TUTTI_SHARED_READ_ONLY);  // never released: goes with the process
}

/// A rank whose arguments are bad keeps nobody waiting: all have an error, and go on together.
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

/// Allows this process no larger files than so, for as long as it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

/// An error of one node is that of all.
void a_node_has_no_memory(Context& context) {
  const OwnComm comm;
  TUTTI_Shared_free(allgather(context, comm, 1, 0, TUTTI_SHARED_READ_ONLY));
  const int count = 1 << 18;
  const std::vector<int> own = numbers(comm.rank(), count, 1);
  void* result = nullptr;
  int code = MPI_SUCCESS;
  {
    const FileLimit limit(comm.rank() == 0 ? 1 << 16 : RLIM_INFINITY);
    code = TUTTI_Allgather_shared(own.data(), count, MPI_INT, count, MPI_INT, comm.get(),
                                  TUTTI_SHARED_READ_ONLY, &result);
  }
  if (code == MPI_SUCCESS) context.fail("a node has no memory for it");
  TUTTI_Shared_free(allgather(context, comm, count, 2, TUTTI_SHARED_READ_ONLY));
}

}  // namespace

void add_shared_results(Suite& suite) {
  suite.add("shared results, held ones stay", held_results_stay);
  suite.add("shared results, writes are private", writes_are_private);
  suite.add("shared results, irregular and bcast", irregular_and_bcast);
  suite.add("shared results, outlive their communicator", outlives_its_communicator);
  suite.add("shared results, a node without memory", a_node_has_no_memory);
  suite.add("shared results, misuse", misuse_is_an_error);
  suite.add("shared results, bad arguments of one rank", bad_arguments_of_one_rank);
}

}  // namespace tutti::test
