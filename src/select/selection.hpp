/// Selection: the algorithm that runs, and the reason.
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

/// Whether a call runs hierarchically, and the number of leaders per node.
struct Level {
  bool hierarchical = false;
  int leaders = 0;  ///< 0: the model selects the number for each call
  friend bool operator==(const Level&, const Level&) = default;
};

/// The request of the user: a forced algorithm, the MPI's own, or selection by the model.
struct Setting {
  enum class Kind : std::uint8_t { automatic, native, forced };
  Kind kind = Kind::automatic;
  Specification specification;  ///< forced only; if hierarchical, it runs between nodes
  /// None: the model selects flat or hierarchical for each call; never with forced. With automatic
  /// only none or flat.
  std::optional<Level> level = {};

  [[nodiscard]] bool asks_for_hierarchical() const { return level && level->hierarchical; }
};

/// Reads "auto", "native", a specification, or one of the last two as hierarchical, such as
/// "hierarchical(native)" or "hierarchical(knomial:k=4,leaders=2)"; the default is leaders=auto.
/// "auto:hierarchy=flat" selects only flat algorithms; "native:hierarchy=auto" runs the MPI's own,
/// and the model selects flat or hierarchical. Hierarchical excludes runner=background. The former
/// spelling "native:level=node,leaders=2" is accepted too.
[[nodiscard]] Result<Setting> setting(Collective collective, std::string_view text);
[[nodiscard]] std::string to_text(const Setting& setting);
/// Reads "auto" (none), "flat", "hierarchical" or "hierarchical(leaders=K)" with K a number or
/// auto, and the former spellings "node" and "node:leaders=K".
[[nodiscard]] Result<std::optional<Level>> level(std::string_view text);
/// The reason why a running program cannot execute the setting, with or without distances between
/// its ranks; empty if it can.
[[nodiscard]] std::string out_of_reach(const Setting& setting, bool has_distances);

/// The steps that the background threads of all ranks execute before their ranks arrive.
enum class ProgressCapability : std::uint8_t {
  none,      ///< no threads
  receives,  ///< receives into Tutti's own memory, as for calls without an announcement
  runs,      ///< all steps, into the caller's buffers, as for persistent calls
};

/// The expected arrivals of a call. All ranks have agreed on the same bits.
struct Forecast {
  std::vector<double> arrivals;  ///< seconds from any zero, by rank
  double error = 0;              ///< seconds: the error of earlier predictions, also agreed
  ProgressCapability progress_capability = ProgressCapability::none;
  /// Seconds after the last arrival that such calls take with the MPI's own algorithm; NaN if not
  /// measured.
  double native = std::numeric_limits<double>::quiet_NaN();
  /// The algorithms that were selected and measured to be no faster than native; 0 ends the list.
  std::array<AlgorithmId, max_choices> lost = {};
  bool native_is_due = false;  ///< native must run again to be measured

  [[nodiscard]] double spread() const;  ///< last minus first arrival, in seconds
};

/// The facts of a call that are equal on all ranks. A selection must depend on nothing else.
struct Features {
  Collective collective = Collective::gather;
  int p = 1;
  /// Bytes of each rank's block if MPI requires them to be equal. In an irregular call with a
  /// forecast, the agreed mean of earlier calls.
  std::optional<Bytes> block;
  Rank root = 0;                          ///< used only with a forecast
  std::optional<Forecast> forecast = {};  ///< none: arrivals are unknown
  bool commutative = true;                ///< reductions: the operation commutes
  bool whole = false;                     ///< reductions: vectors must not be split
  bool reproducible = false;              ///< reductions: equal calls must give equal bits
  MpiFamily mpi = MpiFamily::unknown;     ///< used only with a forecast
};

struct Candidate {
  std::string name;  ///< a specification, or "native"
  double seconds = 0;
  std::string note;  ///< the model of the time
  /// It serves ranks as they arrive, few at a time, so a wrong forecast or many senders do not harm
  /// it.
  bool is_robust = false;
  bool has_lost = false;  ///< measured to be no faster than the MPI's own
};

struct Choice {
  std::optional<Specification> specification;  ///< none: the MPI's own
  std::string reason;
  std::vector<Candidate> candidates;  ///< by modelled time
};

/// Selects the algorithm of a call; equal on all ranks with equal features. A forced or native
/// setting decides. Else the MPI's own runs, unless a measurement (see select/tuner.hpp) or the
/// forecast of a gather or scatter says otherwise: O(1).
///
/// With a forecast (see `weighs_arrivals`) the model selects the candidate that is fastest with the
/// expected arrivals, if its predicted gain over the MPI's own is at least 10 % of the time after
/// the last arrival and 1 % of the whole time; a robust candidate takes precedence unless the
/// fastest is 1.5 times as fast. Candidates that were measured to be no faster than native are not
/// selected again. Native runs after `max_choices` such candidates, and while it must be measured
/// again: O(p log p).
[[nodiscard]] Choice choose(const Setting& setting, const Features& features,
                            const Machine& machine);

}  // namespace tutti
