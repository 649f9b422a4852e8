/// Joins what was measured on several communicators.
#include "report/tuning.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

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
  } else if (all.size() < cases_at_most) {
    all.push_back(more);
  }
}

}  // namespace tutti
