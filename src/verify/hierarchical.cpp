/// Executes hierarchical plans with bytes as symbols.
#include "verify/hierarchical.hpp"

#include <algorithm>

#include "core/index.hpp"
#include "verify/hierarchical_inner.hpp"
#include "verify/hierarchical_state.hpp"

namespace tutti {

namespace {

/// The number of executions of the call.
constexpr int calls = 2;

class HierarchicalExecution {
 public:
  HierarchicalExecution(const HierarchicalCase& call, const Nodes& nodes,
                        std::span<const HierarchicalPlan> plans)
      : call_(call), nodes_(nodes), plans_(plans), state_(call, nodes, plans) {}

  std::optional<HierarchicalFault> run() {
    for (bool moved = true; moved && !state_.fault();) {
      moved = false;
      for (Rank rank = 0; rank < nodes_.p() && !state_.fault(); ++rank) {
        while (!state_.fault() && advance(rank)) moved = true;
      }
    }
    for (Rank rank = 0; rank < nodes_.p() && !state_.fault(); ++rank) {
      if (at(rank).call < calls) refuse(rank, "never completes");
    }
    return state_.fault();
  }

 private:
  [[nodiscard]] HierarchicalRank& at(Rank rank) { return state_.at(rank); }
  [[nodiscard]] const HierarchicalPlan& plan(Rank rank) const { return plans_[index(rank)]; }
  void refuse(Rank rank, const std::string& text) { state_.refuse(rank, text); }
  [[nodiscard]] const HierarchicalStep& step(Rank rank) {
    return plan(rank).steps[index(at(rank).step)];
  }

  /// Executes the rank's next step; false if it must wait or has none.
  bool advance(Rank rank) {
    HierarchicalRank& runner = at(rank);
    if (runner.call == calls) return false;
    if (index(runner.step) == plan(rank).steps.size()) return end_call(rank);
    const HierarchicalStep& now = step(rank);
    switch (now.kind) {
      case HierarchicalStepKind::copy_in:
      case HierarchicalStepKind::copy_out:
        copy(rank, now);
        break;
      case HierarchicalStepKind::reduce:
        combine(rank, now);
        break;
      case HierarchicalStepKind::signal:
        signal(rank, now.sequence);
        break;
      case HierarchicalStepKind::await:
        if (!await(rank, now)) return false;
        break;
      case HierarchicalStepKind::inner:
        return enter(rank);
    }
    next(rank);
    return true;
  }

  void next(Rank rank) {
    HierarchicalRank& runner = at(rank);
    ++runner.step;
    ++runner.now;
    runner.seen[index(rank)] = runner.now;
  }

  bool end_call(Rank rank) {
    HierarchicalRank& runner = at(rank);
    const int sequence_numbers = plan(nodes_.rank_at(plan(rank).node, 0)).sequence_numbers;
    if (runner.signal != (runner.call + 1) * sequence_numbers)
      refuse(rank, "its signal does not end on the last sequence");
    state_.check_result(rank);
    if (call_.contract.collective == Collective::barrier) check_all_entered(rank);
    runner.receive.assign(runner.receive.size(), {});
    ++runner.call;
    runner.step = 0;
    return runner.call < calls;
  }

  void check_all_entered(Rank rank) {
    for (Rank other = 0; other < nodes_.p(); ++other) {
      const auto steps = static_cast<int>(plan(other).steps.size());
      if (at(rank).seen[index(other)] <= at(rank).call * steps + 1) {
        return refuse(rank, "may leave before rank " + std::to_string(other) + " enters");
      }
    }
  }

  // Bytes.

  [[nodiscard]] Bytes begin_of(const BlockSeries& blocks, Block which) const {
    Bytes bytes = 0;
    for (Block i = 0; i < which; ++i) bytes += call_.sizes[index(blocks[i])];
    return bytes;
  }

