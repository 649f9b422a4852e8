/// Joins the logs of processes call by call.
#include "report/summary.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace tutti {

void Quantiles::add(const Quantiles& more) {
  const auto is_out = [this](const Value& each) { return each.key > limit; };
  max = std::max(max, more.max);
  if (more.limit < limit) {
    limit = more.limit;
    std::erase_if(values, is_out);
  }
  std::ranges::remove_copy_if(more.values, std::back_inserter(values), is_out);
  while (values.size() > values_at_most) {
    limit /= 2;
    std::erase_if(values, is_out);
  }
}

double Quantiles::median() const {
  std::vector<double> sorted;
  for (const Value& each : values) sorted.push_back(each.value);
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

namespace {

/// The index of `name` in `names`; appends a new name.
std::uint32_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  const auto index = static_cast<std::uint32_t>(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return index;
}

auto place_of(const SiteCalls& calls) {
  return std::tie(calls.collective, calls.site, calls.decision);
}

/// True if the report shows `one` rather than `other`, independent of the sequence of comparisons.
bool is_worse(const ArrivalPattern& one, const ArrivalPattern& other) {
  if (one.is_empty() || other.is_empty()) return !one.is_empty();
  return std::pair(one.waited, one.communicator) > std::pair(other.waited, other.communicator);
}

void add(SiteCalls& calls, const SiteCalls& more) {
  calls.CallTotals::add(more);
  for (const std::string& site : more.other_sites) index_of(calls.other_sites, site);
  calls.measured += more.measured;
  calls.elapsed_sum += more.elapsed_sum;
  calls.timed += more.timed;
  calls.run_sum += more.run_sum;
  calls.run_max = std::max(calls.run_max, more.run_max);
  calls.moving_sum += more.moving_sum;
  calls.spread.add(more.spread);
  calls.split += more.split;
  calls.parts += more.parts;
  calls.patterns += more.patterns;
  if (is_worse(more.pattern, calls.pattern)) calls.pattern = more.pattern;
}

/// Adds calls to those of the same place. Returns their index.
std::uint32_t add(std::vector<SiteCalls>& all, SiteCalls&& more) {
  const auto found = std::ranges::find(all, place_of(more), place_of);
  const auto index = static_cast<std::uint32_t>(found - all.begin());
  if (found != all.end()) {
    add(*found, more);
  } else {
    all.push_back(std::move(more));
  }
  return index;
}

/// Adds further ranks of the same call.
void add(PendingCall& call, const PendingCall& more) {
  call.ranks += more.ranks;
  call.first_arrival = std::min(call.first_arrival, more.first_arrival);
  call.last_arrival = std::max(call.last_arrival, more.last_arrival);
  call.last_exit = std::max(call.last_exit, more.last_exit);
  call.elapsed_sum += more.elapsed_sum;
  if (more.at != PendingCall::none) call.at = more.at;
  if (more.root != no_rank) call.root = more.root;
  call.times.insert(call.times.end(), more.times.begin(), more.times.end());
  for (const std::uint32_t other : more.others) {
    const auto at = std::ranges::lower_bound(call.others, other);
    if (at == call.others.end() || *at != other) call.others.insert(at, other);
  }
}

void add(PendingTrack& track, PendingTrack&& more) {
  if (track.node != more.node) track.node = PendingTrack::several;
  std::vector<PendingCall> joined;
  joined.reserve(std::max(track.calls.size(), more.calls.size()));
  auto next = more.calls.begin();
  for (PendingCall& call : track.calls) {
    while (next != more.calls.end() && next->call < call.call) joined.push_back(std::move(*next++));
    if (next != more.calls.end() && next->call == call.call) add(call, *next++);
    joined.push_back(std::move(call));
  }
  std::move(next, more.calls.end(), std::back_inserter(joined));
  track.calls = std::move(joined);
}

/// Adds a call with all its ranks to the statistics.
void settle(Summary& summary, const PendingTrack& track, const PendingCall& call) {
  SiteCalls& calls = summary.calls[call.at];
  ++calls.measured;
  calls.elapsed_sum += call.elapsed_sum / track.p;
  for (const std::uint32_t other : call.others) {
    if (summary.sites[other] != calls.site) index_of(calls.other_sites, summary.sites[other]);
  }
  if (track.node == PendingTrack::several) return;
  ++calls.timed;
  calls.run_sum += call.last_exit - call.first_arrival;
  calls.run_max = std::max(calls.run_max, call.last_exit - call.first_arrival);
  calls.moving_sum += call.last_exit - call.last_arrival;
  const double spread = call.last_arrival - call.first_arrival;
  const std::uint64_t key = track.communicator + call.call * 0xD1B54A32D192ED03U;
  calls.spread.add({{{spread, key}}, spread});
}

/// The times of all ranks of a call; sets `world` to their ranks in MPI_COMM_WORLD.
CallTimes call_times(PendingCall& call, std::vector<Rank>& world) {
  std::ranges::sort(call.times, {}, &RankTimes::rank);
  CallTimes made;
  made.call = call.call;
  made.root = call.root;
  made.begin = call.first_arrival;
  world.clear();
  for (const RankTimes& times : call.times) {
    world.push_back(times.world);
    made.delays.push_back(static_cast<float>(times.arrival - call.first_arrival));
    made.elapsed.push_back(static_cast<float>(times.exit - times.arrival));
    made.ahead.push_back(times.ahead);
    made.progress_hint.push_back(times.progress_hint);
  }
  return made;
}

/// Adds the split times of all ranks of one call.
void add_split(SiteCalls& calls, ArrivalPattern& pattern, CallTimes&& times) {
  const auto p = static_cast<double>(times.delays.size());
  for (const Parts& parts : parts_of(times)) {
    calls.parts += parts / p;
    pattern.waited += parts.waiting + parts.held;
  }
  ++calls.split;
  pattern.calls.push_back(std::move(times));
}

/// Moves complete calls to the statistics. All ranks of a communicator are joined at once, so its
/// patterns are built as a whole.
void settle_complete(Summary& summary, PendingTrack& track) {
  std::map<std::uint32_t, ArrivalPattern> patterns;
  std::erase_if(track.calls, [&](PendingCall& call) {
    const bool complete = call.ranks == track.p && call.at != PendingCall::none;
    if (!complete) return false;
    settle(summary, track, call);
    if (track.node == PendingTrack::several) return true;
    if (call.times.size() != static_cast<std::size_t>(track.p)) return true;
    ArrivalPattern& pattern = patterns[call.at];
    CallTimes times = call_times(call, pattern.world);
    add_split(summary.calls[call.at], pattern, std::move(times));
    return true;
  });
  for (auto& [at, pattern] : patterns) {
    SiteCalls& calls = summary.calls[at];
    pattern.communicator = track.communicator;
    ++calls.patterns;
    if (is_worse(pattern, calls.pattern)) calls.pattern = std::move(pattern);
  }
}

/// Adds the calls and sites of `other`, and converts its indexes to indexes into `summary`.
void convert_indexes(Summary& summary, Summary& other) {
  std::vector<std::uint32_t> calls_at;
  for (SiteCalls& calls : other.calls) calls_at.push_back(add(summary.calls, std::move(calls)));
  std::vector<std::uint32_t> site_at;
  for (const std::string& site : other.sites) site_at.push_back(index_of(summary.sites, site));
  for (PendingTrack& track : other.tracks) {
    for (PendingCall& call : track.calls) {
      if (call.at != PendingCall::none) call.at = calls_at[call.at];
      for (std::uint32_t& site : call.others) site = site_at[site];
      std::ranges::sort(call.others);
    }
  }
}

/// The stride of calls whose single ranks' times are kept, so that these fit into the memory. Equal
/// on all ranks.
std::uint64_t stride_of_times(const Track& track) {
  const std::size_t max_pairs =
      std::max<std::size_t>(1, PendingCall::times_at_most / 2 / static_cast<std::size_t>(track.p));
  std::uint64_t stride = track.stride;
  for (std::size_t pairs = (track.calls.size() + 1) / 2; pairs > max_pairs; pairs = (pairs + 1) / 2)
    stride *= 2;
  return stride;
}

/// One rank's calls. `line` is, by the log's index, the root's line or another rank's site.
PendingTrack pending(const Track& track, const CallLog& log, const ProcessLocation& location,
                     const std::vector<std::uint32_t>& line) {
  PendingTrack waiting = {track.communicator, track.collective, track.p, location.node, {}};
  const std::uint64_t stride = stride_of_times(track);
  for (TimedCall timed : track.calls) {
    timed.arrival = location.common(timed.arrival);
    timed.exit = location.common(timed.exit);
    PendingCall& call = waiting.calls.emplace_back();
    call.call = timed.call;
    call.ranks = 1;
    call.first_arrival = call.last_arrival = timed.arrival;
    call.last_exit = timed.exit;
    call.elapsed_sum = timed.exit - timed.arrival;
    if (log.logged()[timed.logged].at_root) {
      call.at = line[timed.logged];
      // Without a root every rank needs all others, and rank 0 reports the call.
      if (has_root(track.collective)) call.root = track.rank;
    } else {
      call.others.push_back(line[timed.logged]);
    }
    if (!Track::is_kept(timed.call, stride)) continue;
    call.times.push_back(
        {track.rank, location.rank, timed.arrival, timed.exit, timed.ahead, timed.progress_hint});
  }
  std::ranges::sort(waiting.calls, {}, &PendingCall::call);
  return waiting;
}

}  // namespace

void add(std::vector<NamedCalls>& calls, const std::vector<NamedCalls>& more) {
  for (const NamedCalls& one : more) {
    const auto found = std::ranges::find(calls, one.name, &NamedCalls::name);
    if (found == calls.end()) {
      calls.push_back(one);
    } else {
      found->calls += one.calls;
    }
  }
}

Summary summarise(const CallLog& log, const ProcessLocation& location, const NameSite& name_site) {
  Summary summary;
  summary.clock_error = location.clock_error;
  summary.clock_drift = location.clock_drift;
  summary.ranks = 1;
  summary.nodes = location.is_leader ? 1 : 0;
  // By the log's index: the root's line, or the name of another rank's site.
  std::vector<std::uint32_t> line;
  for (const LoggedCalls& logged : log.logged()) {
    summary.seconds_sum += logged.seconds;
    SiteCalls calls = {logged, logged.collective, name_site(logged.site), logged.decision};
    line.push_back(logged.at_root ? add(summary.calls, std::move(calls))
                                  : index_of(summary.sites, calls.site));
  }
  summary.seconds_max = summary.seconds_sum;
  summary.tuning = log.tuning();
  for (const Track& track : log.tracks()) {
    PendingTrack waiting = pending(track, log, location, line);
    settle_complete(summary, waiting);
    if (!waiting.calls.empty()) summary.tracks.push_back(std::move(waiting));
  }
  return summary;
}

void join(Summary& summary, Summary&& other) {
  if (summary.destination.empty()) summary.destination = other.destination;
  summary.ranks += other.ranks;
  summary.nodes += other.nodes;
  const auto [least, most] = std::minmax(summary.clock_error, other.clock_error);
  summary.clock_error = least < 0 ? least : most;  // the larger one, unless one is unknown
  summary.clock_drift = summary.clock_drift && other.clock_drift;
  summary.seconds_sum += other.seconds_sum;
  summary.seconds_max = std::max(summary.seconds_max, other.seconds_max);
  summary.wall_sum += other.wall_sum;
  add(summary.others, other.others);
  summary.tuning.add(other.tuning);
  convert_indexes(summary, other);
  std::map<std::pair<std::uint64_t, Collective>, std::size_t> track_at;
  for (std::size_t at = 0; at < summary.tracks.size(); ++at) {
    track_at[{summary.tracks[at].communicator, summary.tracks[at].collective}] = at;
  }
  for (PendingTrack& track : other.tracks) {
    const auto found = track_at.find({track.communicator, track.collective});
    if (found == track_at.end()) {
      summary.tracks.push_back(std::move(track));
      continue;
    }
    PendingTrack& joined = summary.tracks[found->second];
    add(joined, std::move(track));
    settle_complete(summary, joined);
  }
  std::erase_if(summary.tracks, [](const PendingTrack& track) { return track.calls.empty(); });
}

}  // namespace tutti
