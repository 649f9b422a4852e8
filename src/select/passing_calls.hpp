/// Calls that go straight to the MPI, because earlier ones have shown that it is to run them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/passing.h"
#include "core/types.hpp"

namespace tutti {

/// The arguments of a call that decide on its size and its operation, as numbers: counts, handles,
/// and which buffers are MPI_IN_PLACE. As long as handles keep their meaning, calls with equal ones
/// select alike, except those of irregular collectives.
using CallSignature = std::array<std::uint64_t, 5>;

/// The calls of one communicator that pass: for each collective so many of the next ones. Those
/// that are not counted are in a record that every call reads (see tutti_passes).
class PassingCalls {
 public:
  /// `record` outlives this.
  explicit PassingCalls(tutti_passing& record) : record_(record) {}

  enum class Which : std::uint8_t {
    none,
    all,          ///< all ranks let the same calls pass
    all_counted,  ///< other ranks may inspect them, so they are counted
    known,        ///< those with known signatures; counted too
  };

  /// Begins a call of a collective whose calls are counted. True if it passes; else it is to be
  /// inspected, and nothing has begun. `is_known`: is its signature?
  template <class IsKnown>
  bool begin_counted(Collective collective, IsKnown is_known) noexcept {
    std::uint32_t& left = left_[collective];
    if (left == 0 || !is_known()) return false;
    ++uncounted_;
    --left;
    return true;
  }
  /// May a call with such a signature pass, as far as calls of the collective pass?
  [[nodiscard]] bool knows(Collective collective, const CallSignature& signature) noexcept;

  /// From now on the next `calls` may pass. `is_numbered`: stop() counts them.
  void let(Collective collective, Which which, bool is_numbered, std::uint32_t calls);
  /// Is it worth while to find out whether calls with such a signature may pass?
  [[nodiscard]] bool wants(Collective collective, const CallSignature& signature) const;
  /// Until forget() calls with such a signature may pass, of 8 signatures at most; `text` is what
  /// runs. Or they may not, which is remembered of the latest. Nothing happens if memory is
  /// lacking.
  void add(Collective collective, const CallSignature& signature, const std::string& text) noexcept;
  void refuse(Collective collective, const CallSignature& signature) noexcept;
  /// No more calls pass. Returns how many numbered ones did since let().
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
  std::uint32_t take_uncounted() { return std::exchange(uncounted_, 0); }

 private:
  struct Signatures {
    std::array<CallSignature, 8> known;
    std::array<std::string, 8> texts;
    std::size_t count = 0;
    std::size_t latest = 0;  ///< the place of that of the latest call, from 1; 0: none
    std::optional<CallSignature> refused;  ///< the latest one

    /// The place of a known signature, from 1; 0 if it is not known.
    [[nodiscard]] std::size_t place_of(const CallSignature& signature) const {
      const auto all = std::span(known).first(count);
      const auto found = std::ranges::find(all, signature);
      return found == all.end() ? 0 : static_cast<std::size_t>(found - all.begin()) + 1;
    }
  };
  [[nodiscard]] static constexpr std::uint32_t bit_of(Collective collective) {
    return 1U << static_cast<unsigned>(collective);
  }
  Signatures* open(Collective collective) noexcept;

  /// Calls that are not counted and may still pass.
  [[nodiscard]] std::uint32_t& plain_left(Collective collective) {
    return record_.left[static_cast<std::size_t>(collective)];
  }

  static_assert(all_collectives.size() <= 32);
  tutti_passing& record_;
  unsigned generation_ = 0;              ///< the one for which all else is valid
  std::uint32_t uncounted_ = 0;          ///< between 2 inspected calls at most 2^30
  std::uint32_t by_signature_ = 0;       ///< collectives of which only known signatures pass
  PerCollective<std::uint32_t> left_{};  ///< counted calls that may still pass
  PerCollective<std::uint32_t> let_{};   ///< the number of calls at first
  std::uint32_t numbered_ = 0;           ///< collectives whose calls are
  PerCollective<std::unique_ptr<Signatures>> signatures_;
};

}  // namespace tutti
