/// Checks one set of schedules, and the programs they become, against the contract of its call.
#pragma once

#include "algorithms/problems.hpp"
#include "verify/program.hpp"
#include "verify/verify.hpp"

namespace tutti {

/// The contract of `specification` for `call`. A reduction must keep the sequence of ranks unless
/// the list requires an operation that commutes.
[[nodiscard]] inline Contract contract_of(const Specification& specification, const Call& call,
                                          std::span<const Schedule> schedules) {
  return {call.collective, call.p(), call.root, schedules.front().parts,
          specification.algorithm->commutative};
}

/// The sizes of the contract's blocks.
[[nodiscard]] inline std::vector<Bytes> sizes_of(const Call& call, const Contract& contract) {
  return block_kind(call.collective) == BlockKind::ranks ? call.sizes
                                                         : call.block_sizes(contract.parts);
}

/// The first fault of the schedules of `specification` for `call`, if any.
[[nodiscard]] inline std::optional<Fault> check(Verifier& verifier,
                                                const Specification& specification,
                                                const Call& call, const Order& order,
                                                std::span<const Schedule> schedules) {
  const Contract contract = contract_of(specification, call, schedules);
  return verifier.verify(contract, order, sizes_of(call, contract), schedules);
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

/// The number of kinds of buffers for Programs.
inline constexpr int buffer_kinds = 10;

/// A kind of buffers in words, e.g. "scattered, in place".
[[nodiscard]] std::string buffer_kind_name(int kind);

/// The programs that the schedules of a call become for buffers of a kind below `buffer_kinds`:
/// contiguous, with packed messages, scattered, of datatypes that are not contiguous, or a mix of
/// these by rank; each with and without MPI_IN_PLACE where it has a meaning. One-sided collectives
/// have only the first kind.
struct Programs {
  Contract contract;
  Order order;
  std::vector<Bytes> sizes;  ///< of the contract's blocks
  Bytes unit = 1;
  std::vector<BufferLayout> layouts;  ///< by rank
  std::vector<Program> programs;      ///< by rank

  Programs(const Specification& specification, const Call& call, const Problems& problems,
           std::span<const Schedule> schedules, int kind);
  /// The first fault, if any; see ProgramVerifier::verify.
  [[nodiscard]] std::optional<ProgramFault> check(ProgramVerifier& verifier,
                                                  std::uint64_t seed) const {
    return verifier.verify({contract, &order, &sizes, unit, nullptr}, programs, layouts, seed);
  }
};

}  // namespace tutti
