/// Hierarchical calls for tests.
#pragma once

#include "core/distributions.hpp"
#include "sweep/check.hpp"

namespace tutti {

/// A call with blocks of 12 bytes, so that up to 3 chunks are equal, elements of 2 bytes in
/// reductions, irregular if possible.
inline Call small_call(Collective collective, int p, Rank root) {
  Call call;
  call.collective = collective;
  call.root = root;
  call.sizes.assign(index(p), collective == Collective::barrier ? 0 : 12);
  if (reduces(collective) || block_kind(collective) == BlockKind::parts) call.unit = 2;
  if (block_kind(collective) == BlockKind::parts) call.sizes.assign(index(p), 96);
  if (is_irregular(collective)) {
    call.sizes = distribute(Distribution::decreasing, p, 4);
    for (Bytes& bytes : call.sizes) bytes *= 6;
  }
  return call;
}

inline std::vector<Program> programs_of(const Call& call, const Nodes& nodes,
                                        const HierarchicalOptions& options) {
  return *hierarchical_programs(call, nodes, options);
}

inline std::string fault_of(const Call& call, const Nodes& nodes,
                            const HierarchicalOptions& options,
                            const std::vector<Program>& programs) {
  ProgramVerifier verifier;
  const auto fault = check(verifier, call, nodes, options, programs, 1);
  return fault ? fault->text : "";
}

}  // namespace tutti
