/// Execution of level plans with bytes as symbols.
#include "verify/hierarchical.hpp"

#include <algorithm>

#include "core/index.hpp"
#include "verify/hierarchical_inner.hpp"
#include "verify/hierarchical_state.hpp"

namespace tutti {

namespace {

/// How often the call is made.
constexpr int calls = 2;

class LevelExecution {
 public:
  LevelExecution(const LevelCase& call, const Nodes& nodes, std::span<const LevelPlan> plans)
      : call_(call), nodes_(nodes), plans_(plans), state_(call, nodes, plans) {}

  std::optional<LevelFault> run() {
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
  [[nodiscard]] LevelRank& at(Rank rank) { return state_.at(rank); }
  [[nodiscard]] const LevelPlan& plan(Rank rank) const { return plans_[index(rank)]; }
  void refuse(Rank rank, const std::string& text) { state_.refuse(rank, text); }
  [[nodiscard]] const LevelStep& step(Rank rank) { return plan(rank).steps[index(at(rank).step)]; }

  /// Takes the rank's next step if it can; false if it must wait or has none.
  bool advance(Rank rank) {
    LevelRank& runner = at(rank);
    if (runner.call == calls) return false;
    if (index(runner.step) == plan(rank).steps.size()) return end_call(rank);
    const LevelStep& now = step(rank);
    switch (now.kind) {
      case LevelKind::copy_in:
      case LevelKind::copy_out:
        copy(rank, now);
        break;
      case LevelKind::reduce:
        combine(rank, now);
        break;
      case LevelKind::raise:
        raise(rank, now.tick);
        break;
      case LevelKind::await:
        if (!await(rank, now)) return false;
        break;
      case LevelKind::inner:
        return enter(rank);
    }
    next(rank);
    return true;
  }

  void next(Rank rank) {
    LevelRank& runner = at(rank);
    ++runner.step;
    ++runner.now;
    runner.seen[index(rank)] = runner.now;
  }

  bool end_call(Rank rank) {
    LevelRank& runner = at(rank);
    const int ticks = plan(nodes_.rank_at(plan(rank).node, 0)).ticks;
    if (runner.flag != (runner.call + 1) * ticks)
      refuse(rank, "its flag does not end on the last tick");
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

  [[nodiscard]] Bytes begin_of(const BlockSeries& blocks, int which) const {
    Bytes bytes = 0;
    for (int i = 0; i < which; ++i) bytes += call_.sizes[index(blocks[i])];
    return bytes;
  }

  void copy(Rank rank, const LevelStep& now) {
    const bool in = now.kind == LevelKind::copy_in;
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

  void combine(Rank rank, const LevelStep& now) {
    state_.check_elements(rank, now.bytes,
                          now.bytes == 0 ? LevelByte{} : state_.read(rank, now.at));
    for (Bytes i = 0; i < now.bytes && !state_.fault(); ++i) {
      const LevelByte left = state_.read(rank, now.from + i);
      state_.write(rank, now.at + i, state_.combined(rank, left, state_.read(rank, now.at + i)));
    }
  }

  // Flags.

  void raise(Rank rank, int tick) {
    LevelRank& runner = at(rank);
    const int flag = runner.call * plan(rank).ticks + tick;
    if (flag <= runner.flag) refuse(rank, "its flag does not grow");
    runner.flag = flag;
    LevelClock seen = runner.seen;
    seen[index(rank)] = runner.now + 1;
    runner.raised.emplace_back(flag, std::move(seen));
  }

  bool await(Rank rank, const LevelStep& now) {
    LevelRank& runner = at(rank);
    const int flag = runner.call * plan(rank).ticks + now.tick;
    const int node = plan(rank).node;
    if (now.first < 0 || now.last > nodes_.size(node)) {
      refuse(rank, "awaits a rank that is not there");
      return false;
    }
    for (int local = now.first; local < now.last; ++local) {
      if (at(nodes_.rank_at(node, local)).flag < flag) return false;
    }
    for (int local = now.first; local < now.last; ++local) {
      join_first_raise(runner, at(nodes_.rank_at(node, local)), flag);
    }
    return true;
  }

  /// What is certain is only that the flag was seen at the first value that would do.
  static void join_first_raise(LevelRank& runner, const LevelRank& other, int flag) {
    for (const auto& [value, seen] : other.raised) {
      if (value < flag) continue;
      return LevelState::join(runner.seen, seen);
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

  /// Enters the inner call of the rank's step, and makes it if all members are in it.
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
    std::vector<LevelClock> entered;  // none covers the call itself, which is not over then
    for (int node = 0; node < nodes_.count(); ++node) {
      entered.push_back(at(member(lane, node)).seen);
    }
    const std::vector<std::vector<LevelByte>> moved = read_all(lane, members, transfers);
    for (std::size_t i = 0; i < transfers.size() && !state_.fault(); ++i) {
      const InnerTransfer& transfer = transfers[i];
      if (transfer.bytes > 0) {
        LevelState::join(at(member(lane, transfer.to)).seen, entered[index(transfer.from)]);
      }
      const bool more =
          transfer.combines && i + 1 < transfers.size() && transfers[i + 1].to == transfer.to;
      if (!more) deliver(lane, *members[index(transfer.to)], transfer, moved[i]);
    }
    if (members.front()->collective == Collective::barrier) {
      for (int node = 0; node < nodes_.count(); ++node) {
        for (const LevelClock& seen : entered) LevelState::join(at(member(lane, node)).seen, seen);
        for (int other = 0; other < nodes_.count();
             ++other) {  // it has entered, which is the point
          at(member(lane, node)).seen[index(member(lane, other))] = at(member(lane, other)).now + 1;
        }
      }
    }
    for (int node = 0; node < nodes_.count(); ++node) {
      at(member(lane, node)).entered = false;
      next(member(lane, node));
    }
  }

  /// The bytes of each transfer, those combined with what came before for the same member.
  std::vector<std::vector<LevelByte>> read_all(int lane, std::span<const InnerCall* const> members,
                                               const std::vector<InnerTransfer>& transfers) {
    std::vector<std::vector<LevelByte>> all;
    for (std::size_t i = 0; i < transfers.size() && !state_.fault(); ++i) {
      const InnerTransfer& transfer = transfers[i];
      const Rank from = member(lane, transfer.from);
      std::vector<LevelByte> bytes;
      for (Bytes byte = 0; byte < transfer.bytes && !state_.fault(); ++byte) {
        bytes.push_back(state_.read_end(from, members[index(transfer.from)]->send.area,
                                        transfer.read_at + byte));
      }
      if (transfer.combines && !state_.fault()) {
        state_.check_elements(from, transfer.bytes, bytes.empty() ? LevelByte{} : bytes.front());
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
               const std::vector<LevelByte>& bytes) {
    const Rank to = member(lane, transfer.to);
    for (Bytes i = 0; i < transfer.bytes && !state_.fault(); ++i) {
      if (call.receive.area == LevelArea::node) {
        state_.write(to, transfer.write_at + i, bytes[index(i)]);
      } else if (call.receive.area == LevelArea::receive) {
        state_.put(to, transfer.write_at + i, bytes[index(i)]);
      } else {
        refuse(to, "receives into its send side");
      }
    }
  }

  const LevelCase& call_;
  const Nodes& nodes_;
  std::span<const LevelPlan> plans_;
  LevelState state_;
};

}  // namespace

std::optional<LevelFault> verify(const LevelCase& call, const Nodes& nodes,
                                 std::span<const LevelPlan> plans) {
  return LevelExecution(call, nodes, plans).run();
}

}  // namespace tutti
