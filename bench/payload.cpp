/// Generates payload bytes, and compares them.
#include "bench/payload.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <limits>

namespace tutti::bench {

namespace {

constexpr std::byte guard_byte{0xA5};
using Word = std::uint32_t;
constexpr std::size_t word_size = sizeof(Word);

/// Odd multipliers, so that a change of rank, index or call alone changes the word.
Word word_of(Rank rank, std::size_t index, std::uint32_t call) {
  return static_cast<Word>(rank) * 0x9E3779B1U + static_cast<Word>(index) * 0x85EBCA77U +
         call * 0xC2B2AE3DU;
}

float float_of(Rank rank, std::size_t index, std::uint32_t call) {
  return static_cast<float>(word_of(rank, index, call) % 1024);
}

/// The word that ranks 0 to `ranks` - 1 have combined.
Word combined_word(Rank ranks, std::size_t index, std::uint32_t call, Values values) {
  Word word = 0;
  float sum = 0;
  for (Rank rank = 0; rank < ranks; ++rank) {
    word ^= word_of(rank, index, call);
    sum += float_of(rank, index, call);
  }
  return values == Values::bits ? word : std::bit_cast<Word>(sum);
}

/// Calls `visit(bytes, word)` for each word of the block, the last one possibly cut.
template <class Byte, class Visit>
void for_each_word(std::span<Byte> block, Rank rank, std::uint32_t call, Values values,
                   Visit visit) {
  for (std::size_t begin = 0, index = 0; begin < block.size(); begin += word_size, ++index) {
    const std::size_t size = std::min(word_size, block.size() - begin);
    visit(block.subspan(begin, size), values == Values::bits
                                          ? word_of(rank, index, call)
                                          : std::bit_cast<Word>(float_of(rank, index, call)));
  }
}

}  // namespace

std::string to_text(const Mismatch& mismatch) {
  char text[160];
  const auto index = static_cast<long long>(mismatch.index);
  if (mismatch.block == no_rank) {
    std::snprintf(text, sizeof text,
                  "outside the blocks, byte %lld of the buffer: expected 0x%02x "
                  "as before the call, got 0x%02x",
                  index, mismatch.expected, mismatch.got);
  } else {
    std::snprintf(text, sizeof text, "block %d, byte %lld: expected 0x%02x, got 0x%02x",
                  mismatch.block, index, mismatch.expected, mismatch.got);
  }
  return text;
}

void fill(std::span<std::byte> block, Rank rank, std::uint32_t call, Values values) {
  for_each_word(block, rank, call, values, [](std::span<std::byte> bytes, Word word) {
    std::memcpy(bytes.data(), &word, bytes.size());
  });
}

std::optional<Mismatch> check(std::span<const std::byte> block, Rank rank, std::uint32_t call) {
  std::optional<Mismatch> first;
  for_each_word(block, rank, call, Values::bits, [&](std::span<const std::byte> bytes, Word word) {
    if (first || std::memcmp(bytes.data(), &word, bytes.size()) == 0) return;
    std::byte expected[word_size];
    std::memcpy(expected, &word, word_size);
    const auto at = static_cast<std::size_t>(
        std::mismatch(bytes.begin(), bytes.end(), expected).first - bytes.begin());
    first = Mismatch{rank, bytes.data() - block.data() + static_cast<Bytes>(at),
                     std::to_integer<int>(expected[at]), std::to_integer<int>(bytes[at])};
  });
  return first;
}

std::optional<Mismatch> check_combined(std::span<const std::byte> found, Bytes begin, Rank ranks,
                                       Rank rank, std::uint32_t call, Values values) {
  auto at = static_cast<std::size_t>(begin);
  for (std::size_t i = 0; i < found.size();) {
    const Word word = combined_word(ranks, at / word_size, call, values);
    std::byte expected[word_size];
    std::memcpy(expected, &word, word_size);
    do {
      const std::byte right = expected[at % word_size];
      if (found[i] != right) {
        return Mismatch{rank, static_cast<Bytes>(i), std::to_integer<int>(right),
                        std::to_integer<int>(found[i])};
      }
      ++at;
      ++i;
    } while (at % word_size != 0 && i < found.size());
  }
  return std::nullopt;
}

Result<Layout> lay_out(const std::vector<Bytes>& blocks, int width, Bytes gap) {
  constexpr Bytes most = std::numeric_limits<int>::max();
  Layout layout;
  layout.width = width;
  Bytes begin = 0;
  Bytes end = 0;
  for (const Bytes block : blocks) {
    end = begin + block;
    if (end > most) {
      return Error{"the root's buffer has " + std::to_string(end) +
                   " elements; MPI's counts and displacements end at " + std::to_string(most)};
    }
    layout.counts.push_back(static_cast<int>(block));
    layout.displacements.push_back(static_cast<int>(begin));
    begin = std::min(end + gap, most);
  }
  layout.bytes = end * width;
  return layout;
}

GuardedBuffer::GuardedBuffer(Bytes bytes)
    : size_(bytes), bytes_(static_cast<std::size_t>(bytes + 2 * guard), guard_byte) {}

std::span<std::byte> GuardedBuffer::at(Bytes begin, Bytes size) {
  return {data() + begin, static_cast<std::size_t>(size)};
}

std::span<const std::byte> GuardedBuffer::at(Bytes begin, Bytes size) const {
  return {bytes_.data() + guard + begin, static_cast<std::size_t>(size)};
}

std::optional<Mismatch> GuardedBuffer::check_guards() const {
  const auto before = check_untouched(-guard, 0);
  return before ? before : check_untouched(size_, size_ + guard);
}

std::optional<Mismatch> GuardedBuffer::check_gaps(const Layout& layout) const {
  Bytes end = 0;
  for (Rank rank = 0; rank < static_cast<Rank>(layout.counts.size()); ++rank) {
    if (const auto written = check_untouched(end, layout.begin(rank))) return written;
    end = layout.begin(rank) + layout.size(rank);
  }
  return std::nullopt;
}

std::optional<Mismatch> GuardedBuffer::check_untouched(Bytes begin, Bytes end) const {
  for (Bytes index = begin; index < end; ++index) {
    const std::byte got = bytes_[static_cast<std::size_t>(index + guard)];
    if (got != guard_byte) {
      return Mismatch{no_rank, index, std::to_integer<int>(guard_byte), std::to_integer<int>(got)};
    }
  }
  return std::nullopt;
}

}  // namespace tutti::bench
