/// Places the values of a reduction in memory: turns its schedule into operations on buffers.
#pragma once

#include <vector>

#include "core/order.hpp"
#include "lowering/buffer_assignment.hpp"

namespace tutti {

/// What a reduction's caller allows.
struct ReductionTraits {
  /// The contributions are in the receive buffer (MPI_IN_PLACE).
  bool in_place = false;
  /// The operands of a combination may change sides. Saves copies. To be allowed where the
  /// operation commutes and no two ranks combine the same values, or these might get results that
  /// differ in their bits (a NaN's payload, the sign of a zero, a user's operation).
  bool swaps = false;
  /// Packed bytes to leave between stretches of scratch, a multiple of an element.
  Bytes padding = 0;

  friend bool operator==(const ReductionTraits&, const ReductionTraits&) = default;
};

/// Places the blocks of a reduction. In the operations Area::send is the send buffer, Area::receive
/// the receive buffer and Area::staging memory of the layout that the operation expects; each place
/// is one run of packed bytes, `offset` from the start of its area. A `reduce` operation makes `to`
/// what `from` op `to` is.
///
/// Contributions are sent from where the caller has them, and are copied only where an operation
/// would change them. A message received aside lands in the receive buffer if it will become the
/// result there, else in a stretch of scratch of its own, which is used again after a wait that
/// says nobody needs it. For the right operand the value moves to where the message was received:
/// docs/decisions/blocks-of-all-collectives.md. A message of blocks that do not lie together is
/// copied together. An operation needs the earlier ones that write what it touches or touch what
/// it writes, so that no need goes beyond those that the verifier has proved free of deadlock.
///
/// `order` says which block stands at which position and `sizes` are those of the blocks as the
/// contract numbers them, all of them multiples of an element. O(steps^2 + steps blocks).
[[nodiscard]] BufferAssignment lower_reduction(const Schedule& schedule, const Order& order,
                                               const std::vector<Bytes>& sizes,
                                               const ReductionTraits& traits);

}  // namespace tutti
