/// What it costs the ranks of a call to learn what they must know.
#pragma once

#include "algorithms/problems.hpp"

namespace tutti {

/// The traffic of a protocol.
struct KnowledgePrice {
  int steps = 0;     ///< the longest chain of messages that need each other
  int messages = 0;  ///< in all
  long words = 0;    ///< of 8 bytes, in all
  friend bool operator==(const KnowledgePrice&, const KnowledgePrice&) = default;
};

/// Runs the protocol of all ranks of a call in one thread and counts. O(messages).
[[nodiscard]] KnowledgePrice knowledge_price(const Specification& specification, const Call& call);

}  // namespace tutti
