/// Which algorithm runs, and why.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithms.hpp"
#include "cost/machine.hpp"
#include "protocols/call_times.hpp"
#include "select/native_model.hpp"

namespace tutti {

/// Whether a call goes through the memory of nodes, and how many ranks of each node then take part
/// between the nodes.
struct Level {
  bool hierarchical = false;
  int leaders = 0;  ///< 0: as many as the model finds best for the call
  friend bool operator==(const Level&, const Level&) = default;
};

/// What the user asked for: a forced algorithm, the MPI's own, or a choice by the model.
struct Setting {
  enum class Kind : std::uint8_t { automatic, native, forced };
  Kind kind = Kind::automatic;
  Specification specification;  ///< forced only; with a level what runs between nodes
  /// None: flat or through nodes, as the model finds for each call; not with forced. With
  /// automatic none or flat.
  std::optional<Level> level = {};

  [[nodiscard]] bool asks_for_hierarchical() const { return level && level->hierarchical; }
};

/// Reads "auto", "native", a specification, or one of the last two through node memory, as in
/// "hierarchical(native)" or "hierarchical(knomial:k=4,leaders=2)" with leaders=auto by default.
/// "auto:hierarchy=flat" chooses among flat algorithms only; "native:hierarchy=auto" runs the MPI's
/// own, flat or hierarchical as the model finds. Not with runner=background. The former spelling
/// of parameters, "native:level=node,leaders=2", is accepted too.
[[nodiscard]] Result<Setting> setting(Collective collective, std::string_view text);
[[nodiscard]] std::string to_text(const Setting& setting);
/// Reads "auto" (none), "flat", "hierarchical" or "hierarchical(leaders=K)", K a number or auto,
/// and the former spellings "node" and "node:leaders=K".
[[nodiscard]] Result<std::optional<Level>> level(std::string_view text);
/// Why a running program cannot do what its environment asks for, with or without distances
/// between its ranks; empty where it can.
[[nodiscard]] std::string out_of_reach(const Setting& setting, bool has_distances);

/// What the background threads of all ranks do for a call before its ranks arrive.
enum class ProgressCapability : std::uint8_t {
  none,      ///< there are no threads
  receives,  ///< they receive into memory of their own, as for calls that nobody has announced
  runs,      ///< they receive to where it belongs, and pass on, as for persistent calls
};

/// When the ranks of a call are expected, as they have agreed on it: the same bits everywhere.
struct Forecast {
  std::vector<double> arrivals;  ///< seconds from any zero, by rank
  double error = 0;              ///< seconds: what a prediction has been wrong by, agreed too
  ProgressCapability progress_capability = ProgressCapability::none;
  /// Seconds that such calls have taken after the last arrival with the MPI's own algorithm; NaN
  /// where that was not measured.
  double native = std::numeric_limits<double>::quiet_NaN();
  /// Digests of what was chosen and turned out to take no less; 0: no more.
  std::array<AlgorithmId, max_choices> lost = {};
  bool native_is_due = false;  ///< to run again, so that it is measured

  [[nodiscard]] double spread() const;  ///< last less first arrival, in seconds
};

/// What every rank of a call knows to be equal: nothing else may enter a choice.
struct Features {
  Collective collective = Collective::gather;
  int p = 1;
  /// Bytes of each rank's block, where MPI makes them equal; with a forecast of an irregular call,
  /// their mean at the calls before, as agreed.
  std::optional<Bytes> block;
  /// Ranks outnumber cores, and the MPI's own collectives wait without giving up theirs.
  bool native_spins = false;
  Rank root = 0;                          ///< counts where arrivals are expected only
  std::optional<Forecast> forecast = {};  ///< none: nothing is known of arrivals
  bool commutative = true;                ///< reductions: the operation
  bool whole = false;                     ///< reductions: the operation is to get whole vectors
  bool reproducible = false;              ///< reductions: equal calls are to give equal bits
  MpiFamily mpi = MpiFamily::unknown;     ///< counts where arrivals are expected only
};

/// What a call loses where a rank that waits keeps the core that another one needs: slices of
/// the system's scheduler, milliseconds each.
inline constexpr double spinning_seconds = 1e-3;

struct Candidate {
  std::string name;  ///< a specification, or "native"
  double seconds = 0;
  std::string note;  ///< how the time was modelled
  /// It serves whoever has come, few at a time: neither a wrong forecast nor a crowd harms it.
  bool is_robust = false;
  bool has_lost = false;  ///< it was measured to take no less than the MPI's own
};

struct Choice {
  std::optional<Specification> specification;  ///< none: the MPI's own
  std::string reason;
  std::vector<Candidate> candidates;  ///< by modelled time
};

/// The setting, or by the model the fastest candidate, a robust one where none is half as fast
/// again, that promises a gain over the MPI's own of at least a tenth: of the time beyond the last
/// arrival, and a hundredth of all. Every rank decides alike. What was measured to take no less
/// than native is not chosen again, and nothing is once `max_choices` have been, or while native
/// is to be measured again. Where a forecast counts (see `weighs_arrivals`) the times are those of
/// the expected arrivals, and points that make use of them are candidates too; O(p log p) then,
/// else O(1).
[[nodiscard]] Choice choose(const Setting& setting, const Features& features,
                            const Machine& machine);

}  // namespace tutti
