/// Implements memory of symbols.
#include "verify/byte_content.hpp"

#include <algorithm>

namespace tutti {

std::vector<ByteSymbols>::const_iterator ByteContent::after(Bytes byte) const {
  return std::ranges::upper_bound(ranges_, byte, {}, &ByteSymbols::end);
}

Bytes ByteContent::read(ByteRange range, std::vector<ByteSymbols>& symbols) const {
  Bytes at = range.begin;
  for (auto next = after(at); at < range.end; ++next) {
    if (next == ranges_.end() || next->begin > at) return at;
    ByteSymbols part = part_of(*next, range);
    at = part.end;
    const Bytes start = symbols.empty() ? 0 : symbols.back().end;
    part.end = start + part.bytes();
    part.begin = start;
    symbols.push_back(part);
  }
  return none;
}

std::vector<ByteSymbols>::iterator ByteContent::erase(ByteRange range) {
  auto first = ranges_.begin() + (after(range.begin) - ranges_.cbegin());
  auto last = first;
  while (last != ranges_.end() && last->begin < range.end) ++last;
  if (first == last) return first;
  const ByteSymbols low = part_of(*first, {first->begin, range.begin});
  const ByteSymbols high = part_of(*(last - 1), {range.end, (last - 1)->end});
  first = ranges_.erase(first, last);
  if (high.begin < high.end) first = ranges_.insert(first, high);
  if (low.begin < low.end) first = ranges_.insert(first, low) + 1;
  return first;
}

void ByteContent::write(ByteRange range, const std::vector<ByteSymbols>& message, Bytes from) {
  auto at = erase(range);
  const Bytes shift = range.begin - from;
  const ByteRange wanted = {from, from + range.bytes()};
  auto next = std::ranges::upper_bound(message, from, {}, &ByteSymbols::end);
  for (; next != message.end() && next->begin < wanted.end; ++next) {
    ByteSymbols part = part_of(*next, wanted);
    part.begin += shift;
    part.end += shift;
    if (at != ranges_.begin()) {
      ByteSymbols& last = *(at - 1);
      if (last.end == part.begin && last.origin + last.bytes() == part.origin &&
          last.set == part.set && last.input == part.input) {
        last.end = part.end;
        continue;
      }
    }
    at = ranges_.insert(at, part) + 1;
  }
}

}  // namespace tutti
