/// Named cases that all ranks run together, with a watchdog that says who hangs where.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tutti::test {

/// What the command line asks for.
struct Options {
  bool native = false;               ///< run the MPI's own functions: proves the tests themselves
  int effort = 1;                    ///< multiplies the number of calls
  int timeout = 120;                 ///< seconds without progress until the watchdog aborts
  std::string nodes;                 ///< emulates them, and runs the cases of the node level only
  std::string node_memory = "128K";  ///< of those
  std::string memory;                ///< TUTTI_MEMORY, or empty
  bool splits = true;                ///< own operations may be called with parts of vectors
  std::string only;                  ///< runs the cases whose name contains this
};
/// "--split off" runs the cases of operations that get whole vectors, which all others do without.
/// Reads "--native --effort N --timeout S --only TEXT --memory BYTES --nodes TEXT --node-memory
/// BYTES", where the last two are for the cases of the node level: they emulate nodes (TUTTI_NODE),
/// of so little memory (TUTTI_NODE_MEMORY) unless told otherwise that calls go in chunks. Throws
/// std::invalid_argument.
[[nodiscard]] Options read_options(int argc, char** argv);

/// What a case is given, and where it says what it does and what went wrong. The functions may
/// be called by several threads at once.
class Context {
 public:
  explicit Context(const Options& options);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool threads() const { return threads_; }  ///< MPI_THREAD_MULTIPLE was granted

  /// Notes progress; `what` is shown if it is the last note before a hang or with a failure.
  void step(const std::string& what);
  /// Records a failure of this rank; the case goes on, so that no rank is left alone.
  void fail(const std::string& what);
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
  long failures_ = 0;
  std::atomic<long> progress_ = 0;
};

/// The cases of a program, run one after the other by all ranks.
class Suite {
 public:
  using Body = std::function<void(Context&)>;
  void add(std::string name, Body body) { cases_.push_back({std::move(name), std::move(body)}); }
  /// Runs the cases, prints "N passed, M failed" on rank 0 and returns the exit status.
  int run(Context& context);

 private:
  struct Case {
    std::string name;
    Body body;
  };
  bool run(const Case& test, Context& context);

  std::vector<Case> cases_;
};

/// Aborts the program, naming each rank's place, after a time without progress.
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

/// A file's name that all ranks know, in a folder for such things. Collective.
[[nodiscard]] std::string temporary_name(const std::string& what);

/// The emulated node of each rank of MPI_COMM_WORLD, from 0, that of rank 0.
[[nodiscard]] std::vector<int> nodes_of_world(const Context& context);

/// Bytes of memory that the process has resident.
[[nodiscard]] long resident_bytes();

/// An error code or class with what the MPI says about it.
[[nodiscard]] std::string error_text(int code);

void add_sweep(Suite& suite);
void add_communicators(Suite& suite);
void add_datatypes(Suite& suite);
void add_caches(Suite& suite);
void add_errors(Suite& suite);
void add_threads(Suite& suite);
void add_arrivals(Suite& suite);
void add_choices(Suite& suite);
void add_background(Suite& suite);
/// Bcast, allgather(v), alltoall(v, w) and barrier.
void add_movements(Suite& suite);
void add_bad_movements(Suite& suite);
/// Makes up distances between the ranks of MPI_COMM_WORLD and names them to Tutti, for all cases: a
/// file that is gone when this is. To be made before anything asks Tutti.
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
/// Of operations that are always to get whole vectors.
void add_whole_vectors(Suite& suite);
/// Where they need not they do not.
void check_parts(Context& context);
void add_hierarchical(Suite& suite);
/// Barriers of each algorithm, with so much said of its level, which no rank leaves before all have
/// entered them.
void check_barriers(Context& context, const std::string& level);
void add_hierarchical_collectives(Suite& suite);
void add_hierarchical_faults(Suite& suite);
/// Through nodes in the order of arrival.
void add_hierarchical_arrivals(Suite& suite);
/// Makes up a machine on which node memory pays, for rank 0 of the world; the other ranks'
/// environment says otherwise, which must not count. To be made before anything asks Tutti.
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
/// Communicators that return all they took.
void add_leaks(Suite& suite);
void add_rma(Suite& suite);
void add_rma_kinds(Suite& suite);
void add_rma_nodes(Suite& suite);
/// To be added last: messages that nobody received may be left behind.
void add_truncation(Suite& suite);

}  // namespace tutti::test
