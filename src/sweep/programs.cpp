/// Lowers schedules for several kinds of buffers, and checks the programs.
#include <array>

#include "lowering/lower.hpp"
#include "sweep/check.hpp"

namespace tutti {

namespace {

enum class Buffers : std::uint8_t { contiguous, packed, scattered, typed, mixed };
constexpr std::array buffer_names = {"contiguous", "packed messages", "scattered", "typed",
                                     "mixed"};

BufferLayout layout_of(const Specification& specification, const Call& call, Rank rank,
                       Buffers buffers, bool in_place) {
  BufferLayout layout;
  BufferTraits& traits = layout.traits;
  traits.in_place = in_place && can_be_in_place(call.collective, rank, call.root);
  if (reduces(call.collective)) {
    traits.swaps = specification.algorithm->commutative;
    traits.padding = buffers == Buffers::typed ? call.unit : 0;
    return layout;
  }
  layout.scattered = buffers == Buffers::scattered;
  if (buffers == Buffers::typed) traits.send_contiguous = traits.receive_contiguous = false;
  const bool by_rank = block_kind(call.collective) == BlockKind::ranks;
  const bool packs = buffers == Buffers::packed || buffers == Buffers::scattered;
  const bool at_side = !has_root(call.collective) || rank == call.root;
  traits.packs_blocks = packs && by_rank && at_side;
  const bool as_numbered =
      specification.order == OrderName::natural || specification.order == OrderName::rotated;
  traits.receive_scattered = traits.packs_blocks && (layout.scattered || !as_numbered);
  return layout;
}

}  // namespace

std::vector<Bytes> one_way_pairs(const std::vector<Bytes>& sizes) {
  const std::size_t p = sizes.size();
  std::vector<Bytes> pairs;
  for (std::size_t from = 0; from < p; ++from) {
    for (std::size_t to = 0; to < p; ++to) pairs.push_back(sizes[(from + 2 * to) % p]);
  }
  return pairs;
}

std::string buffer_kind_name(int kind) {
  return buffer_names[index(kind / 2)] + std::string(is_in_place(kind) ? ", in place" : "");
}

Programs::Programs(const Specification& specification, const Call& call, const Problems& problems,
                   std::span<const Schedule> schedules, int kind)
    // A reduction must keep the sequence of ranks unless the list requires an operation that
    // commutes.
    : program_call({{call.collective, call.p(), call.root, schedules.front().parts,
                     specification.algorithm->commutative},
                    problems.order(),
                    call.block_sizes(schedules.front().parts),
                    call.unit}) {
  const auto buffers = static_cast<Buffers>(kind / 2);
  for (Rank rank = 0; rank < call.p(); ++rank) {
    const Buffers own = buffers == Buffers::mixed ? static_cast<Buffers>(rank % 4) : buffers;
    layouts.push_back(layout_of(specification, call, rank, own, is_in_place(kind)));
    programs.push_back(lower(schedules[index(rank)], problems.at(rank), call.sizes[index(rank)],
                             layouts.back().traits));
  }
}

std::string fault_of(ProgramVerifier& verifier, const Specification& specification,
                     const Call& call, const Problems& problems,
                     std::span<const Schedule> schedules, int kind, std::uint64_t seed) {
  if (const auto flaw = flaw_of(schedules)) return to_text(*flaw, schedules);
  const auto fault = Programs(specification, call, problems, schedules, kind).check(verifier, seed);
  return fault ? fault->text : "";
}

std::string lack_of_knowledge(ProgramVerifier& verifier, const Specification& specification,
                              const Call& call) {
  const Knowledge given = specification.knowledge();
  if (!is_irregular(call.collective) || given == Knowledge::all_sizes) return "";
  Algorithm knowing = *specification.algorithm;
  knowing.knowledge = Knowledge::all_sizes;
  Specification other = specification;
  other.algorithm = &knowing;
  const Problems problems(other, call);
  if (!fault_of(verifier, other, call, problems, problems.schedules()).empty()) return "";
  return "; its line in list.inc gives a rank the knowledge '" + std::string(name_of(given)) +
         "', but it reads sizes beyond that: with '" + std::string(name_of(knowing.knowledge)) +
         "' this case passes";
}

}  // namespace tutti
