/// Counts what measured candidates saved, and what they could.
#include "report/tuning_content.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

bool is_measured(const MeasuredCandidate& candidate) { return candidate.median >= 0; }

/// The fastest measured candidate; that of the lowest number if several are. -1: none.
int fastest_of(const MeasuredCase& measured) {
  int fastest = -1;
  for (int i = 0; i < static_cast<int>(measured.candidates.size()); ++i) {
    const auto& candidate = measured.candidates[static_cast<std::size_t>(i)];
    if (!is_measured(candidate)) continue;
    const bool is_faster =
        fastest < 0 ||
        candidate.median < measured.candidates[static_cast<std::size_t>(fastest)].median;
    if (is_faster) fastest = i;
  }
  return fastest;
}

/// One case with the calls of all sites that it decided.
class CaseAccount {
 public:
  CaseAccount(const TuningRecord& record, const MeasuredCase& measured)
      : fastest_(fastest_of(measured)) {
    case_.collective = record.collective;
    case_.ranks = record.p;
    case_.measured = measured;
  }

  void add(const std::string& site, const CallsOfCase& calls) {
    const auto& candidates = case_.measured.candidates;
    const auto at = static_cast<std::size_t>(calls.of.candidate);
    if (calls.of.candidate < 0 || at >= candidates.size()) return;
    case_.calls += calls.calls;
    add_site(site, calls.calls);
    if (calls.of.explores || !is_measured(candidates[at])) return;
    const auto count = static_cast<double>(calls.calls);
    const MeasuredCandidate& ran = candidates[at];
    if (at != 0) add_saved(count, candidates[0], ran);
    const auto& best = candidates[static_cast<std::size_t>(fastest_)];
    missed_ += count * (ran.median - best.median);
  }

  [[nodiscard]] ReportedCase done() {
    if (has_intervals_) case_.interval = interval_;
    if (missed_ <= 0) return std::move(case_);
    const bool is_selected = fastest_ == case_.measured.selected;
    const std::string& why = case_.measured.candidates[static_cast<std::size_t>(fastest_)].why;
    case_.on_table = {fastest_, missed_, is_selected ? "calls before it was selected" : why};
    return std::move(case_);
  }

 private:
  void add_saved(double count, const MeasuredCandidate& native, const MeasuredCandidate& ran) {
    const bool has_both = native.confidence > 0 && ran.confidence > 0;
    has_intervals_ = has_intervals_ && has_both;
    if (!is_measured(native)) return;
    case_.saved += count * (native.median - ran.median);
    interval_.least += count * (native.least - ran.most);
    interval_.most += count * (native.most - ran.least);
  }

  void add_site(const std::string& name, std::int64_t calls) {
    const auto found = std::find_if(case_.sites.begin(), case_.sites.end(),
                                    [&](const auto& site) { return site.name == name; });
    if (found != case_.sites.end()) {
      found->calls += calls;
    } else {
      case_.sites.push_back({name, calls});
    }
  }

  ReportedCase case_;
  int fastest_;
  double missed_ = 0;
  bool has_intervals_ = true;
  SavedInterval interval_;
};

/// Native time, as if all calls of the case had run the MPI's own; else the selected one's.
double weight_of(const ReportedCase& one) {
  const auto& candidates = one.measured.candidates;
  const auto& selected = candidates[static_cast<std::size_t>(one.measured.selected)];
  const double median = std::max({0.0, candidates[0].median, selected.median});
  return median * static_cast<double>(one.calls) * one.ranks;
}

using CaseKey = std::tuple<std::uint64_t, Collective, int>;

}  // namespace

ReportedTuning tuning_of(const Summary& summary, int ranks) {
  ReportedTuning tuning;
  const auto share = [ranks](int p) { return ranks > 0 ? static_cast<double>(p) / ranks : 1.0; };
  std::map<CaseKey, CaseAccount> accounts;
  for (const TuningRecord& record : summary.tuning.all) {
    tuning.exploring += record.exploring * share(record.p);
    for (const MeasuredCase& measured : record.cases) {
      accounts.try_emplace({record.communicator, record.collective, measured.id}, record, measured);
    }
  }
  tuning.left_out = summary.tuning.left_out;
  if (ranks > 0) tuning.exploring += summary.tuning.left_out_exploring / ranks;
  for (const SiteCalls& calls : summary.calls) {
    for (const CallsOfCase& of_case : calls.cases) {
      const auto found = accounts.find({of_case.communicator, calls.collective, of_case.of.id});
      if (found != accounts.end()) found->second.add(calls.site, of_case);
    }
  }
  for (auto& [key, account] : accounts) {
    ReportedCase one = account.done();
    if (one.calls == 0) continue;
    tuning.saved += one.saved * share(one.ranks);
    tuning.cases.push_back(std::move(one));
  }
  std::stable_sort(tuning.cases.begin(), tuning.cases.end(),
                   [](const auto& a, const auto& b) { return weight_of(a) > weight_of(b); });
  return tuning;
}

}  // namespace tutti
