/// The replaceable interface through which bytes move between ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// A memory region in the transport's terms: `count` elements of `type` at `address`. Type 0 stands
/// for plain bytes in every transport.
struct Region {
  void* address = nullptr;
  std::int64_t count = 0;
  std::uint64_t type = 0;
};

/// A message to begin.
struct Transfer {
  bool sends = false;
  Rank peer = no_rank;
  int tag = 0;
  Region region;
};

/// Moves messages between the ranks of one communicator. All functions return 0 or an error code
/// of the transport. Not to be used by two threads at once.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Begins a message; `slot` names it when it completes. Messages between two ranks with equal
  /// tags match in the sequence in which they begin.
  virtual int begin(int slot, const Transfer& transfer) = 0;
  /// Appends the slots that have completed since the last call. Never blocks. A message with an
  /// error of its own, such as a truncation, completes too, and its error is returned with it. An
  /// error without a completed slot means that no message can continue.
  virtual int poll(std::vector<int>& completed) = 0;
  /// Copies between two regions of equal size, of any types.
  virtual int copy(const Region& from, const Region& to) = 0;
  /// Lets other processes run, if that seems useful; called whenever nothing has completed.
  virtual void idle() = 0;
  /// Abandons all messages that have not completed, after an error.
  virtual void abandon() = 0;
};

}  // namespace tutti
