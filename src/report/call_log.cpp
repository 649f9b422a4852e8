/// Adds calls to totals and tracks.
#include "report/call_log.hpp"

#include <algorithm>

namespace tutti {

namespace {

/// 1 if all blocks are equal, also if all are empty, and for a vector.
double irregularity_of(const CallRecord& record) {
  if (record.total <= 0 || block_kind(record.collective) == BlockKind::parts) return 1;
  return static_cast<double>(record.largest) * record.p / static_cast<double>(record.total);
}

/// The size and irregularity of one call, without its root, so that nothing is allocated. Blocks
/// that stay with their rank do not count: in many alltoallv calls they are most of the data, and
/// no algorithm moves them.
SizedCalls sized(const CallRecord& record) {
  SizedCalls one = {record.p, 0, 1, 0, irregularity_of(record), record.exit - record.arrival, {}};
  if (record.largest_sent >= 0 && record.p > 1) {
    const Bytes sent = record.total - record.kept;
    one.bytes = sent / (record.p - 1);
    one.irregularity_sum = sent > 0 ? static_cast<double>(record.largest_sent) * (record.p - 1) /
                                          static_cast<double>(sent)
                                    : 1;
  } else {
    const bool is_vector = block_kind(record.collective) == BlockKind::parts;
    one.bytes = is_vector ? record.total : record.total / record.p;
  }
  one.size_class = class_of(one.bytes);
  return one;
}

void add_time(Track& track, const TimedCall& timed) {
  const auto is_left_out = [&](const TimedCall& call) {
    return !Track::is_kept(call.call, track.stride);
  };
  while (!is_left_out(timed) && track.calls.size() == CallLog::calls_in_track) {
    track.stride *= 2;
    std::erase_if(track.calls, is_left_out);
  }
  if (!is_left_out(timed)) track.calls.push_back(timed);
}

}  // namespace

void TuningRecords::add(TuningRecord record) {
  if (all.size() < records_at_most) {
    all.push_back(std::move(record));
    return;
  }
  ++left_out;
  left_out_exploring += record.exploring * record.p;
}

void TuningRecords::add(const TuningRecords& more) {
  for (const TuningRecord& record : more.all) add(record);
  left_out += more.left_out;
  left_out_exploring += more.left_out_exploring;
}

void add_calls(std::vector<CallsOfCase>& all, const CallsOfCase& more) {
  constexpr std::size_t cases_at_most = 1024;
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const CallsOfCase& known) {
    return known.communicator == more.communicator && known.of == more.of;
  });
  if (found != all.rend()) {
    found->calls += more.calls;
  } else if (all.size() < cases_at_most || more.of.id < 0) {
    all.push_back(more);
  } else {
    add_calls(all, {0, {-1, 0, more.of.explores}, more.calls});
  }
}

Rank SizedCalls::root() const {
  return std::ranges::min(roots, {},
                          [](const RootCalls& one) { return std::pair(-one.calls, one.root); })
      .root;
}

void SizedCalls::add(const RootCalls& more) {
  const auto known = std::ranges::find(roots, more.root, &RootCalls::root);
  if (known != roots.end()) {
    known->calls += more.calls;
  } else if (roots.size() < roots_at_most) {
    roots.push_back(more);
  } else {
    RootCalls& least = *std::ranges::min_element(roots, {}, &RootCalls::calls);
    least = {more.root, least.calls + more.calls};
  }
}

SizedCalls& CallTotals::add_sized(const SizedCalls& more) {
  const auto found = std::ranges::find_if(sizes, [&](const SizedCalls& one) {
    return one.p == more.p && one.size_class == more.size_class;
  });
  if (found == sizes.end()) return sizes.emplace_back(more);
  found->calls += more.calls;
  found->bytes += more.bytes;
  found->irregularity_sum += more.irregularity_sum;
  found->seconds += more.seconds;
  for (const RootCalls& of_root : more.roots) found->add(of_root);
  return *found;
}

void CallTotals::add(const CallTotals& more) {
  calls += more.calls;
  bytes += more.bytes;
  irregularity_sum += more.irregularity_sum;
  irregularity_max = std::max(irregularity_max, more.irregularity_max);
  seconds += more.seconds;
  for (const CallsOfCase& of_case : more.cases) add_calls(cases, of_case);
  for (const SizedCalls& sized : more.sizes) add_sized(sized);
}

void CallLog::add(const CallRecord& record) {
  const std::uint32_t index = find_logged(record);
  LoggedCalls& logged = logged_[index];
  ++logged.calls;
  logged.seconds += record.exit - record.arrival;
  if (logged.at_root) {
    const double irregularity = irregularity_of(record);
    logged.bytes += record.total;
    logged.irregularity_sum += irregularity;
    logged.irregularity_max = std::max(logged.irregularity_max, irregularity);
    if (record.measured.id >= 0) {
      add_calls(logged.cases, {record.communicator, record.measured, 1});
    }
    logged.add_sized(sized(record)).add(RootCalls{record.root, 1});
  } else {
    logged.bytes += record.own;
  }
  if (Track* track = find_track(record)) {
    add_time(*track, {record.call, record.arrival, record.exit, index,
                      static_cast<float>(record.ahead), static_cast<float>(record.progress_hint)});
  }
}

std::uint32_t CallLog::find_logged(const CallRecord& record) {
  const bool at_root = record.rank == record.root;
  std::uint32_t& last_logged = last_logged_[record.collective][at_root ? 1 : 0];
  if (last_logged < logged_.size()) {
    const LoggedCalls& last = logged_[last_logged];
    if (last.site == record.site && last.collective == record.collective &&
        last.at_root == at_root && last.decision == *record.decision) {
      return last_logged;
    }
  }
  const auto key = std::tie(record.site, record.collective, at_root, *record.decision);
  auto found = logged_at_.find(key);
  if (found == logged_at_.end()) {
    const auto index = static_cast<std::uint32_t>(logged_.size());
    logged_.push_back({{}, record.collective, record.site, *record.decision, at_root});
    found = logged_at_.emplace(key, index).first;
  }
  return last_logged = found->second;
}

Track* CallLog::find_track(const CallRecord& record) {
  const std::pair key(record.communicator, record.collective);
  const auto found = track_at_.find(key);
  if (found != track_at_.end()) return &tracks_[found->second];
  if (tracks_.size() == tracks_at_most) return nullptr;
  const auto index = static_cast<std::uint32_t>(tracks_.size());
  tracks_.push_back({record.communicator, record.collective, record.rank, record.p, 1, {}});
  tracks_.back().calls.reserve(calls_in_track);
  track_at_.emplace(key, index);
  return &tracks_.back();
}

}  // namespace tutti
