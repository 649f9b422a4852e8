/// Checks puts into windows, which are unordered until a flush, against notifications.
#include <algorithm>
#include <map>

#include "verify/program.hpp"

namespace tutti {

namespace {

bool overlap(std::span<const ByteAccess> some, std::span<const ByteAccess> others) {
  return std::ranges::any_of(some, [&](const ByteAccess& one) {
    return std::ranges::any_of(others, [&](const ByteAccess& other) {
      return one.area == other.area && one.bytes.overlaps(other.bytes);
    });
  });
}

}  // namespace

ProgramVerifier::Fault ProgramVerifier::check_puts() {
  for (Rank rank = 0; rank < call_->contract.p; ++rank) {
    if (Fault fault = check_notifications(rank)) return fault;
  }
  std::ranges::sort(puts_, {}, &Put::recv);
  for (auto put = puts_.begin(); put != puts_.end(); ++put) {
    if (Fault fault = check_uses(*put)) return fault;
    const Rank target = rank_of(put->recv);
    for (auto other = put + 1; other != puts_.end() && rank_of(other->recv) == target; ++other) {
      if (!overlap(targets(put->put), targets(other->put))) continue;
      return fault(rank_of(other->put), number(other->put),
                   "writes bytes of the window of rank " + std::to_string(target) + ", which " +
                       in_words(put->put) + " of rank " + std::to_string(rank_of(put->put)) +
                       " may be writing");
    }
  }
  return std::nullopt;
}

/// Finds the flush and the notification of each put of a rank.
ProgramVerifier::Fault ProgramVerifier::check_notifications(Rank rank) {
  const bool at_root = rank == call_->contract.root;
  bool may_act = at_root;
  std::map<Rank, std::vector<Put>> open;  // by peer: puts without a notification
  for (Node node = graph_.node(rank, 0); node < graph_.end(rank); ++node) {
    const Operation& named = operation(node);
    const bool sends = named.kind == OperationKind::send;
    const bool puts = named.kind == OperationKind::put;
    may_act = may_act || named.kind == OperationKind::recv;
    if ((sends || puts) && !may_act) {
      return fault(rank, number(node), "may run before its rank has been notified of the call");
    }
    if (puts) open[named.peer].push_back({node, none, none});
    const auto unannounced = open.find(named.peer);
    if (unannounced == open.end()) continue;
    if (named.kind == OperationKind::flush) {
      for (Put& put : unannounced->second) put.flush = put.flush == none ? node : put.flush;
    }
    if (!sends) continue;
    for (Put& put : unannounced->second) {
      if (put.flush == none) {
        return fault(rank, number(node),
                     "may overtake " + in_words(put.put) + ": no flush comes between them");
      }
      put.recv = partner(node);
      puts_.push_back(put);
    }
    open.erase(unannounced);
  }
  for (const auto& [peer, puts] : open) {
    return fault(rank, number(puts.front().put),
                 "is never followed by a notification of rank " + std::to_string(peer));
  }
  if (at_root || flows_to_root(call_->contract.collective)) return std::nullopt;
  const Node last = graph_.end(rank) - 1;
  const bool reports = last >= graph_.node(rank, 0) &&
                       operation(last).kind == OperationKind::send &&
                       operation(last).peer == call_->contract.root;
  if (reports) return std::nullopt;
  return fault(rank, last < graph_.node(rank, 0) ? -1 : number(last),
               "ends without a notification of the root that its rank is done");
}

/// A put may read its source until the flush. It may write its target from any time before the
/// notification.
ProgramVerifier::Fault ProgramVerifier::check_uses(const Put& put) const {
  const Rank rank = rank_of(put.put);
  for (Node node = put.put + 1; node < put.flush; ++node) {
    if (is_put(node) || !overlap(targets(node), sources(put.put))) continue;
    return fault(rank, number(node),
                 "writes bytes that " + in_words(put.put) + " may be reading until its flush");
  }
  const Rank target = operation(put.put).peer;
  for (Node node = graph_.node(target, 0); node < put.recv; ++node) {
    const bool reads = overlap(sources(node), targets(put.put));
    const bool writes = !is_put(node) && overlap(targets(node), targets(put.put));
    if (!reads && !writes) continue;
    return fault(rank, number(put.put),
                 "writes bytes of the window of rank " + std::to_string(target) + ", which its " +
                     in_words(node) + " may be " + (reads ? "reading" : "writing"));
  }
  return std::nullopt;
}

}  // namespace tutti