  void copy(Rank rank, const HierarchicalStep& now) {
    const bool in = now.kind == HierarchicalStepKind::copy_in;
    const BlockSeries blocks = in ? call_.contract.before(rank) : call_.contract.after(rank);
    if (now.blocks.begin < 0 || now.blocks.end > blocks.count || now.offset < 0 ||
        begin_of(blocks, now.blocks.begin) + now.offset + now.bytes >
            begin_of(blocks, now.blocks.end)) {
      return refuse(rank, "copies what is no part of its blocks");
    }
    const Bytes begin = begin_of(blocks, now.blocks.begin) + now.offset;
    for (Bytes i = 0; i < now.bytes && !state_.fault(); ++i) {
      if (in) {
        state_.write(rank, now.at + i, at(rank).send[index(begin + i)]);
      } else {
        state_.put(rank, begin + i, state_.read(rank, now.at + i));
      }
    }
  }

  void combine(Rank rank, const HierarchicalStep& now) {
    state_.check_elements(rank, now.bytes, now.bytes == 0 ? NodeByte{} : state_.read(rank, now.at));
    for (Bytes i = 0; i < now.bytes && !state_.fault(); ++i) {
      const NodeByte left = state_.read(rank, now.from + i);
      state_.write(rank, now.at + i, state_.combined(rank, left, state_.read(rank, now.at + i)));
    }
  }

  // Signals.

  void signal(Rank rank, int sequence) {
    HierarchicalRank& runner = at(rank);
    const int signal = runner.call * plan(rank).sequence_numbers + sequence;
    if (signal <= runner.signal) refuse(rank, "its signal does not grow");
    runner.signal = signal;
    HierarchicalClock seen = runner.seen;
    seen[index(rank)] = runner.now + 1;
    runner.signalled.emplace_back(signal, std::move(seen));
  }

  bool await(Rank rank, const HierarchicalStep& now) {
    HierarchicalRank& runner = at(rank);
    const int signal = runner.call * plan(rank).sequence_numbers + now.sequence;
    const int node = plan(rank).node;
    if (now.first < 0 || now.last > nodes_.size(node)) {
      refuse(rank, "awaits a rank that is not there");
      return false;
    }
    for (int local = now.first; local < now.last; ++local) {
      if (at(nodes_.rank_at(node, local)).signal < signal) return false;
    }
    for (int local = now.first; local < now.last; ++local) {
      join_first_signal(runner, at(nodes_.rank_at(node, local)), signal);
    }
    return true;
  }

  /// A rank has certainly seen only the first sufficient value of the signal.
  static void join_first_signal(HierarchicalRank& runner, const HierarchicalRank& other,
                                int signal) {
    for (const auto& [value, seen] : other.signalled) {
      if (value < signal) continue;
      return HierarchicalState::join(runner.seen, seen);
    }
  }

  // Inner calls.

  [[nodiscard]] const InnerCall& inner(Rank rank) {
    return plan(rank).calls[index(step(rank).call)];
  }

  [[nodiscard]] Rank member(int lane, int node) const {
    const int ranks = nodes_.size(node);
    return nodes_.rank_at(node, lane_leader(lane, plans_[0].leaders, ranks));
  }

  /// Enters the inner call of the rank's step, and executes it once all members have entered.
  bool enter(Rank rank) {
    if (at(rank).entered) return false;
    const int lane = inner(rank).lane;
    if (lane < 0 || lane >= plans_[0].leaders || member(lane, plan(rank).node) != rank) {
      refuse(rank, "does not lead lane " + std::to_string(lane));
      return false;
    }
    at(rank).entered = true;
    std::vector<const InnerCall*> members;
    for (int node = 0; node < nodes_.count(); ++node) {
      const Rank other = member(lane, node);
      if (!at(other).entered || inner(other).lane != lane) return false;
      members.push_back(&inner(other));
    }
    make(rank, lane, members);
    return !state_.fault();
  }

