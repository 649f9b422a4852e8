/// Checks one set of schedules against the contract of its call.
#pragma once

#include "algorithms/problems.hpp"
#include "verify/verify.hpp"

namespace tutti {

/// The first fault of the schedules of `specification` for `call`, if any. A reduction must keep
/// the sequence of ranks unless the list requires an operation that commutes.
[[nodiscard]] inline std::optional<Fault> check(Verifier& verifier,
                                                const Specification& specification,
                                                const Call& call, const Order& order,
                                                std::span<const Schedule> schedules) {
  const Contract contract{call.collective, call.p(), call.root, schedules.front().parts,
                          specification.algorithm->commutative};
  return block_kind(call.collective) == BlockKind::ranks
             ? verifier.verify(contract, order, call.sizes, schedules)
             : verifier.verify(contract, order, call.block_sizes(contract.parts), schedules);
}

}  // namespace tutti
