/// Writes and reads summaries; one description of the fields serves both.
#include "report/summary_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

namespace tutti {

namespace {

/// Appends the fields that it visits.
class Writer {
 public:
  std::vector<std::byte> bytes;

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
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
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
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

template <class Stream, class Value>
void describe(Stream& stream, Value& value) requires
    std::is_arithmetic_v<std::remove_const_t<Value>> || std::is_enum_v<std::remove_const_t<Value>> {
  stream.field(value);
}

template <class Stream, class Element>
void describe_all(Stream& stream, Element& elements) {
  const std::size_t count = stream.length(elements.size());
  if constexpr (!std::is_const_v<Element>) elements.resize(count);
  for (auto& element : elements) describe(stream, element);
}

void describe(Writer& writer, const std::string& text) { describe_all(writer, text); }
void describe(Reader& reader, std::string& text) { describe_all(reader, text); }

void describe(Writer& writer, const std::set<std::string>& texts) {
  writer.length(texts.size());
  for (const std::string& text : texts) describe(writer, text);
}
void describe(Reader& reader, std::set<std::string>& texts) {
  for (std::size_t left = reader.length(0); left > 0; --left) {
    std::string text;
    describe(reader, text);
    texts.insert(std::move(text));
  }
}

void describe(Writer& writer, const Quantiles& quantiles) {
  describe_all(writer, quantiles.values());
  if (!quantiles.is_empty()) writer.field(quantiles.max());
}
void describe(Reader& reader, Quantiles& quantiles) {
  std::vector<double> values;
  describe_all(reader, values);
  double max = 0;
  if (values.empty()) return;
  reader.field(max);
  quantiles = Quantiles::restored(std::move(values), max);
}

template <class Stream, class... Fields>
void describe_each(Stream& stream, Fields&... fields) {
  (describe(stream, fields), ...);
}

template <class Stream, class Times>
requires std::is_same_v<std::remove_const_t<Times>, CallTimes>
void describe(Stream& stream, Times& call) {
  describe_each(stream, call.call, call.root, call.begin);
  describe_all(stream, call.delays);
  describe_all(stream, call.elapsed);
  describe_all(stream, call.ahead);
  describe_all(stream, call.progress_hint);
}

template <class Stream, class Pattern>
requires std::is_same_v<std::remove_const_t<Pattern>, ArrivalPattern>
void describe(Stream& stream, Pattern& pattern) {
  describe_each(stream, pattern.communicator, pattern.waited);
  describe_all(stream, pattern.world);
  describe_all(stream, pattern.calls);
}

template <class Stream, class Times>
requires std::is_same_v<std::remove_const_t<Times>, RankTimes>
void describe(Stream& stream, Times& times) {
  describe_each(stream, times.rank, times.world, times.arrival, times.exit, times.ahead,
                times.progress_hint);
}

template <class Stream, class Calls>
requires std::is_same_v<std::remove_const_t<Calls>, CallsOfCase>
void describe(Stream& stream, Calls& calls) {
  describe_each(stream, calls.communicator, calls.of.id, calls.of.candidate, calls.of.explores,
                calls.calls);
}

template <class Stream, class Candidate>
requires std::is_same_v<std::remove_const_t<Candidate>, MeasuredCandidate>
void describe(Stream& stream, Candidate& measured) {
  describe_each(stream, measured.name, measured.calls, measured.median, measured.least,
                measured.most, measured.confidence, measured.state, measured.why);
}

template <class Stream, class Case>
requires std::is_same_v<std::remove_const_t<Case>, MeasuredCase>
void describe(Stream& stream, Case& known) {
  describe_each(stream, known.id, known.min_bytes, known.max_bytes, known.evidence, known.reason,
                known.selected, known.explored, known.exploring);
  describe_all(stream, known.candidates);
}

template <class Stream, class Record>
requires std::is_same_v<std::remove_const_t<Record>, TuningRecord>
void describe(Stream& stream, Record& record) {
  describe_each(stream, record.communicator, record.collective, record.p, record.exploring);
  describe_all(stream, record.cases);
}

/// `Calls` is SiteCalls for the reader and const for the writer; likewise below.
template <class Stream, class Sized>
requires std::is_same_v<std::remove_const_t<Sized>, SizedCalls>
void describe(Stream& stream, Sized& sized) {
  describe_each(stream, sized.p, sized.size_class, sized.calls, sized.bytes, sized.irregularity_sum,
                sized.seconds, sized.root, sized.root_calls);
}

template <class Stream, class Calls>
requires std::is_same_v<std::remove_const_t<Calls>, SiteCalls>
void describe(Stream& stream, Calls& calls) {
  describe_each(stream, calls.collective, calls.site, calls.decision, calls.calls, calls.bytes,
                calls.irregularity_sum, calls.irregularity_max, calls.root_seconds,
                calls.other_sites, calls.measured, calls.elapsed_sum, calls.timed, calls.run_sum,
                calls.run_max, calls.moving_sum, calls.spread, calls.split, calls.parts.waiting,
                calls.parts.held, calls.parts.moving, calls.patterns, calls.pattern);
  describe_all(stream, calls.cases);
  describe_all(stream, calls.sizes);
}

template <class Stream, class Call>
requires std::is_same_v<std::remove_const_t<Call>, PendingCall>
void describe(Stream& stream, Call& call) {
  describe_each(stream, call.call, call.ranks, call.first_arrival, call.last_arrival,
                call.last_exit, call.elapsed_sum, call.at, call.root);
  describe_all(stream, call.others);
  describe_all(stream, call.times);
}

template <class Stream, class Tracked>
requires std::is_same_v<std::remove_const_t<Tracked>, PendingTrack>
void describe(Stream& stream, Tracked& track) {
  describe_each(stream, track.communicator, track.collective, track.p, track.node);
  describe_all(stream, track.calls);
}

template <class Stream, class Other>
requires std::is_same_v<std::remove_const_t<Other>, OtherCalls>
void describe(Stream& stream, Other& other) { describe_each(stream, other.function, other.calls); }

template <class Stream, class Whole>
requires std::is_same_v<std::remove_const_t<Whole>, Summary>
void describe(Stream& stream, Whole& summary) {
  describe_each(stream, summary.destination, summary.ranks, summary.nodes, summary.clock_error,
                summary.clock_drift, summary.seconds_sum, summary.seconds_max, summary.wall_sum);
  describe_all(stream, summary.others);
  describe_all(stream, summary.calls);
  describe_all(stream, summary.sites);
  describe_all(stream, summary.tracks);
  describe_all(stream, summary.tuning.all);
  describe_each(stream, summary.tuning.left_out, summary.tuning.left_out_exploring);
}

bool is_sound(const PendingCall& call, int p, const Summary& summary) {
  if (call.at != PendingCall::none && call.at >= summary.calls.size()) return false;
  if (call.root != no_rank && (call.root < 0 || call.root >= p)) return false;
  for (const std::uint32_t other : call.others) {
    if (other >= summary.sites.size()) return false;
  }
  return true;
}

bool is_sound(const ArrivalPattern& pattern) {
  const std::size_t p = pattern.world.size();
  for (const CallTimes& call : pattern.calls) {
    for (const std::vector<float>* by_rank :
         {&call.delays, &call.elapsed, &call.ahead, &call.progress_hint}) {
      if (by_rank->size() != p) return false;
    }
    if (call.root != no_rank && (call.root < 0 || static_cast<std::size_t>(call.root) >= p))
      return false;
  }
  return true;
}

/// True if all indexes are valid.
bool is_sound(const Summary& summary) {
  for (const SiteCalls& calls : summary.calls) {
    if (!is_sound(calls.pattern)) return false;
  }
  for (const TuningRecord& record : summary.tuning.all) {
    const auto is_valid = [](const MeasuredCase& known) {
      return known.selected >= 0 &&
             static_cast<std::size_t>(known.selected) < known.candidates.size();
    };
    if (!std::all_of(record.cases.begin(), record.cases.end(), is_valid)) return false;
  }
  for (const PendingTrack& track : summary.tracks) {
    for (const PendingCall& call : track.calls) {
      if (!is_sound(call, track.p, summary)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::byte> to_bytes(const Summary& summary) {
  Writer writer;
  describe(writer, summary);
  return std::move(writer.bytes);
}

std::optional<Summary> summary_from_bytes(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  Summary summary;
  describe(reader, summary);
  if (reader.failed || !reader.at_end() || !is_sound(summary)) return std::nullopt;
  return summary;
}

}  // namespace tutti
