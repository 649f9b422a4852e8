/// Delays, reordering and failures.
#include "unit/run/faulty_transport.hpp"

#include <algorithm>

namespace tutti {

int FaultyTransport::begin(int slot, const Transfer& transfer) {
  return fails() ? faults_.error : inner_.begin(slot, transfer);
}

int FaultyTransport::poll(std::vector<int>& completed) {
  if (fails()) return faults_.error;
  if (const int error = inner_.poll(held_)) return error;
  std::shuffle(held_.begin(), held_.end(), random_);
  std::bernoulli_distribution holds_back(faults_.delay);
  std::vector<int> still_held;
  for (const int slot : held_) (holds_back(random_) ? still_held : completed).push_back(slot);
  held_ = std::move(still_held);
  return 0;
}

int FaultyTransport::copy(const Region& from, const Region& to) {
  return fails() ? faults_.error : inner_.copy(from, to);
}

void FaultyTransport::abandon() {
  abandoned_ = true;
  held_.clear();
  inner_.abandon();
}

}  // namespace tutti
