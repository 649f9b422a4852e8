/// Checks the programs of one call, made from schedules or hierarchical, against its contract.
#pragma once

#include "algorithms/hierarchical_problems.hpp"
#include "algorithms/problems.hpp"
#include "schedule/schedule.hpp"
#include "verify/program.hpp"

namespace tutti {

/// The number of kinds of buffers for Programs.
inline constexpr int buffer_kinds = 16;

/// A kind of buffers in words, e.g. "scattered, in place".
[[nodiscard]] std::string buffer_kind_name(int kind);

/// True for the kinds in which ranks pass MPI_IN_PLACE, where MPI permits it; in reductions with
/// mixed buffers only some of them do.
[[nodiscard]] constexpr bool is_in_place(int kind) { return kind % 2 == 1; }

/// Blocks of these sizes for the pairs of ranks of an alltoallv (see Call::pairs): what a rank
/// sends to another one differs from what it receives from it. In place both must be equal.
[[nodiscard]] std::vector<Bytes> one_way_pairs(const std::vector<Bytes>& sizes);

/// The buffers of all ranks in a kind below `buffer_kinds`: contiguous; scattered; both with
/// messages that copies pack, the scattered ones beside typed buffers of the own blocks of odd
/// ranks; of datatypes that are not contiguous, on both sides or one; or a mix of these by rank.
/// Each with and without MPI_IN_PLACE. These are what an executor's planner may ask for (see
/// PrivateComm::traits_of).
[[nodiscard]] std::vector<BufferLayout> buffers_of(const Specification& specification,
                                                   const Call& call, int kind);
/// The kinds that differ for a call.
[[nodiscard]] std::vector<int> distinct_kinds(const Specification& specification, const Call& call);

/// The programs that the schedules of a call become for buffers of a kind.
struct Programs {
  ProgramCall program_call;
  std::vector<BufferLayout> layouts;  ///< by rank
  std::vector<Program> programs;      ///< by rank

  Programs(const Specification& specification, const Call& call, const Problems& problems,
           std::span<const Schedule> schedules, int kind);
  /// The first fault, if any; see ProgramVerifier::verify.
  [[nodiscard]] std::optional<Flaw> check(ProgramVerifier& verifier, std::uint64_t seed) const {
    return verifier.verify(program_call, programs, layouts, seed);
  }
};

/// The first fault of the programs that the schedules of `specification` for `call` become for
/// buffers of a kind; empty if there is none.
[[nodiscard]] std::string fault_of(ProgramVerifier& verifier, const Specification& specification,
                                   const Call& call, const Problems& problems,
                                   std::span<const Schedule> schedules, int kind = 0,
                                   std::uint64_t seed = 0);

/// The first fault of the programs for `call`, if any; see ProgramVerifier::verify.
[[nodiscard]] std::optional<Flaw> check(ProgramVerifier& verifier, const Call& call,
                                        const Nodes& nodes, const HierarchicalOptions& options,
                                        std::span<const Program> programs, std::uint64_t seed);

/// The reason why a case fails, if it is that the list gives ranks too little knowledge: with all
/// sizes it passes. Else empty.
[[nodiscard]] std::string lack_of_knowledge(ProgramVerifier& verifier,
                                            const Specification& specification, const Call& call);

}  // namespace tutti
