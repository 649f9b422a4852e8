/// Lowering of reductions: assigns memory to their values.
#pragma once

#include <vector>

#include "core/order.hpp"
#include "lowering/buffer_assignment.hpp"

namespace tutti {

/// Assigns memory to the blocks of a reduction. Area::staging has the layout that the reduction
/// operation expects. Each reference is a range of packed bytes, `offset` from the start of its
/// area. A `reduce` operation sets `to` to `from` op `to`.
///
/// Contributions are sent from the caller's buffer, and copied only if an operation would change
/// them. A staged message goes to the receive buffer if it becomes the result there, else to a
/// stretch of staging memory, which is reused after a wait for its last use. With the right operand
/// the result replaces the received value (docs/decisions/blocks-of-all-collectives.md). A message
/// of scattered blocks is packed. An operation needs the earlier ones that write bytes that it
/// uses, or use bytes that it writes; all these needs are among those that the verifier has proved
/// free of deadlock.
///
/// `order` maps positions to blocks. `sizes` are those of the blocks as the contract numbers them,
/// all multiples of an element. O(steps^2 + steps blocks).
[[nodiscard]] BufferAssignment lower_reduction(const Schedule& schedule, const Order& order,
                                               const std::vector<Bytes>& sizes,
                                               const BufferTraits& traits);

}  // namespace tutti
