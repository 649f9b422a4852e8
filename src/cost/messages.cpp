/// Assigns messages to rounds.
#include "cost/messages.hpp"

#include <algorithm>
#include <tuple>

#include "cost/engine.hpp"

namespace tutti {

Result<std::vector<Message>> messages(std::span<const Schedule> schedules) {
  const Collective collective =
      schedules.empty() ? Collective::gather : schedules.front().collective;
  const EngineModel rounds{
      .tie = flows_to_root(collective) ? EngineModel::Tie::receiver : EngineModel::Tie::sender,
      .machine = {.latency = 1, .per_byte = 0},
      .two_ports = has_two_ports(collective)};
  std::vector<Message> all;
  const auto error = execute(schedules, rounds, {}, {.started = [&](const TimedMessage& moved) {
                               all.push_back({moved.from, moved.to, moved.bytes,
                                              static_cast<int>(moved.start) + 1});
                             }});
  if (error) return *error;
  std::ranges::sort(all, {}, [](const Message& message) {
    return std::tuple(message.round, message.from, message.to);
  });
  return all;
}

}  // namespace tutti
