/// What a shape sends between positions, round by round.
#pragma once

#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The messages of a shape as the model of rounds sees them: those of a round pass at once, and
/// the next round begins when the slowest is there.
struct Traffic {
  struct Message {
    Position from = 0;
    Position to = 0;
    Bytes bytes = 0;
    friend bool operator==(const Message&, const Message&) = default;
  };
  struct Round {
    int times = 1;  ///< in a row
    std::vector<Message> messages;
    friend bool operator==(const Round&, const Round&) = default;
  };
  int p = 1;
  std::vector<Round> rounds;
};

}  // namespace tutti
