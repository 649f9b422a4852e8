/// Calls that go straight to the MPI, because earlier ones have shown that it is to run them.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/passing.h"
#include "core/types.hpp"
#include "select/call_samples.hpp"

namespace tutti {

/// The arguments of a call that decide on its size and its operation, as numbers: counts, or their
/// sum where all ranks give those of all, handles, and which buffers are MPI_IN_PLACE. As long as
/// handles keep their meaning, calls with equal ones have equal sizes, except irregular gathers and
/// scatters in place.
using CallSignature = std::array<std::uint64_t, 5>;

/// What a rank's arguments say about how a call counts for a selection.
struct CallSize {
  std::optional<Bytes> block;  ///< where it is equal on all ranks (see common_block)
  Bytes own = 0;               ///< of all of this rank's blocks, where it is not
  bool is_compared = true;     ///< any candidate gives the same result; equal on all ranks
};

/// Calls that passed in turn.
struct PassedCalls {
  struct Note {
    CallSize size;
    Nanoseconds elapsed = -1;  ///< -1: the call failed, and is not compared
    double ended = 0;          ///< in seconds of this rank's clock
  };
  std::uint32_t calls = 0;
  std::span<const Note> notes;  ///< of as many, or none
};

/// The calls of one communicator that pass: for each collective so many of the next ones. Those
/// that are not counted are in a record that every call reads (see tutti_passes).
class PassingCalls {
 public:
  /// `record` outlives this.
  explicit PassingCalls(tutti_passing& record) : record_(record) {}

  enum class Which : std::uint8_t {
    none,
    all,          ///< not counted, nor are those that other ranks inspect meanwhile
    all_counted,  ///< counted, because those that other ranks inspect are
    known,        ///< those with known signatures; counted too
    noted,        ///< the same, and each one is noted, of 8 at most
  };
  static constexpr std::size_t max_notes = 8;

  /// Begins a call of a collective whose calls are counted. True if it passes; else it is to be
  /// inspected, and nothing has begun.
  template <class MakeSignature>
  bool begin_counted(Collective collective, MakeSignature signature) noexcept {
    std::uint32_t& left = left_[collective];
    if (left == 0) return false;
    if (is_by_signature(collective) && !begin_known(collective, signature())) return false;
    ++uncounted_;
    --left;
    return true;
  }
  /// Do calls pass by their signatures?
  [[nodiscard]] bool is_by_signature(Collective collective) const {
    return which_[collective] >= Which::known;
  }
  /// Is the call that passed last to be noted once it has ended without an error?
  [[nodiscard]] bool is_noted(Collective collective) const {
    return which_[collective] == Which::noted;
  }
  /// It began and ended at so many seconds of this rank's clock.
  [[gnu::hot]] void note(Collective collective, double began, double ended);
  /// The counted calls that have passed since let().
  [[nodiscard]] std::size_t passed(Collective collective) const {
    return let_[collective] - left_[collective];
  }

  /// From now on the next `calls` may pass. `is_numbered`: stop() returns them.
  void let(Collective collective, Which which, bool is_numbered, std::uint32_t calls);
  /// Which of the known signatures may pass: none after let(), and those of sizes for which
  /// `passes(size, call)` holds, for each call 0, 1, .. of those that are noted, or for 0 of
  /// others.
  template <class Passes>
  void choose(Collective collective, Passes passes) {
    if (!is_by_signature(collective) || signatures_[collective] == nullptr) return;
    Signatures& all = *signatures_[collective];
    const unsigned calls = is_noted(collective) ? let_[collective] : 1;
    for (std::size_t at = 0; at < all.count; ++at) {
      for (unsigned call = 0; call < calls; ++call) {
        all.pass[at][call] = passes(all.sizes[at], call);
      }
    }
  }
  /// Is it worth while to find out whether calls with such a signature may pass?
  [[nodiscard]] bool wants(Collective collective, const CallSignature& signature) const;
  /// Makes a signature known, of 8 at most. Calls with it may pass once choose() says so. Or they
  /// never may, which is remembered of the latest. Nothing happens if memory is lacking.
  void add(Collective collective, const CallSignature& signature, const CallSize& size) noexcept;
  void refuse(Collective collective, const CallSignature& signature) noexcept;
  /// No more calls pass. Returns the numbered ones that did since let(), until the next let().
  PassedCalls stop(Collective collective);
  /// All signatures become unknown if no other could be added.
  void forget_if_full(Collective collective);
  /// All signatures of all collectives become unknown where settings or communicators have changed
  /// since; all calls have stopped before.
  void follow(unsigned generation);
  [[nodiscard]] bool is_current(unsigned generation) const { return generation_ == generation; }

  /// The size of the latest call, if it passed by its signature; else null.
  [[nodiscard]] const CallSize* latest(Collective collective) const;
  /// The latest call has not passed.
  void note_inspected(Collective collective);
  /// The calls that have passed since the last time, of those to be counted.
  std::uint64_t take_uncounted() { return std::exchange(uncounted_, 0); }

 private:
  struct Signatures {
    static constexpr std::size_t max = 8;
    std::array<CallSignature, max> known{};
    std::array<std::bitset<max_notes>, max> pass{};  ///< by call (see choose)
    std::array<CallSize, max> sizes{};
    std::array<PassedCalls::Note, max_notes> notes{};
    std::size_t count = 0;
    std::optional<std::size_t> latest;     ///< the index of that of the latest call, if it passed
    std::optional<CallSignature> refused;  ///< the latest one

    /// The index of a signature; `count` if it is not known.
    [[nodiscard]] std::size_t find(const CallSignature& signature) const {
      const auto all = std::span(known).first(count);
      return static_cast<std::size_t>(std::ranges::find(all, signature) - all.begin());
    }
  };
  [[gnu::hot]] bool begin_known(Collective collective, const CallSignature& signature) noexcept;
  Signatures* open(Collective collective) noexcept;
  void forget(Collective collective);
  /// Calls that are not counted and may still pass.
  [[nodiscard]] std::uint32_t& plain_left(Collective collective) {
    return record_.left[static_cast<std::size_t>(collective)];
  }

  tutti_passing& record_;
  unsigned generation_ = 0;              ///< the one for which all else is valid
  std::uint64_t uncounted_ = 0;          ///< since take_uncounted()
  PerCollective<std::uint32_t> left_{};  ///< counted calls that may still pass
  PerCollective<std::uint32_t> let_{};   ///< the number of calls at first
  PerCollective<Which> which_{};
  PerCollective<bool> is_numbered_{};
  PerCollective<std::unique_ptr<Signatures>> signatures_;
};

}  // namespace tutti
