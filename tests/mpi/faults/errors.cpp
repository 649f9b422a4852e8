/// Tests that an error of the MPI reaches the program: one of its functions fails once on all ranks
/// in a call. Each rank gets the error, its handler hears of it once, and later calls are right.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "faulty.hpp"
#include "run/mpi/quirks.hpp"

namespace {

using tutti::MpiFunctions;
using tutti::test::class_of;

/// Seconds until the alarm ends the program.
constexpr unsigned patience = 60;

int rank = 0;
int p = 0;
bool fails = false;  ///< the next call of the function under test fails
int failed = 0;      ///< calls that have failed
int heard = 0;       ///< errors that the program's handler has received

void hear(MPI_Comm*, int*, ...) { ++heard; }

MPI_Errhandler hearing = MPI_ERRHANDLER_NULL;

/// A function of the MPI that fails once. It calls the function that it replaces: Tutti exports
/// some PMPI functions.
template <auto member>
struct Failing;
template <class... Arguments, int (*MpiFunctions::*member)(Arguments...)>
struct Failing<member> {
  static inline int (*sound)(Arguments...) = nullptr;
  static int call(Arguments... arguments) {
    if (!std::exchange(fails, false)) return sound(arguments...);
    ++failed;
    return MPI_ERR_OTHER;
  }
  static void spoil(MpiFunctions& all) { sound = std::exchange(all.*member, call); }
};

/// What a failed function makes of a call.
enum class Outcome { error, success };

struct Fault {
  const char* function;
  void (*spoil)(MpiFunctions&);
  const char* collective;
  const char* specification;
  bool at_first = false;  ///< in the first call on a communicator
  Outcome outcome = Outcome::error;
};

#define TUTTI_FAULT(name) #name, Failing < &MpiFunctions::name> ::spoil
const Fault faults[] = {
    {TUTTI_FAULT(Isend), "allgather", "ring"},
    {TUTTI_FAULT(Irecv), "allgather", "ring"},
    {TUTTI_FAULT(Testsome), "alltoall", "linear"},
    {TUTTI_FAULT(Reduce_local), "allreduce", "ring"},
    {TUTTI_FAULT(Type_create_hindexed), "allgatherv", "gather_bcast"},
    {TUTTI_FAULT(Type_commit), "allgatherv", "gather_bcast"},
    {TUTTI_FAULT(Sendrecv), "allgatherv", "hierarchical(native)"},
    {TUTTI_FAULT(Comm_create), "bcast", "binomial", true},
    {TUTTI_FAULT(Comm_set_attr), "bcast", "binomial", true},
    {TUTTI_FAULT(Comm_split), "allgather", "hierarchical(native,leaders=1)", true},
    // It only keeps errors from the program's handler.
    {TUTTI_FAULT(Comm_create_errhandler), "bcast", "binomial", true, Outcome::success},
};
/// Where receives with types that have gaps take a detour.
const Fault unpack_fails = {TUTTI_FAULT(Unpack), "allgatherv", "ring"};
#undef TUTTI_FAULT

constexpr std::size_t room = 64;
using Numbers = std::array<int, room>;

/// Calls with numbers of their own, whose memory stays: a cancelled receive may still write there.
class Calls {
 public:
  Calls() {
    PMPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced_);
    PMPI_Type_commit(&spaced_);
    for (int i = 0; i < p; ++i) {
      ones_.push_back(1);
      places_.push_back(2 * (p - 1 - i));
    }
  }
  ~Calls() { PMPI_Type_free(&spaced_); }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  /// Returns the error code; `is_right`: the result.
  int make(const std::string& collective, MPI_Comm comm, bool& is_right) {
    const int salt = 1000 * ++number_;
    Numbers& sent = memory_.emplace_back();
    Numbers& received = memory_.emplace_back();
    received.fill(-1);
    for (std::size_t i = 0; i < room; ++i) sent[i] = salt + 10 * rank + static_cast<int>(i);
    Numbers expected = received;
    int code = MPI_ERR_INTERN;
    if (collective == "bcast") {
      if (rank == 0) received[0] = salt;
      expected[0] = salt;
      code = TUTTI_Bcast(received.data(), 1, MPI_INT, 0, comm);
    } else if (collective == "allreduce") {
      for (int i = 0; i < p; ++i) at(expected, i) = p * (salt + i) + 10 * p * (p - 1) / 2;
      code = TUTTI_Allreduce(sent.data(), received.data(), p, MPI_INT, MPI_SUM, comm);
    } else if (collective == "allgather") {
      for (int i = 0; i < p; ++i) at(expected, i) = salt + 10 * i;
      code = TUTTI_Allgather(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm);
    } else if (collective == "allgatherv") {
      for (int i = 0; i < p; ++i) at(expected, 4 * (p - 1 - i)) = salt + 10 * i;
      code = TUTTI_Allgatherv(sent.data(), 1, spaced_, received.data(), ones_.data(),
                              places_.data(), spaced_, comm);
    } else if (collective == "alltoall") {
      for (int i = 0; i < p; ++i) at(expected, i) = salt + 10 * i + rank;
      code = TUTTI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm);
    }
    is_right = received == expected;
    return code;
  }

 private:
  static int& at(Numbers& numbers, int i) { return numbers[static_cast<std::size_t>(i)]; }

  MPI_Datatype spaced_ = MPI_DATATYPE_NULL;  ///< an int, and a gap of another one
  std::vector<int> ones_;
  std::vector<int> places_;
  std::deque<Numbers> memory_;
  int number_ = 0;
};

