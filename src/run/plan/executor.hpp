/// Executes programs and protocols over a transport.
#pragma once

#include <cassert>
#include <vector>

#include "lowering/program.hpp"
#include "protocols/protocol.hpp"
#include "run/transport/transport.hpp"

namespace tutti {

/// Finds the memory of a buffer reference in the caller's buffers and Tutti's scratch.
class Buffers {
 public:
  virtual ~Buffers() = default;
  /// Sets `region`; returns 0 or an error code of the transport.
  virtual int find(const BufferRef& ref, Region& region) = 0;
  /// Copies plain bytes in several ranges. False if they are not plain: then the transport copies
  /// between the regions of find().
  virtual bool copy(const BufferRef& /*from*/, const BufferRef& /*to*/) { return false; }
  /// Sets `to` to `from` op `to`, element by element; for reductions only. Returns 0 or an error
  /// code of the transport.
  virtual int reduce(const BufferRef& /*from*/, const BufferRef& /*to*/) {
    assert(false && "these buffers have no operation");
    return -1;
  }
  /// Runs a signal, an await or a collective between nodes, and waits until it has completed.
  /// Returns 0 or an error code of the transport.
  virtual int run(const Operation& /*operation*/) {
    assert(false && "these buffers have no node memory");
    return -1;
  }
};

/// Executes all programs. It keeps its memory from run to run: a run allocates nothing if an
/// earlier one had as many operations.
class Executor {
 public:
  /// Tags are at most `max_tag`, equal on all ranks; MPI grants at least 32767.
  explicit Executor(int max_tag = 32767);

  /// Separates the messages of this call from those of earlier calls, which may have failed and
  /// left messages behind, by tags for `max_tag` / 4096 calls. All ranks must begin the same calls.
  void begin_call();
  /// Counts so many calls that none of this executor's messages belong to.
  void skip_calls(std::int64_t calls) { calls_ += calls; }
  /// How many calls have begun.
  [[nodiscard]] std::int64_t calls() const { return calls_; }

  /// Runs all operations, each as soon as its needs are met and the waits before it are over. Polls
  /// and never blocks in the transport, and idles when nothing moves. After an error of one
  /// message, such as a truncation, all others still run, so that no other rank waits in vain, and
  /// the error is returned at the end. After any other error all open messages are abandoned and
  /// the error is returned.
  int run(const Program& program, Buffers& buffers, Transport& transport);

  /// The same in parts, by two threads that alternate: begin(), then progress() any number of times
  /// before this rank has arrived, then finish(). The arguments must last until then. Without a
  /// call that waits, the rank counts as `arrived` from the beginning, and progress() runs all
  /// operations.
  void begin(const Program& program, Buffers& buffers, Transport& transport, bool arrived = false);
  /// Runs the operations that may run now, and sets `moved` if any did. Never waits. Errors are
  /// those of run().
  int progress(bool& moved);
  /// Runs all remaining operations, after the rank has arrived.
  int finish();
  /// False after a run that has left messages open: then the MPI may still use their memory.
  [[nodiscard]] bool is_done() const { return open_ == 0; }
  /// The first error of an operation that others waited for, which ended all the same.
  [[nodiscard]] int damage() const { return damage_; }

  /// The operations and needs that the last run has examined. A run takes O(operations + needs).
  [[nodiscard]] std::int64_t examined() const { return examined_; }

  /// Runs one rank's side of a protocol to its end. Errors are those of run().
  int run(Protocol protocol, Transport& transport);

 private:
  static constexpr int none = -1;
  /// What is known of one operation.
  struct Progress {
    int need = 0;             ///< the first of its needs that may not be done
    int first_waiter = none;  ///< an operation that waits until this one is done
    int next_waiter = none;   ///< another one that waits for the same
    bool done = false;
  };

  int advance();
  void check_needs(int number);
  int start_ready();
  int start(int number);
  int copy(const Operation& operation, int& error);
  void complete(int number);
  int go_on(int error);
  int await();
  int poll();
  [[nodiscard]] bool is_over(const Operation& wait);
  [[nodiscard]] const Operation& operation(int number) const {
    return program_->operations[index(number)];
  }
  [[nodiscard]] Progress& at(int number) { return progress_[index(number)]; }

  std::int64_t distinguished_calls_;
  std::int64_t calls_ = 0;
  std::int64_t examined_ = 0;
  int tag_base_ = 0;
  const Program* program_ = nullptr;  ///< of the current run, as are all members from here on
  Buffers* buffers_ = nullptr;
  Transport* transport_ = nullptr;
  std::vector<Progress> progress_;  ///< by operation
  std::vector<int> held_;           ///< operations whose turn came before the rank arrived
  std::vector<int> ready_;          ///< a heap, the first operation on top: these can start
  std::vector<int> queue_;  ///< the same for those with slots, in the sequence they got ready
  std::size_t served_ = 0;  ///< operations of the queue that have started
  int slots_in_use_ = 0;
  std::vector<int> completed_;
  int damage_ = 0;            ///< the first error of a message that completed
  std::size_t next_ = 0;      ///< the first operation whose turn has not come
  std::size_t all_done_ = 0;  ///< all operations before this one are done
  std::size_t open_ = 0;      ///< operations that are not done
  bool arrived_ = false;      ///< the caller's operations may start
};

}  // namespace tutti
