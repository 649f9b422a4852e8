/// Named cases that all ranks run together, with a watchdog that reports where each rank hangs.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "error_class.hpp"

namespace tutti::test {

/// The options of the command line.
struct Options {
  bool native = false;               ///< run the MPI's own functions, which tests the tests
  bool rules = false;                ///< rules decide some calls; runs only the cases for them
  int effort = 1;                    ///< multiplies the number of calls
  int timeout = 120;                 ///< seconds without progress until the watchdog aborts
  std::string nodes;                 ///< emulated nodes; runs only the hierarchical cases
  std::string node_memory = "128K";  ///< TUTTI_NODE_MEMORY of hierarchical cases
  std::string memory;                ///< TUTTI_MEMORY, or empty
  bool splits = true;                ///< TUTTI_SPLIT_USER_OPS
  std::string only;                  ///< runs the cases whose name contains this
};
/// Reads "--native --rules --effort N --timeout S --only TEXT --memory BYTES --nodes TEXT
/// --node-memory BYTES --split off". --nodes and --node-memory are for hierarchical cases: they set
/// TUTTI_NODE and TUTTI_NODE_MEMORY, whose default is so small that calls run in chunks. "--split
/// off" runs only the cases of operations that get whole vectors. Throws std::invalid_argument.
[[nodiscard]] Options read_options(int argc, char** argv);

/// The arguments of a case, and its log of progress and failures. Several threads may call the
/// functions at once.
class Context {
 public:
  explicit Context(const Options& options);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool threads() const { return threads_; }  ///< MPI_THREAD_MULTIPLE was granted

  /// Records progress; the last `what` before a hang or a failure is printed.
  void step(const std::string& what);
  /// Records a failure of this rank; the case continues, so that other ranks do not hang.
  void fail(const std::string& what);
  /// Records that this case does not apply here, for a reason that is the same on all ranks. The
  /// case then returns.
  void skip(const std::string& why);
  /// Records a failure unless `text` is empty.
  void expect_empty(const std::string& text) {
    if (!text.empty()) fail(text);
  }

 private:
  friend class Suite;
  friend class Watchdog;
  Options options_;
  int rank_ = 0;
  int size_ = 0;
  bool threads_ = false;
  std::mutex mutex_;
  std::string case_name_;
  std::string step_;
  std::string skipped_;  ///< why, or empty
  long failures_ = 0;
  std::atomic<long> progress_ = 0;
};

/// The cases of a program, run one after the other by all ranks.
class Suite {
 public:
  using Body = std::function<void(Context&)>;
  void add(std::string name, Body body) {
    cases_.push_back({std::move(name), std::move(body), false});
  }
  /// Adds a case of what the MPI's own functions do not do, which --native therefore skips.
  void add_tutti_only(std::string name, Body body) {
    cases_.push_back({std::move(name), std::move(body), true});
  }
  /// Runs the cases, prints "N passed, M failed" on rank 0 and returns the exit status: success if
  /// some passed, and none failed.
  int run(Context& context);

 private:
  struct Case {
    std::string name;
    Body body;
    bool is_tutti_only;
  };
  enum class Result { passed, failed, skipped };
  Result run(const Case& test, Context& context);

  std::vector<Case> cases_;
};

/// Aborts the program after a time without progress, and prints each rank's position.
class Watchdog {
 public:
  explicit Watchdog(Context& context);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch(std::stop_token stop);

