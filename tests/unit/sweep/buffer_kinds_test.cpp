/// The sweep tries the kinds of buffers that programs may pass.
#include <gtest/gtest.h>

#include <algorithm>

#include "sweep/check.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

/// True if `is_it` is for the layouts of some kind, of the first algorithm in the list.
template <class IsIt>
bool has_kind(const Call& call, IsIt is_it) {
  const auto first = std::ranges::find(all_algorithms(), call.collective, &Algorithm::collective);
  const Specification spec = testing_support::spec_of(call.collective, first->name);
  return std::ranges::any_of(distinct_kinds(spec, call),
                             [&](int kind) { return is_it(buffers_of(spec, call, kind)); });
}

Call call_of(Collective collective, int p) {
  return {collective, 0, std::vector<Bytes>(index(p), 2), 0};
}

// In each gather or scatter one rank packs: the root.
TEST(BufferKinds, HaveOwnBlocksOfOtherTypesBesidePackedMessages) {
  for (const Collective collective : {Collective::gather, Collective::scatter, Collective::gatherv,
                                      Collective::scatterv, Collective::allgatherv}) {
    for (const bool typed : {false, true}) {
      Call call = call_of(collective, 3);
      call.root = typed ? 1 : 0;
      EXPECT_TRUE(has_kind(call, [&](const std::vector<BufferLayout>& layouts) {
        const BufferTraits& traits = layouts[index(call.root)].traits;
        const bool from_all = is_scatter(collective);
        const bool own = from_all ? traits.receive_contiguous : traits.send_contiguous;
        const bool all = from_all ? traits.send_contiguous : traits.receive_contiguous;
        return traits.packs_blocks && all && own != typed;
      })) << name_of(collective);
    }
  }
}

TEST(BufferKinds, HaveSomeRanksInPlaceInReductions) {
  const auto in_place = [](const BufferLayout& layout) { return layout.traits.in_place; };
  for (const Collective collective :
       {Collective::allreduce, Collective::reduce_scatter, Collective::scan, Collective::exscan}) {
    for (const int p : {2, 3, 9}) {
      EXPECT_TRUE(has_kind(call_of(collective, p), [&](const std::vector<BufferLayout>& layouts) {
        return std::ranges::any_of(layouts, in_place) && !std::ranges::all_of(layouts, in_place);
      })) << name_of(collective);
    }
  }
}

// In place an allgather has no send buffer, so that its type makes no kind.
TEST(BufferKinds, DoNotCountBuffersWithoutMeaning) {
  const auto is_it = [](const std::vector<BufferLayout>& layouts) {
    const BufferTraits& traits = layouts[0].traits;
    return traits.in_place && !traits.send_contiguous;
  };
  EXPECT_FALSE(has_kind(call_of(Collective::allgather, 3), is_it));
  EXPECT_FALSE(has_kind(call_of(Collective::gather, 3), is_it));
  EXPECT_TRUE(has_kind(call_of(Collective::scatter, 3), is_it));
}

}  // namespace
}  // namespace tutti
