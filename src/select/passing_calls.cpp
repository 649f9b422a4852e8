/// The signatures of calls that pass.
#include "select/passing_calls.hpp"

#include <algorithm>
#include <new>

namespace tutti {

void PassingCalls::let(Collective collective, Which which, bool is_counted, std::uint32_t calls) {
  const auto at = static_cast<std::size_t>(collective);
  const std::uint32_t bit = 1U << at;
  by_signature_ = (by_signature_ & ~bit) | (which == Which::known ? bit : 0);
  counted_ = (counted_ & ~bit) | (is_counted ? bit : 0);
  let_[at] = left_[at] = which == Which::none ? 0 : calls;
}

void PassingCalls::add(Collective collective, const CallSignature& signature,
                       const std::string& text) noexcept {
  std::unique_ptr<Known>& known = known_[static_cast<std::size_t>(collective)];
  try {
    if (known == nullptr) known = std::make_unique<Known>();
    const auto end = known->signatures.begin() + static_cast<std::ptrdiff_t>(known->count);
    if (std::find(known->signatures.begin(), end, signature) != end) return;
    known->texts[known->next] = text;
  } catch (const std::bad_alloc&) {
    return;
  }
  known->signatures[known->next] = signature;
  known->next = (known->next + 1) % known->signatures.size();
  known->count = std::min(known->count + 1, known->signatures.size());
}

bool PassingCalls::knows(Collective collective, const CallSignature& signature) noexcept {
  Known* const known = known_[static_cast<std::size_t>(collective)].get();
  if (known == nullptr) return false;
  for (std::size_t i = 0; i < known->count; ++i) {
    if (known->signatures[i] != signature) continue;
    known->latest = i + 1;
    return true;
  }
  return false;
}

std::uint32_t PassingCalls::stop(Collective collective) {
  const auto at = static_cast<std::size_t>(collective);
  const std::uint32_t passed = let_[at] - left_[at];
  let_[at] = left_[at] = 0;
  return passed;
}

void PassingCalls::forget(Collective collective) {
  Known* const known = known_[static_cast<std::size_t>(collective)].get();
  if (known != nullptr) known->count = known->next = 0;
}

void PassingCalls::follow(unsigned generation) {
  generation_ = generation;
  for (const Collective collective : all_collectives) forget(collective);
}

const std::string* PassingCalls::latest_text(Collective collective) const {
  const Known* const known = known_[static_cast<std::size_t>(collective)].get();
  return known == nullptr || known->latest == 0 ? nullptr : &known->texts[known->latest - 1];
}

void PassingCalls::note_inspected(Collective collective) {
  Known* const known = known_[static_cast<std::size_t>(collective)].get();
  if (known != nullptr) known->latest = 0;
}

}  // namespace tutti
