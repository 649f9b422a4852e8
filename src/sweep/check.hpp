/// One set of schedules against the contract of its call.
#pragma once

#include "algorithms/problems.hpp"
#include "verify/verify.hpp"

namespace tutti {

/// The first fault of the schedules that `specification` has made for `call`, if any. A reduction
/// is held to the sequence of ranks unless the list says that its operation must commute.
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