  Context& context_;
  std::jthread thread_;
};

/// The root of the j-th call where this many sizes take turns. Any p successive calls that begin at
/// a multiple of p have all roots; no pair of root and size comes again before all others did.
[[nodiscard]] inline int root_of_call(int j, int p, int sizes) {
  return (j + j / std::lcm(p, sizes)) % p;
}

/// The name of a temporary file, equal on all ranks. Collective.
[[nodiscard]] std::string temporary_name(const std::string& what);

/// The emulated node of each rank of MPI_COMM_WORLD; rank 0 is on node 0.
[[nodiscard]] std::vector<int> nodes_of_world(const Context& context);

/// The resident bytes of the process.
[[nodiscard]] long resident_bytes();

/// An error code or class with the MPI's text.
[[nodiscard]] std::string error_text(int code);

/// Fails unless a function succeeded.
inline void expect(Context& context, int code, const std::string& what) {
  if (code != MPI_SUCCESS) context.fail(what + ": " + error_text(code));
}

void add_sweep(Suite& suite);
void add_communicators(Suite& suite);
void add_datatypes(Suite& suite);
void add_caches(Suite& suite);
void add_errors(Suite& suite);
void add_threads(Suite& suite);
void add_arrivals(Suite& suite);
void add_persistent(Suite& suite);
/// Sets TUTTI_RULES to a file for add_persistent_by_rules(), which the destructor removes. Make it
/// before the first call of Tutti.
class MadeUpRules {
 public:
  MadeUpRules();
  ~MadeUpRules();
  MadeUpRules(const MadeUpRules&) = delete;
  MadeUpRules& operator=(const MadeUpRules&) = delete;

 private:
  std::string file_;
};
void add_persistent_by_rules(Suite& suite);
void add_choices(Suite& suite);
void add_background(Suite& suite);
/// Bcast, allgather(v), alltoall(v, w) and barrier.
void add_movements(Suite& suite);
void add_bad_movements(Suite& suite);
/// Sets TUTTI_DISTANCES to a file of artificial distances between the ranks of MPI_COMM_WORLD,
/// which the destructor removes. Make it before the first call of Tutti.
class MadeUpDistances {
 public:
  MadeUpDistances();
  ~MadeUpDistances();
  MadeUpDistances(const MadeUpDistances&) = delete;
  MadeUpDistances& operator=(const MadeUpDistances&) = delete;

 private:
  std::string file_;
};
void add_distances(Suite& suite);
void add_reductions(Suite& suite);
/// Cases of operations that always get whole vectors.
void add_whole_vectors(Suite& suite);
/// Checks that operations get parts of vectors if they may.
void check_parts(Context& context);
/// Checks that nothing known of a freed operation counts for the next one, whose handle may be the
/// same: whether it commutes alternates.
void check_reused_operations(Context& context);
void add_hierarchical(Suite& suite);
/// Checks that no rank leaves a barrier before all have entered it, for each algorithm with the
/// parameters `level`.
void check_barriers(Context& context, const std::string& level);
/// Checks MPI_Alltoallw with other types for each pair of ranks, for each algorithm with `level`.
void check_mixed_types(Context& context, const std::string& level);
void add_hierarchical_collectives(Suite& suite);
void add_hierarchical_faults(Suite& suite);
/// Hierarchical calls with nodes in the order of arrival.
void add_hierarchical_arrivals(Suite& suite);
/// Sets TUTTI_MACHINE at rank 0 of the world to an artificial machine on which node memory pays.
/// The other ranks' environments differ, which must have no effect. Make it before the first call
/// of Tutti.
class MadeUpMachine {
 public:
  MadeUpMachine();
  ~MadeUpMachine();
  MadeUpMachine(const MadeUpMachine&) = delete;
  MadeUpMachine& operator=(const MadeUpMachine&) = delete;

 private:
  std::string file_;
};
void add_hierarchical_choices(Suite& suite);
void add_shared_results(Suite& suite);
void add_shared_results_memory(Suite& suite);
/// Checks that freed communicators release all resources.
void add_leaks(Suite& suite);
void add_rma(Suite& suite);
void add_rma_errors(Suite& suite);
void add_rma_kinds(Suite& suite);
void add_rma_nodes(Suite& suite);
/// Add it last, because it may leave unreceived messages behind.
void add_truncation(Suite& suite);

}  // namespace tutti::test
