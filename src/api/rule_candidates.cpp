/// What rules were derived from, as records of the report.
#include "api/report.hpp"
#include "api/rule_selection.hpp"

namespace tutti {

namespace {

/// Cases of rules have other numbers than size classes.
constexpr int first_case = 1000;
constexpr std::size_t max_cases = 1000;
constexpr double microsecond = 1e-6;

std::string cited(const RuleEvidence& evidence) {
  std::string text = evidence.source.empty() ? "rules" : "rules file " + evidence.source;
  return evidence.date.empty() ? text + " without a date" : text + ", " + evidence.date;
}

MeasuredCandidate measured(const std::string& name, const std::optional<double>& median_us) {
  MeasuredCandidate candidate;
  candidate.name = name;
  if (median_us) candidate.median = *median_us * microsecond;
  return candidate;
}

void select(MeasuredCandidate& candidate) {
  candidate.state = "selected";
  candidate.why = "the rule selects it";
}

}  // namespace

/// None if the call does not permit what the rule selects: then `text` does not begin with it.
CaseOfCall RuleSelection::add_case(const Rule& rule, Bytes least, Bytes most,
                                   const std::string& text) {
  std::vector<MeasuredCase>& cases = cases_[rule.collective];
  const std::string name = to_text(rule.use);
  if (!text.starts_with(name + ": rules: ") || cases.size() == max_cases) return {};
  MeasuredCase known;
  known.id = first_case + static_cast<int>(cases.size());
  known.min_bytes = least;
  known.max_bytes = most == NumberRange::inf ? -1 : most;
  known.evidence = cited(rule.evidence);
  known.reason = text.substr(name.size() + 2);
  known.candidates.push_back(measured("native", rule.evidence.native_us));
  if (!rule.use.is_native()) {
    known.candidates.front().state = "slower";
    known.candidates.front().why = "the rule selects another one";
    known.candidates.push_back(measured(name, rule.evidence.choice_us));
    known.selected = 1;
  }
  select(known.candidates.back());
  cases.push_back(known);
  return {known.id, known.selected, false};
}

void RuleSelection::record_candidates() const {
  for (const auto& [collective, cases] : cases_) {
    record_tuning({communicator_.agreement().id, collective, communicator_.p(), 0, cases});
  }
}

}  // namespace tutti
