/// Lowers schedules for several kinds of buffers, and checks the programs.
#include <algorithm>
#include <array>
#include <utility>

#include "lowering/lower.hpp"
#include "sweep/check.hpp"

namespace tutti {

namespace {

enum class Buffers : std::uint8_t {
  contiguous,
  packed,
  scattered,
  scattered_packed,
  typed,
  typed_send,
  typed_receive,
  mixed
};
constexpr std::array buffer_names = {
    "contiguous",    "packed messages",
    "scattered",     "scattered, packed messages, typed own blocks of odd ranks",
    "typed",         "typed to send",
    "typed results", "mixed"};
static_assert(2 * buffer_names.size() == buffer_kinds);

BufferLayout layout_of(const Specification& specification, const Call& call, Rank rank,
                       Buffers buffers, bool in_place) {
  BufferLayout layout;
  const Collective collective = call.collective;
  const BlockKind blocks = block_kind(collective);
  if (is_one_sided(collective) || blocks == BlockKind::none) return layout;
  BufferTraits& traits = layout.traits;
  traits.in_place = in_place && can_be_in_place(collective, rank, call.root);
  const bool typed = buffers == Buffers::typed;
  if (reduces(collective)) {
    traits.swaps = specification.algorithm->commutative;
    traits.padding = typed ? call.unit : 0;
    return layout;
  }
  const bool at_root = rank == call.root;
  // The buffer of a rank's own block where the other one has the blocks of all.
  const bool typed_own =
      buffers == Buffers::scattered_packed && blocks == BlockKind::ranks && rank % 2 == 1;
  const bool sends =
      is_scatter(collective) ? at_root : collective != Collective::bcast && !traits.in_place;
  const bool receives =
      is_scatter(collective) ? !traits.in_place : !is_gather(collective) || at_root;
  traits.send_contiguous = !sends || !(typed || buffers == Buffers::typed_send ||
                                       (typed_own && !is_scatter(collective)));
  traits.receive_contiguous = !receives || !(typed || buffers == Buffers::typed_receive ||
                                             (typed_own && is_scatter(collective)));
  if (blocks == BlockKind::parts) return layout;
  layout.scattered = buffers == Buffers::scattered || buffers == Buffers::scattered_packed;
  const bool packs = buffers == Buffers::packed || buffers == Buffers::scattered_packed;
  const bool at_side = !has_root(collective) || at_root;
  traits.packs_blocks = packs && blocks == BlockKind::ranks && at_side;
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

std::vector<BufferLayout> buffers_of(const Specification& specification, const Call& call,
                                     int kind) {
  const auto buffers = static_cast<Buffers>(kind / 2);
  std::vector<BufferLayout> all;
  for (Rank rank = 0; rank < call.p(); ++rank) {
    const bool mixes = buffers == Buffers::mixed;
    const auto alone = static_cast<Buffers>(rank % static_cast<int>(Buffers::mixed));
    const bool in_place = !mixes || !reduces(call.collective) || rank % 4 == 0 || rank % 4 == 3;
    all.push_back(layout_of(specification, call, rank, mixes ? alone : buffers,
                            is_in_place(kind) && in_place));
  }
  return all;
}

std::vector<int> distinct_kinds(const Specification& specification, const Call& call) {
  std::vector<int> kinds;
  std::vector<std::vector<BufferLayout>> seen;
  for (int kind = 0; kind < buffer_kinds; ++kind) {
    std::vector<BufferLayout> layouts = buffers_of(specification, call, kind);
    if (std::ranges::find(seen, layouts) != seen.end()) continue;
    seen.push_back(std::move(layouts));
    kinds.push_back(kind);
  }
  return kinds;
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
  layouts = buffers_of(specification, call, kind);
  for (Rank rank = 0; rank < call.p(); ++rank) {
    programs.push_back(lower(schedules[index(rank)], problems.at(rank), call.sizes[index(rank)],
                             layouts[index(rank)].traits));
  }
}

std::string fault_of(ProgramVerifier& verifier, const Specification& specification,
                     const Call& call, const Problems& problems,
                     std::span<const Schedule> schedules, int kind, std::uint64_t seed) {
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
