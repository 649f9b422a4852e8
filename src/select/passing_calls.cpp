/// The signatures of calls that pass.
#include "select/passing_calls.hpp"

#include <new>

namespace tutti {

void PassingCalls::let(Collective collective, Which which, bool is_numbered, std::uint32_t calls) {
  const auto set = [collective](std::uint32_t& bits, bool value) {
    bits = (bits & ~bit_of(collective)) | (value ? bit_of(collective) : 0);
  };
  set(by_signature_, which == Which::known);
  set(numbered_, is_numbered);
  let_[collective] = which == Which::none ? 0 : calls;
  plain_left(collective) = which == Which::all ? calls : 0;
  left_[collective] = let_[collective] - plain_left(collective);
}

std::uint32_t PassingCalls::stop(Collective collective) {
  const std::uint32_t passed = let_[collective] - left_[collective] - plain_left(collective);
  let_[collective] = left_[collective] = plain_left(collective) = 0;
  return (numbered_ & bit_of(collective)) != 0 ? passed : 0;
}

bool PassingCalls::knows(Collective collective, const CallSignature& signature) noexcept {
  if ((by_signature_ & bit_of(collective)) == 0) return true;
  Signatures* const all = signatures_[collective].get();
  if (all == nullptr) return false;
  const std::size_t place = all->place_of(signature);
  if (place != 0) all->latest = place;
  return place != 0;
}

bool PassingCalls::wants(Collective collective, const CallSignature& signature) const {
  const Signatures* const all = signatures_[collective].get();
  if (all == nullptr) return true;
  return all->count < all->known.size() && all->refused != signature &&
         all->place_of(signature) == 0;
}

/// Those of a collective; null if memory is lacking.
PassingCalls::Signatures* PassingCalls::open(Collective collective) noexcept {
  std::unique_ptr<Signatures>& all = signatures_[collective];
  if (all == nullptr) all.reset(new (std::nothrow) Signatures);
  return all.get();
}

void PassingCalls::add(Collective collective, const CallSignature& signature,
                       const std::string& text) noexcept {
  Signatures* const all = open(collective);
  if (all == nullptr || all->count == all->known.size()) return;
  try {
    all->texts[all->count] = text;
  } catch (const std::bad_alloc&) {
    return;
  }
  all->known[all->count++] = signature;
}

void PassingCalls::refuse(Collective collective, const CallSignature& signature) noexcept {
  Signatures* const all = open(collective);
  if (all != nullptr) all->refused = signature;
}

void PassingCalls::forget(Collective collective) {
  Signatures* const all = signatures_[collective].get();
  if (all == nullptr) return;
  all->count = 0;
  all->refused.reset();
}

void PassingCalls::follow(unsigned generation) {
  generation_ = generation;
  for (const Collective collective : all_collectives) forget(collective);
}

const std::string* PassingCalls::latest_text(Collective collective) const {
  const Signatures* const all = signatures_[collective].get();
  return all == nullptr || all->latest == 0 ? nullptr : &all->texts[all->latest - 1];
}

void PassingCalls::note_inspected(Collective collective) {
  Signatures* const all = signatures_[collective].get();
  if (all != nullptr) all->latest = 0;
}

}  // namespace tutti
