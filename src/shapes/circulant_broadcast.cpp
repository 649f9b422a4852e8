/// Derives the classes of parts that a position receives from those of its senders.
#include "shapes/circulant_broadcast.hpp"

#include <algorithm>

#include "core/index.hpp"
#include "shapes/circulant.hpp"

namespace tutti {

namespace {

bool contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

CirculantBroadcast::CirculantBroadcast(int p, int parts)
    : p_(p), parts_(parts), skips_(circulant_skips(p)), classes_(index(p)) {
  const int q = phase_rounds();
  rounds_ = p == 1 ? 0 : parts - 1 + q;
  idle_ = p == 1 ? 0 : (q - rounds_ % q) % q;
  own_.assign(index(p), q);
  owners_.resize(index(q));
  // The smallest skip on the path is that of the remainder without the largest one.
  for (Position v = 1, k = 0; v < p; ++v) {
    while (k + 1 < q && skips_[index(k + 1)] <= v) ++k;
    const Position rest = v - skips_[index(k)];
    own_[index(v)] = rest == 0 ? k : own_[index(rest)];
    owners_[index(own_[index(v)])].push_back(v);
  }
}

int CirculantBroadcast::skip(int round) const {
  return skips_[index((round + idle_) % phase_rounds())];
}

bool CirculantBroadcast::is_own_in(int wanted, int after, int last) const {
  if (last < 0) return is_own_in(wanted, after + p_, last + p_);
  if (after < -1) return is_own_in(wanted, after + p_, p_ - 1) || is_own_in(wanted, -1, last);
  const std::vector<int>& owners = owners_[index(wanted)];
  const auto next = std::upper_bound(owners.begin(), owners.end(), after);
  return next != owners.end() && *next <= last;
}

const std::vector<int>& CirculantBroadcast::classes(Position position, int count) {
  std::vector<int>& known = classes_[index(position)];
  while (static_cast<int>(known.size()) < count) {
    known.push_back(choose(position, static_cast<int>(known.size())));
  }
  return known;
}

int CirculantBroadcast::choose(Position position, int round) {
  const int own = own_class(position);
  const int skip = skips_[index(round)];
  const Position sender = (position - skip + p_) % p_;
  if (sender == 0 && own == round) return own;
  static const std::vector<int> nothing;
  const std::vector<int>& senders = sender == 0 ? nothing : classes(sender, round);
  const std::vector<int>& had = classes_[index(position)];
  // More rounds may be known than have passed by now.
  const auto senders_end = senders.begin() + (sender == 0 ? 0 : round);
  const auto can_be = [&](int wanted) {
    if (contains(had, wanted)) return false;
    const bool received = std::find(senders.begin(), senders_end, wanted) != senders_end;
    if (wanted == own) return sender != 0 && own_class(sender) == own && received;
    return sender == 0 || own_class(sender) == wanted || received;
  };
  int fallback = -1;
  for (int wanted = phase_rounds() - 1; wanted >= 0; --wanted) {
    if (!can_be(wanted)) continue;
    if (is_own_in(wanted, position - skips_[index(round + 1)], position - skip)) return wanted;
    fallback = std::max(fallback, wanted);
  }
  return fallback;
}

std::vector<int> CirculantBroadcast::received(Position position) {
  std::vector<int> parts(index(rounds_), -1);
  if (position == 0 || rounds_ == 0) return parts;
  const int q = phase_rounds();
  const std::vector<int>& of_phase = classes(position, q);
  const int own = own_class(position);
  bool has_last = false;
  for (int round = 0; round < rounds_; ++round) {
    const int at = round + idle_;
    const int wanted = of_phase[index(at % q)];
    const int part = wanted + q * (at / q) - (wanted == own ? 0 : q) - idle_;
    // There are no parts beyond the last one, but the last one itself may still be missing.
    if (part < 0 || (part >= parts_ - 1 && has_last)) continue;
    has_last = has_last || part >= parts_ - 1;
    parts[index(round)] = std::min(part, parts_ - 1);
  }
  return parts;
}

}  // namespace tutti
