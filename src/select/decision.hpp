/// Decisions: what runs for calls of a collective, or what finds that for each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "select/rules.hpp"

namespace tutti {

struct SizeTable;

/// What runs for one collective on one communicator, or what finds that once the block of a call is
/// known: the tuner or a table. Equal on all its ranks.
struct Decision {
  unsigned epoch = ~0U;                        ///< counts changes of the setting
  bool is_automatic = false;                   ///< selected by Tutti, not requested
  std::optional<Specification> specification;  ///< none: the MPI's own
  Level level;
  bool is_tuned = false;             ///< the tuner selects
  bool flat_only = false;            ///< tuned: only flat candidates come into question
  std::string text;                  ///< "ordered_tree: why"
  CaseOfCall measured;               ///< what selected it, for the report
  std::shared_ptr<SizeTable> table;  ///< if it decides by message size
  std::shared_ptr<const Decision>
      if_flat;                       ///< hierarchical: instead, where nodes have one rank each
  bool is_by_rule = false;           ///< whatever the call does not permit becomes native
  bool needs_commutativity = false;  ///< rules: another decision may hold if it does not commute
  bool uses_arrivals = false;        ///< rules: some message size does

  [[nodiscard]] bool is_deferred() const { return is_tuned || table != nullptr; }
  /// Does it run the MPI's own, unless it is deferred?
  [[nodiscard]] bool is_native() const { return !specification && !level.hierarchical; }
  /// What runs where the call must stay flat; null: the MPI's own, as for whatever a rule selects
  /// between nodes.
  [[nodiscard]] const Specification* when_flat() const {
    return specification && !(level.hierarchical && is_by_rule) ? &*specification : nullptr;
  }
  /// Do arrivals or the background thread take part? Progress hints count only such calls.
  [[nodiscard]] bool uses_background() const {
    return specification && specification->uses_background();
  }
  /// Do its calls follow arrival profiles, where arrivals are exchanged?
  [[nodiscard]] bool follows_profiles() const { return is_tuned && is_automatic; }
  /// Makes it run what was chosen, and say why.
  void follow(const Choice& choice);
  /// What runs instead of a hierarchical decision where every node has one rank.
  [[nodiscard]] Decision flattened() const;
};

/// What runs for one collective and kind of operation, by message size, and by irregularity where
/// rules ask for it.
struct SizeTable {
  /// Calls with blocks and an irregularity up to these. A call belongs to the first span that holds
  /// it.
  struct Span {
    std::int64_t irregularity = NumberRange::inf;
    Bytes most = 0;  ///< the last of each irregularity has all larger blocks too
    Decision decision;
  };

  /// The span of a call. O(log spans).
  [[nodiscard]] std::size_t find(Bytes block, std::int64_t irregularity) const;
  /// The same; that of the call seen before if this rank's arguments are invalid.
  [[nodiscard]] std::size_t index_of(const std::optional<Bytes>& block, std::int64_t irregularity) {
    if (block) latest = find(*block, irregularity);
    return latest;
  }
  /// Do calls of this size run the MPI's own, whatever their irregularity is?
  [[nodiscard]] bool runs_native(Bytes block) const;
  /// A span of the MPI's own; another one if there is none.
  [[nodiscard]] std::size_t native_or(std::size_t other) const;

  std::vector<Span> spans = {};  ///< ascending by irregularity, then by block
  std::size_t latest = 0;        ///< of the call seen before
  bool is_ready = false;  ///< the communicators of all spans are there, or the span became native
};

/// Makes a case of the report: messages of a rule's span, from `least` on, and the rule's reason.
using AddCase =
    std::function<CaseOfCall(const RuleSpan& span, Bytes least, const std::string& reason)>;

/// What runs for calls of a collective: what the setting asks for; or, if it is automatic, what the
/// rules for this MPI say at some message size, and the MPI's own at others; or the MPI's own (see
/// choose), until the tuner selects. `add_case` gets the spans of rules that such calls permit.
/// Equal on all ranks with equal arguments. As long as spans_of() for each irregularity.
[[nodiscard]] Decision decision_for(const Setting& setting, const Rules& rules, Features features,
                                    const Machine& machine, const AddCase& add_case);

}  // namespace tutti
