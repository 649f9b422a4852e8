/// What tuners measured, as records of the report.
#include "api/communicator.hpp"
#include "api/report.hpp"
#include "api/tuned_selection.hpp"

namespace tutti {

namespace {

constexpr double nanosecond = 1e-9;

MeasuredCandidate measured(const Setting& setting, const CandidateEvidence& evidence) {
  MeasuredCandidate candidate;
  candidate.name = to_text(setting);
  candidate.state = name_of(evidence.state);
  candidate.why = explanation_of(evidence.state);
  candidate.calls = evidence.calls;
  if (evidence.calls > 0) candidate.median = static_cast<double>(evidence.median) * nanosecond;
  if (evidence.interval) {
    candidate.least = static_cast<double>(evidence.interval->least) * nanosecond;
    candidate.most = static_cast<double>(evidence.interval->most) * nanosecond;
    candidate.confidence = evidence.interval->confidence;
  }
  return candidate;
}

MeasuredCase measured(SizeClass size_class, const TuningCase& known,
                      const std::vector<Setting>& candidates) {
  MeasuredCase all;
  all.id = size_class;
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
  all.candidates.front().name = "native";
  return all;
}

}  // namespace

void TunedSelection::record_candidates() const {
  for (const std::shared_ptr<State>& state : states_) {
    if (state == nullptr) continue;
    TuningRecord record = {communicator_.agreement().id,
                           state->collective,
                           communicator_.p(),
                           state->tuner.lost() * nanosecond,
                           {}};
    for (const auto& [size_class, candidates] : state->candidates) {
      const TuningCase* known = state->tuner.known(size_class);
      if (known != nullptr) record.cases.push_back(measured(size_class, *known, candidates.all));
    }
    if (!record.cases.empty()) record_tuning(std::move(record));
  }
}

}  // namespace tutti