/// Prints what is wrong at this rank.
bool expect(bool holds, const std::string& step, const std::string& what) {
  if (!holds) std::printf("rank %d: %s: %s\n", rank, step.c_str(), what.c_str());
  return holds;
}

bool passes(const Fault& fault, Calls& calls) {
  const std::string step =
      std::string(fault.function) + " fails in " + fault.collective + " by " + fault.specification;
  waits_in(step.c_str());
  const bool is_set =
      TUTTI_Algorithm_set(fault.collective, fault.specification, nullptr, nullptr) == MPI_SUCCESS;
  bool well = expect(is_set, step, "no such algorithm");
  const tutti::test::OwnWorld comm(hearing);
  bool is_right = false;
  const auto sound_call = [&](const char* what) {
    const int code = calls.make(fault.collective, comm, is_right);
    return expect(code == MPI_SUCCESS && is_right, step, what);
  };
  if (!fault.at_first) well = sound_call("the call before") && well;
  heard = failed = 0;
  {
    const tutti::test::Faulty functions(fault.spoil);
    fails = true;
    const int code = calls.make(fault.collective, comm, is_right);
    fails = false;
    const bool is_error = fault.outcome == Outcome::error;
    well = expect(failed == 1, step, "it was not called") && well;
    well = expect(class_of(code) == (is_error ? MPI_ERR_OTHER : MPI_SUCCESS), step,
                  "the error class is " + std::to_string(class_of(code))) &&
           well;
    well = expect(heard == (is_error ? 1 : 0), step,
                  "the handler heard " + std::to_string(heard) + " errors") &&
           well;
    well = expect(is_error || is_right, step, "wrong data") && well;
  }
  for (int call = 0; call < 3; ++call) well = sound_call("a call after it") && well;
  TUTTI_Algorithm_set(fault.collective, "auto", nullptr, nullptr);
  int wrong = well ? 0 : 1;
  PMPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return wrong == 0;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_NODE", "1,2", 1);
  MPI_Init(&argc, &argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &p);
  watch(rank, patience);
  PMPI_Comm_create_errhandler(hear, &hearing);
  TUTTI_Barrier(MPI_COMM_WORLD);  // what Tutti makes once for all communicators
  int passed = 0;
  int wrong = 0;
  {
    Calls calls;
    for (const Fault& fault : faults) ++(passes(fault, calls) ? passed : wrong);
    if (tutti::typed_receives_truncate()) ++(passes(unpack_fails, calls) ? passed : wrong);
  }
  if (rank == 0) std::printf("%d passed, %d failed\n", passed, wrong);
  PMPI_Errhandler_free(&hearing);
  waits_in("MPI_Finalize");
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
