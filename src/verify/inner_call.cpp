/// Applies the contracts of inner collectives, by bytes.
#include "verify/inner_call.hpp"

#include <algorithm>

#include "core/index.hpp"

namespace tutti {

namespace {

class InnerContract {
 public:
  InnerContract(std::span<const InnerCall* const> members, std::string& fault)
      : members_(members), fault_(fault) {}

  std::vector<InnerTransfer> done() {
    const InnerCall& first = *members_.front();
    for (const InnerCall* member : members_) {
      if (member->collective != first.collective || member->root != first.root) {
        refuse("members disagree on the collective or its root");
      } else if (first.collective == Collective::bcast && !(member->send == member->receive)) {
        refuse("a bcast has one buffer");
      }
    }
    if (!fault_.empty()) return {};
    add_all();
    if (!is_irregular(first.collective)) check_regular();
    if (!fault_.empty()) return {};
    return std::move(transfers_);
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(members_.size()); }
  [[nodiscard]] const InnerCall& member(int i) const { return *members_[index(i)]; }

  void refuse(const std::string& text) {
    if (fault_.empty()) fault_ = text;
  }

  void add_all() {
    const Collective collective = member(0).collective;
    const int root = member(0).root;
    for (int i = 0; i < count(); ++i) {
      if (is_gather(collective)) {
        add(i, 0, root, i);
      } else if (collective == Collective::scatter || collective == Collective::scatterv) {
        add(root, i, i, 0);
      } else if (collective == Collective::bcast) {
        if (i != root) add(root, 0, i, 0);
      } else if (reduces(collective)) {
        add_combined(i, collective, root);
      } else if (collective != Collective::barrier) {
        const bool pairs = block_kind(collective) == BlockKind::pairs;
        for (int to = 0; to < count(); ++to) add(i, pairs ? to : 0, to, i);
      }
    }
  }

  void add_combined(int to, Collective collective, int root) {
    if (collective == Collective::reduce && to != root) return;
    const bool scatters =
        collective == Collective::reduce_scatter || collective == Collective::reduce_scatter_block;
    for (int from = 0; from < count(); ++from) {
      if (member(from).send.counts != member(0).send.counts) refuse("members' counts differ");
      if (!fault_.empty()) return;
      add(from, scatters ? to : 0, to, 0);
      if (!fault_.empty()) return;
      transfers_.back().combines = true;
    }
  }

  /// Adds a transfer of count `out` of member `from` to count `in` of member `to`.
  void add(int from, int out, int to, int in) {
    const InnerBuffer& source = member(from).send;
    const InnerBuffer& sink = member(to).receive;
    if (index(out) >= source.counts.size() || index(in) >= sink.counts.size() ||
        source.counts.size() != source.displacements.size() ||
        sink.counts.size() != sink.displacements.size()) {
      return refuse("a count is missing");
    }
    if (source.counts[index(out)] != sink.counts[index(in)]) {
      return refuse("node " + std::to_string(from) + " sends " +
                    std::to_string(source.counts[index(out)]) + " bytes to node " +
                    std::to_string(to) + ", which receives " +
                    std::to_string(sink.counts[index(in)]));
    }
    transfers_.push_back({from, to, false, source.at + source.displacements[index(out)],
                          sink.at + sink.displacements[index(in)], sink.counts[index(in)]});
  }

  void check_regular() {
    for (const InnerTransfer& transfer : transfers_) {
      if (transfer.bytes != transfers_.front().bytes) refuse("a regular call has unequal counts");
    }
  }

  std::span<const InnerCall* const> members_;
  std::string& fault_;
  std::vector<InnerTransfer> transfers_;
};

}  // namespace

std::vector<InnerTransfer> transfers_of(std::span<const InnerCall* const> members,
                                        std::string& fault) {
  return InnerContract(members, fault).done();
}

}  // namespace tutti
