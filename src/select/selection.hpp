/// Selection: the algorithm that runs, and the reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithms.hpp"
#include "core/nodes.hpp"
#include "cost/machine.hpp"

namespace tutti {

/// Whether a call runs hierarchically, and the number of leaders per node.
struct Level {
  bool hierarchical = false;
  int leaders = 1;
  friend bool operator==(const Level&, const Level&) = default;
};

/// The request of the user: a forced algorithm, the MPI's own, or selection (automatic) by
/// measurements (see select/tuner.hpp), of one-sided collectives by the model.
struct Setting {
  enum class Kind : std::uint8_t { automatic, native, forced };
  Kind kind = Kind::automatic;
  Specification specification;  ///< forced only; if hierarchical, it runs between nodes
  /// None: measurements select flat or hierarchical; never with forced. With automatic only none or
  /// flat.
  std::optional<Level> level = {};
  friend bool operator==(const Setting&, const Setting&) = default;

  [[nodiscard]] bool asks_for_hierarchical() const { return level && level->hierarchical; }
  /// True for the MPI's own, flat or as measurements select.
  [[nodiscard]] bool is_native() const { return kind == Kind::native && !asks_for_hierarchical(); }
};

/// The MPI's own, flat.
inline constexpr Setting flat_native = {Setting::Kind::native, {}, Level{}};

/// Reads "auto", "native", a specification, or one of the last two as hierarchical, such as
/// "hierarchical(native)" or "hierarchical(knomial:k=4,leaders=2)"; the default is leaders=1.
/// "auto:hierarchy=flat" selects only flat algorithms; "native:hierarchy=auto" runs the MPI's own,
/// and measurements select flat or hierarchical. Hierarchical excludes runner=background. The
/// former spelling "native:level=node,leaders=2" is accepted too.
[[nodiscard]] Result<Setting> setting(Collective collective, std::string_view text);
[[nodiscard]] std::string to_text(const Setting& setting);
/// Reads "auto" (none), "flat", "hierarchical" or "hierarchical(leaders=K)", and the former
/// spellings "node" and "node:leaders=K".
[[nodiscard]] Result<std::optional<Level>> level(std::string_view text);
/// The facts of a call that are equal on all ranks, and what its program permits. A selection must
/// depend on nothing else.
struct Features {
  Collective collective = Collective::gather;
  int p = 1;
  Bytes block = 0;  ///< of each rank in a one-sided call; the largest one of a tuned class
  int nodes = 1;
  int ranks_per_node = 1;      ///< of the largest node; 1: no rank shares a node with another one
  bool commutative = true;     ///< reductions: the operation commutes
  bool whole = false;          ///< reductions: vectors must not be split
  bool reproducible = false;   ///< reductions: equal calls must give equal bits
  bool has_distances = true;   ///< between ranks; for rules, and in settings of the environment
  bool has_background = true;  ///< for rules and tuning: the background thread may take part
  bool flat_only = false;      ///< the setting of the collective excludes node memory
  std::int64_t irregularity = 1;  ///< for rules: of the blocks (see irregularity_of)
  bool native_only = false;       ///< for tuning: the setting asks for the MPI's own
  Bytes staging = 0;  ///< for tuning: the most that a rank stages in one call; 0: no bound
  bool knows_arrivals = false;  ///< for tuning: calls exchange arrivals
  /// For tuning: by rank, seconds from any zero; empty: unknown. Only with `knows_arrivals`.
  std::vector<double> arrivals = {};
};

/// The reason why such a call cannot run a request or a rule as it is; empty if it can.
[[nodiscard]] std::string why_unfit(const Setting& asked, const Features& features);

struct Candidate {
  std::string name;  ///< a specification, or "native"
  double seconds = 0;
  std::string note;  ///< the model of the time
};

struct Choice {
  Setting setting = flat_native;  ///< native or forced
  std::string reason;
  std::vector<Candidate> candidates = {};  ///< one-sided collectives: by modelled time
};

/// Selects the algorithm of a call; equal on all ranks with equal features. A forced or native
/// setting decides. Else the MPI's own runs, unless a measurement (see select/tuner.hpp) says
/// otherwise: O(1). One-sided collectives: see choose_one_sided.
///
/// A reduction runs what was requested only if it is valid for the operation and, if required,
/// reproducible. Else, and without a request, it runs the `fixed` algorithm (see
/// specification_for) if results must be reproducible, or the part of the request that is valid:
/// the algorithm flat, or the MPI's own, because Tutti does not change the bits of results unless
/// requested (docs/decisions/reductions-on-request.md).
[[nodiscard]] Choice choose(const Setting& setting, const Features& features,
                            const Machine& machine);

/// The fastest candidate for a one-sided collective under LogGP with flushes and polling. Only the
/// root selects; its requests carry the algorithm. If puts wait for their target's thread
/// (Machine::serving), notifications carry all data. MPI has no such collective, so native is not a
/// candidate. If ranks share nodes, trees of leaders are candidates too; their time is that of the
/// tree among one rank per node, plus that of serving the largest node. `nodes` null: each rank is
/// alone on its node. Pipelines of more than 131,072 messages are extrapolated. O(p log p): at most
/// 0.6 s for 256 to 4,096 ranks, 2 s for 65,536.
[[nodiscard]] Choice choose_one_sided(const Features& features, const Machine& machine,
                                      const Nodes* nodes = nullptr);

}  // namespace tutti
