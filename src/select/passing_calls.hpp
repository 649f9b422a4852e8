/// Calls that go straight to the MPI, because earlier ones have shown that it is to run them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/types.hpp"

namespace tutti {

/// The arguments of a call that tell its size and its operation, as numbers: counts, handles, and
/// which buffers are MPI_IN_PLACE. As long as handles keep their meaning, calls with equal ones
/// select alike, except those of irregular collectives.
using CallSignature = std::array<std::uint64_t, 5>;

/// The calls of one communicator that pass: for each collective so many of the next ones, all or
/// those with known signatures.
class PassingCalls {
 public:
  enum class Which : std::uint8_t { none, all, known };

  /// Begins a call. True if it passes; else it is to be inspected, and nothing has begun.
  /// `make_signature` is rarely called.
  template <class MakeSignature>
  [[gnu::always_inline]] bool begin(Collective collective, unsigned generation,
                                    MakeSignature make_signature) noexcept {
    const auto at = static_cast<std::size_t>(collective);
    if (generation_ != generation || left_[at] == 0) return false;
    if (is_by_signature(collective) && !knows(collective, make_signature())) return false;
    --left_[at];
    uncounted_ += counted_ >> at & 1;
    return true;
  }

  /// From now on the next `calls` may pass. `is_counted`: other ranks may inspect and count such a
  /// call.
  void let(Collective collective, Which which, bool is_counted, std::uint32_t calls);
  [[nodiscard]] bool is_by_signature(Collective collective) const {
    return (by_signature_ >> static_cast<std::size_t>(collective) & 1) != 0;
  }
  /// Calls with such a signature may pass, up to 4 of them; `text` is what runs. Nothing happens if
  /// memory is lacking.
  void add(Collective collective, const CallSignature& signature, const std::string& text) noexcept;
  /// No more calls pass. Returns how many did since let().
  std::uint32_t stop(Collective collective);
  /// All signatures become unknown: the MPI may no longer be to run such calls.
  void forget(Collective collective);
  /// The same for all collectives where settings or communicators have changed since; all calls
  /// have stopped before.
  void follow(unsigned generation);
  [[nodiscard]] bool is_current(unsigned generation) const { return generation_ == generation; }

  /// What the latest call ran, if it passed by its signature; else null.
  [[nodiscard]] const std::string* latest_text(Collective collective) const;
  /// The latest call has not passed.
  void note_inspected(Collective collective);
  /// The calls that have passed since the last time, of those to be counted.
  std::uint64_t take_uncounted() { return std::exchange(uncounted_, 0); }

 private:
  struct Known {
    std::array<CallSignature, 4> signatures;
    std::array<std::string, 4> texts;
    std::size_t count = 0;
    std::size_t next = 0;
    std::size_t latest = 0;  ///< the place of that of the latest call, from 1; 0: none
  };
  [[nodiscard]] bool knows(Collective collective, const CallSignature& signature) noexcept;

  static_assert(all_collectives.size() <= 32);
  unsigned generation_ = 0;         ///< the one for which all else is valid
  std::uint32_t by_signature_ = 0;  ///< collectives of which only known signatures pass
  std::uint32_t counted_ = 0;       ///< collectives whose calls are counted
  std::uint64_t uncounted_ = 0;
  std::array<std::uint32_t, all_collectives.size()> left_{};  ///< calls that may still pass
  std::array<std::uint32_t, all_collectives.size()> let_{};   ///< their number at first
  std::array<std::unique_ptr<Known>, all_collectives.size()> known_;
};

}  // namespace tutti
