/// The messages of a shape between positions, round by round.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The messages of a shape for a model of rounds. All messages of a round are in flight at once;
/// the next round begins when the slowest has arrived.
struct Traffic {
  struct Message {
    Position from = 0;
    Position to = 0;
    Bytes bytes = 0;
    friend bool operator==(const Message&, const Message&) = default;
  };
  struct Round {
    int times = 1;  ///< consecutive repetitions of this round
    std::vector<Message> messages;
    friend bool operator==(const Round&, const Round&) = default;
  };
  int p = 1;
  std::vector<Round> rounds;
};

}  // namespace tutti
