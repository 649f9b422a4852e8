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

/// The reason why these schedules fail, if it is that the list gives ranks too little knowledge:
/// with all sizes they pass. Else empty.
[[nodiscard]] inline std::string lack_of_knowledge(Verifier& verifier,
                                                   const Specification& specification,
                                                   const Call& call) {
  const Knowledge given = specification.knowledge();
  if (!is_irregular(call.collective) || given == Knowledge::all_sizes) return "";
  Algorithm knowing = *specification.algorithm;
  knowing.knowledge = Knowledge::all_sizes;
  Specification other = specification;
  other.algorithm = &knowing;
  const Problems problems(other, call);
  if (check(verifier, other, call, problems.order(), problems.schedules())) return "";
  return "; its line in list.inc gives a rank the knowledge '" + std::string(name_of(given)) +
         "', but it reads sizes beyond that: with '" + std::string(name_of(knowing.knowledge)) +
         "' this case passes";
}

}  // namespace tutti