  void make(Rank rank, int lane, std::span<const InnerCall* const> members) {
    std::string text;
    const std::vector<InnerTransfer> transfers = transfers_of(members, text);
    if (!text.empty()) return refuse(rank, text);
    std::vector<HierarchicalClock> entered;  // without the call itself, which is incomplete
    for (int node = 0; node < nodes_.count(); ++node) {
      entered.push_back(at(member(lane, node)).seen);
    }
    const std::vector<std::vector<NodeByte>> moved = read_all(lane, members, transfers);
    for (std::size_t i = 0; i < transfers.size() && !state_.fault(); ++i) {
      const InnerTransfer& transfer = transfers[i];
      if (transfer.bytes > 0) {
        HierarchicalState::join(at(member(lane, transfer.to)).seen, entered[index(transfer.from)]);
      }
      const bool more =
          transfer.combines && i + 1 < transfers.size() && transfers[i + 1].to == transfer.to;
      if (!more) deliver(lane, *members[index(transfer.to)], transfer, moved[i]);
    }
    if (members.front()->collective == Collective::barrier) {
      for (int node = 0; node < nodes_.count(); ++node) {
        for (const HierarchicalClock& seen : entered)
          HierarchicalState::join(at(member(lane, node)).seen, seen);
        for (int other = 0; other < nodes_.count();
             ++other) {  // a barrier shows that it has entered
          at(member(lane, node)).seen[index(member(lane, other))] = at(member(lane, other)).now + 1;
        }
      }
    }
    for (int node = 0; node < nodes_.count(); ++node) {
      at(member(lane, node)).entered = false;
      next(member(lane, node));
    }
  }

  /// The bytes of each transfer; combining ones include the earlier transfers to the same member.
  std::vector<std::vector<NodeByte>> read_all(int lane, std::span<const InnerCall* const> members,
                                              const std::vector<InnerTransfer>& transfers) {
    std::vector<std::vector<NodeByte>> all;
    for (std::size_t i = 0; i < transfers.size() && !state_.fault(); ++i) {
      const InnerTransfer& transfer = transfers[i];
      const Rank from = member(lane, transfer.from);
      std::vector<NodeByte> bytes;
      for (Bytes byte = 0; byte < transfer.bytes && !state_.fault(); ++byte) {
        bytes.push_back(state_.read_end(from, members[index(transfer.from)]->send.area,
                                        transfer.read_at + byte));
      }
      if (transfer.combines && !state_.fault()) {
        state_.check_elements(from, transfer.bytes, bytes.empty() ? NodeByte{} : bytes.front());
        const bool first = i == 0 || transfers[i - 1].to != transfer.to;
        for (std::size_t byte = 0; byte < bytes.size() && !first && !state_.fault(); ++byte) {
          bytes[byte] = state_.combined(from, all.back()[byte], bytes[byte]);
        }
      }
      all.push_back(std::move(bytes));
    }
    return all;
  }

  void deliver(int lane, const InnerCall& call, const InnerTransfer& transfer,
               const std::vector<NodeByte>& bytes) {
    const Rank to = member(lane, transfer.to);
    for (Bytes i = 0; i < transfer.bytes && !state_.fault(); ++i) {
      if (call.receive.area == HierarchicalArea::node) {
        state_.write(to, transfer.write_at + i, bytes[index(i)]);
      } else if (call.receive.area == HierarchicalArea::receive) {
        state_.put(to, transfer.write_at + i, bytes[index(i)]);
      } else {
        refuse(to, "receives into its send side");
      }
    }
  }

  const HierarchicalCase& call_;
  const Nodes& nodes_;
  std::span<const HierarchicalPlan> plans_;
  HierarchicalState state_;
};

}  // namespace

std::optional<HierarchicalFault> verify(const HierarchicalCase& call, const Nodes& nodes,
                                        std::span<const HierarchicalPlan> plans) {
  return HierarchicalExecution(call, nodes, plans).run();
}

}  // namespace tutti
