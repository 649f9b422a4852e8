/// What one rank tells another whose memory it has reached, as words that prove themselves whole.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "algorithms/algorithms.hpp"

namespace tutti {

/// One notification of an operation, with all that its receiver needs to take part in it.
struct RmaNotice {
  std::int64_t sequence = 0;  ///< among those from this sender to this receiver, from 1 on
  Rank root = 0;
  int window = 0;                 ///< its number, the same on all ranks
  std::int64_t operation = 0;     ///< among all of the root, from 0 on
  std::int64_t number = 0;        ///< among those of the root on this window, from 1 on
  std::int64_t displacement = 0;  ///< in the units of each rank
  Bytes bytes = 0;                ///< of the vector, or of one rank's block
  std::int64_t specification = 0;
  std::int64_t combination = 0;  ///< operation and type, where one combines
  int carried = 0;               ///< bytes behind it
  friend bool operator==(const RmaNotice&, const RmaNotice&) = default;
};

inline constexpr std::size_t notice_words = 10;
inline constexpr std::size_t carried_words = most_carried / sizeof(std::int64_t);
using NoticeSlot = std::array<std::int64_t, notice_words + carried_words>;

/// Writes a notice and what it carries. Words may arrive in any sequence, each of them whole: the
/// last one of the notice is a sum over all others. Returns how many there are.
std::size_t write_notice(const RmaNotice& notice, std::span<const std::byte> carried,
                         NoticeSlot& slot);
/// The notice of that sequence, once all its words have arrived; `slot` may change meanwhile.
/// `copy` then holds its words, after `notice_words` those that it carries.
[[nodiscard]] std::optional<RmaNotice> read_notice(const std::int64_t* slot, std::int64_t sequence,
                                                   NoticeSlot& copy);

/// A specification of a one-sided collective in one word, for ranks of the same build.
[[nodiscard]] std::int64_t to_word(const Specification& specification);
[[nodiscard]] Specification specification_from(std::int64_t word);

}  // namespace tutti
