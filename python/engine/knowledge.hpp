/// The cost of the protocol by which the ranks of a call acquire their knowledge.
#pragma once

#include "algorithms/problems.hpp"

namespace tutti {

/// The messages of a protocol.
struct KnowledgePrice {
  int steps = 0;     ///< length of the longest chain of dependent messages
  int messages = 0;  ///< total number
  long words = 0;    ///< total number, of 8 bytes each
  friend bool operator==(const KnowledgePrice&, const KnowledgePrice&) = default;
};

/// Runs the protocol of all ranks of a call in one thread, and counts its messages. O(messages).
[[nodiscard]] KnowledgePrice knowledge_price(const Specification& specification, const Call& call);

}  // namespace tutti
