/// Runs the collectives between nodes: the MPI's own, or a schedule of Tutti.
#include <optional>

#include "run/hierarchical/mpi_hierarchical.hpp"
#include "run/mpi/arguments.hpp"

namespace tutti {

namespace {

/// Counts and displacements as int: none is above max_node_memory.
class Numbers {
 public:
  Numbers(const InnerBuffer& buffer, Bytes unit)
      : counts_(to_ints(buffer.counts, unit)), at_(to_ints(buffer.displacements, 1)) {}
  /// The only count or the first of equal ones, 0 if the buffer is not significant, and all if
  /// there are several.
  [[nodiscard]] Counts counts() const {
    if (counts_.size() < 2) return {counts_.empty() ? 0 : counts_.front(), nullptr, nullptr};
    return {counts_.front(), counts_.data(), at_.data()};
  }

 private:
  static std::vector<int> to_ints(const std::vector<Bytes>& bytes, Bytes unit) {
    std::vector<int> numbers;
    for (const Bytes each : bytes) numbers.push_back(static_cast<int>(each / unit));
    return numbers;
  }

  std::vector<int> counts_;
  std::vector<int> at_;
};

/// Runs a collective by a schedule of Tutti, unless that would stage too much. Returns its error
/// code if it ran.
std::optional<int> run_schedule(Collective collective, const Arguments& all, PrivateComm& lane,
                                const Specification& specification, const CallContext& context) {
  const auto side = [&](const void* address, const Counts& counts) {
    CallSide made;
    made.address = const_cast<void*>(address);
    made.type = all.type;
    made.blocks = RankBlocks(counts.count);
    if (!is_irregular(collective) || counts.counts == nullptr) return made;
    made.blocks = RankBlocks::counted(counts.counts);
    if (!reduces(collective)) made.blocks.place(counts.displacements);
    return made;
  };
  MpiCall inner;
  inner.collective = collective;
  inner.root = all.root;
  inner.comm = all.comm;
  inner.op = all.op;
  inner.send = side(collective == Collective::bcast ? MPI_IN_PLACE : all.in, all.sent);
  inner.receive = side(all.out, all.received);
  lane.begin(inner);
  if (!lane.learn_types(inner)) return MPI_ERR_TYPE;
  if (lane.fits(inner, specification)) return lane.run(inner, specification, context);
  lane.give_up();
  return std::nullopt;
}

}  // namespace

int run_inner(const InnerCall& call, const HierarchicalCall& hierarchical, PrivateComm& lane,
              std::byte* send, std::byte* receive) {
  const bool combines = reduces(call.collective);
  // A rank with invalid arguments has no datatype to reduce with.
  if (combines && hierarchical.is_dummy) {
    if (hierarchical.inner == nullptr) return MPI_SUCCESS;
    MpiCall left;
    lane.begin(left);
    lane.give_up();
    return MPI_SUCCESS;
  }
  const Bytes unit = combines ? hierarchical.call.unit : 1;
  const Numbers sent(call.send, unit);
  const Numbers received(call.receive, unit);
  const bool is_bcast = call.collective == Collective::bcast;
  // On bytes, packed in node memory, or in a reduction on elements of the program's datatype.
  Arguments all;
  all.in = send;
  all.out = is_bcast ? send : receive;
  all.sent = sent.counts();
  // The send counts apply even if nothing is received.
  all.received = combines || is_bcast ? all.sent : received.counts();
  all.type = combines ? hierarchical.type : mpi().byte;
  all.op = hierarchical.op;
  all.root = call.root;
  all.comm = lane.handle();
  if (hierarchical.inner != nullptr) {
    const Specification inner = between_nodes(*hierarchical.inner, call.collective);
    const auto error = run_schedule(call.collective, all, lane, inner, hierarchical.context);
    if (error) return *error;
  }
  return tutti::call(mpi(), call.collective, all);
}

}  // namespace tutti
