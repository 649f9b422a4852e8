/// Words and their sum.
#include "run/rma_notice.hpp"

#include <cstring>

namespace tutti {

namespace {

constexpr std::size_t sum_at = notice_words - 1;
constexpr std::size_t carried_at = sum_at - 1;

/// Of all words but the sum itself.
std::int64_t sum_of(std::span<const std::int64_t> words) {
  std::uint64_t sum = 0x9E3779B97F4A7C15;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == sum_at) continue;
    sum = (sum ^ static_cast<std::uint64_t>(words[i])) * 0xBF58476D1CE4E5B9;
    sum ^= sum >> 31;
  }
  return static_cast<std::int64_t>(sum);
}

std::int64_t pair_of(std::int64_t high, std::int64_t low) { return high << 32 | low; }
int low_of(std::int64_t word) { return static_cast<int>(word & 0xFFFFFFFF); }
int high_of(std::int64_t word) { return static_cast<int>(word >> 32); }

std::size_t words_for(std::size_t bytes) {
  return (bytes + sizeof(std::int64_t) - 1) / sizeof(std::int64_t);
}

}  // namespace

std::size_t write_notice(const RmaNotice& notice, std::span<const std::byte> carried,
                         NoticeSlot& slot) {
  const std::size_t words = notice_words + words_for(carried.size());
  slot = {notice.sequence,
          pair_of(notice.window, notice.root),
          notice.operation,
          notice.number,
          notice.displacement,
          notice.bytes,
          notice.specification,
          notice.combination,
          static_cast<std::int64_t>(carried.size())};
  if (!carried.empty()) std::memcpy(slot.data() + notice_words, carried.data(), carried.size());
  slot[sum_at] = sum_of(std::span(slot).first(words));
  return words;
}

std::optional<RmaNotice> read_notice(const std::int64_t* slot, std::int64_t sequence,
                                     NoticeSlot& copy) {
  // What the sender wrote before a word is seen by whoever has read the word.
  const auto word = [&](std::size_t at) { return __atomic_load_n(slot + at, __ATOMIC_ACQUIRE); };
  if (word(0) != sequence) return std::nullopt;
  const auto carried = static_cast<std::size_t>(low_of(word(carried_at)));
  if (carried > most_carried) return std::nullopt;
  const std::size_t words = notice_words + words_for(carried);
  for (std::size_t i = 0; i < words; ++i) copy[i] = word(i);
  if (copy[0] != sequence || low_of(copy[carried_at]) != static_cast<int>(carried) ||
      copy[sum_at] != sum_of(std::span(copy).first(words))) {
    return std::nullopt;
  }
  RmaNotice notice;
  notice.sequence = sequence;
  notice.window = high_of(copy[1]);
  notice.root = low_of(copy[1]);
  notice.operation = copy[2];
  notice.number = copy[3];
  notice.displacement = copy[4];
  notice.bytes = copy[5];
  notice.specification = copy[6];
  notice.combination = copy[7];
  notice.carried = low_of(copy[carried_at]);
  return notice;
}

std::int64_t to_word(const Specification& specification) {
  const auto algorithm = specification.algorithm - all_algorithms().data();
  const auto& parameters = specification.parameters;
  std::int64_t word = algorithm;
  word = word << 4 | static_cast<std::int64_t>(specification.order);
  word = word << 16 | std::min(parameters.k, 0xFFFF);
  word = word << 16 | std::min(parameters.parts, 0xFFFF);
  return word << 12 | parameters.carry;
}

Specification specification_from(std::int64_t word) {
  const auto take = [&](int bits) {
    const std::int64_t taken = word & ((std::int64_t{1} << bits) - 1);
    word >>= bits;
    return taken;
  };
  Specification specification;
  specification.parameters.carry = take(12);
  specification.parameters.parts = static_cast<int>(take(16));
  specification.parameters.k = static_cast<int>(take(16));
  specification.order = static_cast<OrderName>(take(4));
  specification.algorithm = &all_algorithms()[static_cast<std::size_t>(word)];
  return specification;
}

}  // namespace tutti
