/// What rules were derived from and what tuners measured: records of the report, and what later
/// runs begin with.
#include <algorithm>
#include <utility>

#include "api/report.hpp"
#include "api/selections.hpp"

namespace tutti {

namespace {

/// Cases of rules have other numbers than those of tuners.
constexpr int first_case = 1000;
static_assert(8 * size_classes <= first_case);
constexpr std::size_t max_cases = 1000;
constexpr double microsecond = 1e-6;
constexpr double nanosecond = 1e-9;

std::string cited(const RuleEvidence& evidence) {
  std::string text = evidence.source.empty() ? "rules" : "rules file " + evidence.source;
  return evidence.date.empty() ? text + " without a date" : text + ", " + evidence.date;
}

/// Of times in a unit of so many seconds.
template <class Time, class Interval>
void set_times(MeasuredCandidate& candidate, double unit, Time median,
               const std::optional<Interval>& interval) {
  candidate.median = static_cast<double>(median) * unit;
  if (!interval) return;
  candidate.least = static_cast<double>(interval->least) * unit;
  candidate.most = static_cast<double>(interval->most) * unit;
  candidate.confidence = interval->confidence;
}

MeasuredCandidate measured(const std::string& name, const std::optional<double>& median_us,
                           const std::optional<RuleInterval>& interval) {
  MeasuredCandidate candidate;
  candidate.name = name;
  if (median_us) set_times(candidate, microsecond, *median_us, interval);
  return candidate;
}

MeasuredCandidate measured(const Setting& setting, const CandidateEvidence& evidence) {
  MeasuredCandidate candidate;
  candidate.name = to_text(setting);
  candidate.state = name_of(evidence.state);
  candidate.why = explanation_of(evidence.state);
  candidate.calls = evidence.calls;
  if (evidence.calls > 0) set_times(candidate, nanosecond, evidence.median, evidence.interval);
  return candidate;
}

MeasuredCase measured(int id, SizeClass size_class, const TuningCase& known,
                      const std::vector<Setting>& candidates) {
  MeasuredCase all;
  all.id = id;
  all.min_bytes = size_class == 0 ? 0 : largest_of(size_class - 1) + 1;
  all.max_bytes = largest_of(size_class);
  const auto& kept = known.evidence();
  all.evidence = kept && !kept->date.empty() ? "kept from an earlier run, " + kept->date
                 : known.is_settled()        ? "this run"
                                             : "this run, not settled";
  all.reason = known.reason();
  all.selected = known.selected();
  all.explored = known.explored();
  all.exploring = static_cast<double>(known.lost()) * nanosecond;
  const std::vector<CandidateEvidence> evidence = known.measurements();
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    all.candidates.push_back(measured(candidates[i], evidence[i]));
  }
  // What an earlier run measured counts until this one has.
  const auto set_if_unknown = [&](int candidate, Nanoseconds time, const auto& interval) {
    MeasuredCandidate& one = all.candidates[index(candidate)];
    if (one.median < 0 && time > 0) set_times(one, nanosecond, time, interval);
  };
  if (kept) {
    set_if_unknown(0, kept->native, kept->native_interval);
    set_if_unknown(kept->candidate, kept->choice, kept->choice_interval);
  }
  return all;
}

}  // namespace

/// Requires that the call permits what the rule selects.
CaseOfCall Selections::add_case(const RuleSpan& span, Bytes least, const std::string& reason) {
  const Rule& rule = *span.rule;
  const RuleTimes& times = *span.times;
  std::vector<MeasuredCase>& cases = cases_[rule.collective];
  MeasuredCase known;
  known.id = first_case + static_cast<int>(cases.size());
  known.min_bytes = least;
  known.max_bytes = span.most == NumberRange::inf ? -1 : span.most;
  known.evidence = cited(rule.evidence);
  if (!rule.irregularity.is_all()) known.evidence += ", irregularity " + to_text(rule.irregularity);
  known.reason = reason;
  known.candidates.push_back(measured("native", times.native_us, times.native_interval_us));
  if (!rule.use.is_native()) {
    known.candidates.front().state = "slower";
    known.candidates.front().why = "the rule selects another one";
    known.candidates.push_back(
        measured(to_text(rule.use), times.choice_us, times.choice_interval_us));
    known.selected = 1;
  }
  known.candidates.back().state = "selected";
  known.candidates.back().why = "the rule selects it";
  const auto same = std::ranges::find_if(cases, [&](const MeasuredCase& one) {
    return one.min_bytes == known.min_bytes && one.max_bytes == known.max_bytes &&
           one.evidence == known.evidence && one.reason == known.reason;
  });
  if (same != cases.end()) return {same->id, same->selected, false};
  if (cases.size() == max_cases) return {};
  cases.push_back(known);
  return {known.id, known.selected, false};
}

void Selections::record_candidates() {
  if (!communicator_.is_reported() || communicator_.rank() != 0) return;
  if (std::exchange(has_recorded_candidates_, true)) return;
  attempt([&] {
    tuned.record_candidates();
    for (const auto& [collective, cases] : cases_) {
      record_tuning({communicator_.agreed().id, collective, communicator_.p(), 0, cases});
    }
  });
}

void TunedSelection::record_candidates() const {
  for (const std::shared_ptr<State>& state : states_) {
    TuningRecord record = {communicator_.agreed().id,
                           state->collective,
                           communicator_.p(),
                           state->tuner.lost() * nanosecond,
                           {}};
    for (const auto& [size_class, candidates] : state->candidates) {
      const TuningCase* const known = state->tuner.known(size_class);
      if (known == nullptr) continue;
      record.cases.push_back(
          measured(state->case_of(size_class), size_class, *known, candidates.settings));
    }
    if (!record.cases.empty()) record_tuning(std::move(record));
  }
}

Rules TunedSelection::learned() const {
  Rules found;
  for (const std::shared_ptr<State>& state : states_) {
    if (state->has_arrivals || !state->deferred.is_automatic || state->deferred.flat_only) continue;
    for (const auto& [size_class, candidates] : state->candidates) {
      const auto evidence = state->tuner.evidence(size_class);
      // An entry that holds as it was kept keeps its date. One that never ran stays as it is.
      if (evidence ? !evidence->date.empty() : !candidates.are_kept) continue;
      const Features features = nodes_.kept_features(state->collective, largest_of(size_class));
      const Setting use = evidence ? candidates.settings[index(evidence->candidate)] : Setting{};
      learn(found, learned_rule(features, use, evidence.value_or(TuningEvidence{})));
    }
  }
  return found;
}

}  // namespace tutti
