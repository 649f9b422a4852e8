/// Pairing sends with receives, and laying them into rounds.
#include "draw/messages.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

bool is_message(const Step& step) {
  return step.kind == StepKind::send || step.kind == StepKind::recv;
}

bool overlap(const Blocks& a, const Blocks& b) {
  bool found = false;
  a.for_each_run([&](BlockRange x) {
    b.for_each_run([&](BlockRange y) { found |= x.begin < y.end && y.begin < x.end; });
  });
  return found;
}

Result<std::vector<Message>> paired(std::span<const Schedule> schedules) {
  std::vector<Message> all;
  std::map<std::pair<Rank, Rank>, std::queue<std::size_t>> open;  // sends not yet received
  for (const Schedule& schedule : schedules) {
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      const Step& step = schedule.steps[i];
      if (step.kind != StepKind::send) continue;
      open[{schedule.rank, step.peer}].push(all.size());
      all.push_back({schedule.rank, step.peer, static_cast<StepId>(i), 0, step.bytes, 0});
    }
  }
  std::size_t taken = 0;
  for (const Schedule& schedule : schedules) {
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      const Step& step = schedule.steps[i];
      if (step.kind != StepKind::recv) continue;
      auto& sends = open[{step.peer, schedule.rank}];
      if (sends.empty()) {
        return Error{"rank " + std::to_string(schedule.rank) + ", step " + std::to_string(i) +
                     ": rank " + std::to_string(step.peer) + " has no send for this receive"};
      }
      all[sends.front()].recv = static_cast<StepId>(i);
      sends.pop();
      ++taken;
    }
  }
  if (taken == all.size()) return all;
  const auto left = std::find_if(open.begin(), open.end(),
                                 [](const auto& entry) { return !entry.second.empty(); });
  return Error{"rank " + std::to_string(left->first.first) + " sends to rank " +
               std::to_string(left->first.second) + ", which has no receive for it"};
}

/// Completes steps as what they need completes, and messages as both their ends are free.
class Rounds {
 public:
  Rounds(std::span<const Schedule> schedules, std::vector<Message>& messages)
      : messages_(messages) {
    for (const Schedule& schedule : schedules) {
      first_.push_back(nodes_.size());
      for (const Step& step : schedule.steps) nodes_.emplace_back().wait = !is_message(step);
    }
    for (const Schedule& schedule : schedules) {
      const auto of = needs(schedule);
      for (std::size_t i = 0; i < of.size(); ++i) {
        const std::size_t node = first_[static_cast<std::size_t>(schedule.rank)] + i;
        nodes_[node].missing = of[i].size();
        for (const StepId need : of[i]) nodes_[at(schedule.rank, need)].then.push_back(node);
      }
    }
    for (std::size_t m = 0; m < messages.size(); ++m) {
      nodes_[at(messages[m].from, messages[m].send)].message = m;
      nodes_[at(messages[m].to, messages[m].recv)].message = m;
    }
    by_receiver_ = !schedules.empty() && is_gather(schedules.front().collective);
    missing_ends_.assign(messages.size(), 2);
    free_.assign(schedules.size(), 1);
  }

  /// False if some steps can never start.
  bool run() {
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (nodes_[node].missing == 0) start(node);
    }
    std::size_t done = 0;
    for (; !ready_.empty(); ++done) {
      const std::size_t m = ready_.top().message;
      ready_.pop();
      complete(m);
    }
    return done == messages_.size();
  }

 private:
  struct Node {
    bool wait = false;
    std::size_t message = 0;
    std::size_t missing = 0;  ///< needs that have not completed
    int after = 0;            ///< the last round of a need that has
    std::vector<std::size_t> then;
  };
  struct Ready {
    int round;
    StepId sequence;
    std::size_t message;
    bool operator<(const Ready& other) const {  // the top of the queue is the greatest
      return std::tie(round, sequence, message) >
             std::tie(other.round, other.sequence, other.message);
    }
  };

  std::size_t at(Rank rank, StepId step) const {
    return first_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(step);
  }

  void start(std::size_t node) {
    if (nodes_[node].wait) return finish(node, nodes_[node].after);
    const std::size_t m = nodes_[node].message;
    const Message& message = messages_[m];
    if (--missing_ends_[m] > 0) return;
    const int after = std::max(nodes_[at(message.from, message.send)].after,
                               nodes_[at(message.to, message.recv)].after);
    ready_.push({after + 1, by_receiver_ ? message.recv : message.send, m});
  }

  void complete(std::size_t m) {
    Message& message = messages_[m];
    int& sender = free_[static_cast<std::size_t>(message.from)];
    int& receiver = free_[static_cast<std::size_t>(message.to)];
    const int after = std::max(nodes_[at(message.from, message.send)].after,
                               nodes_[at(message.to, message.recv)].after);
    message.round = std::max({after + 1, sender, receiver});
    sender = receiver = message.round + 1;
    finish(at(message.from, message.send), message.round);
    finish(at(message.to, message.recv), message.round);
  }

  void finish(std::size_t node, int round) {
    for (const std::size_t next : nodes_[node].then) {
      nodes_[next].after = std::max(nodes_[next].after, round);
      if (--nodes_[next].missing == 0) start(next);
    }
  }

  std::vector<Message>& messages_;
  std::vector<std::size_t> first_;  ///< node of each rank's step 0
  std::vector<Node> nodes_;
  std::vector<int> missing_ends_;
  std::vector<int> free_;  ///< the next round in which a rank can take part
  std::priority_queue<Ready> ready_;
  bool by_receiver_ = false;
};

}  // namespace

std::vector<std::vector<StepId>> needs(const Schedule& schedule) {
  std::vector<std::vector<StepId>> all(schedule.steps.size());
  StepId last_wait = -1;
  std::vector<StepId> receives;
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    const auto id = static_cast<StepId>(i);
    if (last_wait >= 0) all[i].push_back(last_wait);
    if (step.kind == StepKind::wait) {
      for (StepId named = step.first; named < step.last; ++named) {
        if (named != last_wait) all[i].push_back(named);
      }
      last_wait = id;
    } else if (step.kind == StepKind::recv) {
      receives.push_back(id);
    } else if (step.bytes > 0) {
      for (const StepId receive : receives) {
        const Step& earlier = schedule.steps[static_cast<std::size_t>(receive)];
        if (overlap(earlier.blocks, step.blocks)) all[i].push_back(receive);
      }
    }
  }
  return all;
}

Result<std::vector<Message>> messages(std::span<const Schedule> schedules) {
  Result<std::vector<Message>> result = paired(schedules);
  if (!result) return result;
  std::vector<Message>& all = *result;
  if (!Rounds(schedules, all).run()) {
    const Message& stuck = *std::find_if(all.begin(), all.end(),
                                         [](const Message& message) { return message.round == 0; });
    return Error{"the message from rank " + std::to_string(stuck.from) + " to rank " +
                 std::to_string(stuck.to) + " can never start: its needs wait for each other"};
  }
  std::sort(all.begin(), all.end(), [](const Message& a, const Message& b) {
    return std::tie(a.round, a.from, a.to, a.send) < std::tie(b.round, b.from, b.to, b.send);
  });
  return result;
}

}  // namespace tutti
