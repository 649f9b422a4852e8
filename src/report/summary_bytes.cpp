/// Writes and reads summaries; one description of the fields serves both.
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "report/summary.hpp"

namespace tutti {

namespace {

/// Appends the fields that it visits.
class Writer {
 public:
  std::vector<std::byte> bytes;

  template <class T>
  void field(const T& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }
  /// Writes the number of elements and returns it.
  std::size_t length(std::size_t count) {
    field(static_cast<std::uint64_t>(count));
    return count;
  }
};

/// Fills the fields that it visits; sets `failed` if there are too few bytes.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool failed = false;

  template <class T>
  void field(T& value) {
    failed = failed || bytes_.size() < sizeof value;
    if (failed) return;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
  }
  /// Reads a number of elements; each takes at least one byte.
  std::size_t length(std::size_t) {
    std::uint64_t count = 0;
    field(count);
    failed = failed || count > bytes_.size();
    return failed ? 0 : static_cast<std::size_t>(count);
  }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

template <class Object, class Wanted>
concept Is = std::is_same_v<std::remove_const_t<Object>, Wanted>;

// The fields of each structure that holds lists, as references; constant where the object is.

auto fields(Is<CallTimes> auto& call) {
  return std::tie(call.call, call.root, call.begin, call.delays, call.elapsed, call.ahead,
                  call.progress_hint);
}

auto fields(Is<ArrivalPattern> auto& pattern) {
  return std::tie(pattern.communicator, pattern.waited, pattern.world, pattern.calls);
}

auto fields(Is<MeasuredCandidate> auto& measured) {
  return std::tie(measured.name, measured.calls, measured.median, measured.least, measured.most,
                  measured.confidence, measured.state, measured.why);
}

auto fields(Is<MeasuredCase> auto& known) {
  return std::tie(known.id, known.min_bytes, known.max_bytes, known.evidence, known.reason,
                  known.selected, known.explored, known.exploring, known.candidates);
}

auto fields(Is<TuningRecord> auto& record) {
  return std::tie(record.communicator, record.collective, record.p, record.exploring, record.cases);
}

auto fields(Is<TuningRecords> auto& records) {
  return std::tie(records.all, records.left_out, records.left_out_exploring);
}

auto fields(Is<SizedCalls> auto& sized) {
  return std::tie(sized.p, sized.size_class, sized.calls, sized.bytes, sized.irregularity_sum,
                  sized.seconds, sized.roots);
}

auto fields(Is<Quantiles> auto& quantiles) {
  return std::tie(quantiles.values, quantiles.max, quantiles.limit);
}

auto fields(Is<SiteCalls> auto& calls) {
  return std::tie(calls.collective, calls.site, calls.decision, calls.calls, calls.bytes,
                  calls.irregularity_sum, calls.irregularity_max, calls.seconds, calls.cases,
                  calls.sizes, calls.other_sites, calls.measured, calls.elapsed_sum, calls.timed,
                  calls.run_sum, calls.run_max, calls.moving_sum, calls.spread, calls.split,
                  calls.parts, calls.patterns, calls.pattern);
}

auto fields(Is<PendingCall> auto& call) {
  return std::tie(call.call, call.ranks, call.first_arrival, call.last_arrival, call.last_exit,
                  call.elapsed_sum, call.at, call.root, call.others, call.times);
}

auto fields(Is<PendingTrack> auto& track) {
  return std::tie(track.communicator, track.collective, track.p, track.node, track.calls);
}

auto fields(Is<NamedCalls> auto& named) { return std::tie(named.name, named.calls); }

auto fields(Is<Summary> auto& summary) {
  return std::tie(summary.destination, summary.ranks, summary.nodes, summary.clock_error,
                  summary.clock_drift, summary.seconds_sum, summary.seconds_max, summary.wall_sum,
                  summary.others, summary.calls, summary.sites, summary.tracks, summary.tuning);
}

// Writes or reads a value: a plain one by its bytes, a list, or an object with fields.

template <class Stream, class Value>
void visit(Stream& stream, Value& value) {
  if constexpr (std::is_trivially_copyable_v<Value>) {
    stream.field(value);
  } else if constexpr (requires { value.size(); }) {
    const std::size_t count = stream.length(value.size());
    if constexpr (!std::is_const_v<Value>) value.resize(count);
    for (auto& element : value) visit(stream, element);
  } else {
    std::apply([&](auto&... each) { (visit(stream, each), ...); }, fields(value));
  }
}

}  // namespace

std::vector<std::byte> to_bytes(const Summary& summary) {
  Writer writer;
  visit(writer, summary);
  return std::move(writer.bytes);
}

std::optional<Summary> summary_from_bytes(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Summary summary;
  visit(reader, summary);
  if (reader.failed || !reader.at_end()) return std::nullopt;
  return summary;
}

}  // namespace tutti
