/// The signatures of calls that pass, and notes on them.
#include "select/passing_calls.hpp"

#include <new>

namespace tutti {

void PassingCalls::let(Collective collective, Which which, bool is_numbered, std::uint32_t calls) {
  which_[collective] = which;
  is_numbered_[collective] = is_numbered;
  if (which == Which::none || (which == Which::noted && open(collective) == nullptr)) calls = 0;
  if (which == Which::noted) calls = std::min(calls, std::uint32_t{max_notes});
  if (Signatures* const all = signatures_[collective].get()) all->pass = {};
  let_[collective] = calls;
  plain_left(collective) = which == Which::all ? calls : 0;
  left_[collective] = calls - plain_left(collective);
}

PassedCalls PassingCalls::stop(Collective collective) {
  PassedCalls passed;
  if (is_numbered_[collective]) {
    passed.calls = let_[collective] - left_[collective] - plain_left(collective);
    if (is_noted(collective) && passed.calls > 0) {
      passed.notes = std::span(signatures_[collective]->notes).first(passed.calls);
    }
  }
  let_[collective] = left_[collective] = plain_left(collective) = 0;
  return passed;
}

bool PassingCalls::begin_known(Collective collective, const CallSignature& signature) noexcept {
  Signatures* const all = signatures_[collective].get();
  if (all == nullptr) return false;
  const std::size_t found = all->find(signature);
  const std::size_t call = is_noted(collective) ? passed(collective) : 0;
  if (found == all->count || !all->pass[found][call]) return false;
  all->latest = found;
  if (is_noted(collective)) all->notes[call] = {all->sizes[found]};
  return true;
}

void PassingCalls::note(Collective collective, double began, double ended) {
  PassedCalls::Note& note = signatures_[collective]->notes[passed(collective) - 1];
  note.elapsed = static_cast<Nanoseconds>((ended - began) * 1e9);
  note.ended = ended;
}

bool PassingCalls::wants(Collective collective, const CallSignature& signature) const {
  const Signatures* const all = signatures_[collective].get();
  if (all == nullptr) return true;
  return all->count < all->known.size() && all->refused != signature &&
         all->find(signature) == all->count;
}

/// Those of a collective; null if memory is lacking.
PassingCalls::Signatures* PassingCalls::open(Collective collective) noexcept {
  std::unique_ptr<Signatures>& all = signatures_[collective];
  if (all == nullptr) all.reset(new (std::nothrow) Signatures);
  return all.get();
}

void PassingCalls::add(Collective collective, const CallSignature& signature,
                       const CallSize& size) noexcept {
  Signatures* const all = open(collective);
  if (all == nullptr || all->count == all->known.size()) return;
  all->known[all->count] = signature;
  all->sizes[all->count] = size;
  all->pass[all->count].reset();
  ++all->count;
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

void PassingCalls::forget_if_full(Collective collective) {
  const Signatures* const all = signatures_[collective].get();
  if (all != nullptr && all->count == all->known.size()) forget(collective);
}

void PassingCalls::follow(unsigned generation) {
  generation_ = generation;
  for (const Collective collective : all_collectives) forget(collective);
}

const CallSize* PassingCalls::latest(Collective collective) const {
  const Signatures* const all = signatures_[collective].get();
  return all == nullptr || !all->latest ? nullptr : &all->sizes[*all->latest];
}

void PassingCalls::note_inspected(Collective collective) {
  Signatures* const all = signatures_[collective].get();
  if (all != nullptr) all->latest.reset();
}

}  // namespace tutti
