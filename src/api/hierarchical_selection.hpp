/// Selects which calls of a communicator use node memory, with how many leaders, and which use an
/// order by distance.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <optional>

#include "api/hierarchical_nodes.hpp"
#include "protocols/exploration.hpp"

namespace tutti {

/// Selects by collective and block range, from one power of two to the next. A hierarchical
/// candidate must gain at both ends of the range by the model, and on the program's own calls by
/// the clock. Lives as long as the communicator.
class HierarchicalSelection {
 public:
  /// `communicator` must outlive this.
  explicit HierarchicalSelection(Communicator& communicator)
      : communicator_(communicator), nodes_(communicator) {}
  HierarchicalSelection(const HierarchicalSelection&) = delete;
  HierarchicalSelection& operator=(const HierarchicalSelection&) = delete;

  /// Begins a call with a deferred decision. True if it stays flat whatever its arguments: it is
  /// one of the first 8 calls, or it is outside sampling windows and its collective never had
  /// another candidate. Otherwise call resolve().
  bool stays_flat(Collective collective);
  /// The number of next calls that certainly stay flat, and need not be counted one by one.
  [[nodiscard]] std::uint64_t calls_that_pass(Collective collective) const;
  /// Counts `calls` such calls.
  void count_passed(Collective collective, std::uint64_t calls) {
    tuner_states_[static_cast<std::size_t>(collective)].windows.pass(calls);
  }
  /// Resolves a call that stays_flat() has begun; see Communicator::resolve_level. The first 8
  /// calls of a communicator stay flat, so that one with few calls never pays for node memory. Then
  /// nodes are guessed, by one small allgather, and opened when a call is to use them, if all ranks
  /// can, for a limited number of communicators. An Exploration times all candidates on calls of
  /// the range and collective, each after a barrier, and rank 0 broadcasts the fastest. It repeats
  /// after 8 times as many calls. An order by distance is a candidate if rank 0 knows distances and
  /// the model predicts a gain. Collectives without a common block have one range, and the model
  /// uses the mean block of the call that begins the exploration.
  ///
  /// This happens in sampling windows (see SamplingWindows), in which ranks agree on the block, so
  /// that a rank with invalid arguments follows the others. All other calls are O(1). There such a
  /// rank gets the selection from its node, or else assumes the block of its previous call, which
  /// affects only this call.
  const Decision& resolve(const Decision& deferred, Collective collective, const BlockOfCall& block,
                          int& error);
  /// Ends the call that was resolved last.
  void end_call();

 private:
  /// The candidates and the selection for the calls of one key.
  struct TuningCase {
    std::array<Decision, Exploration::max_candidates> candidates;  ///< the flat one first
    int number = 0;                                                ///< from 1; equal on all ranks
    int count = 0;
    std::optional<Exploration> exploration;
    /// For calls outside explorations: the outcome of the last complete exploration, at first the
    /// flat candidate.
    Decision selected;
    /// Begins in the first window after this number of calls of the collective.
    std::uint64_t next_exploration = 0;
  };
  /// The state of the tuner for one collective.
  struct TunerState {
    SamplingWindows windows;
    bool is_in_window = false;  ///< the current call
    /// Some tuning case has had more than the flat one. Equal on all ranks.
    bool has_candidates = false;
    std::vector<TuningCase*> exploring;
  };
  /// Identifies a tuning case.
  struct Key {
    Collective collective;
    int range;          ///< of blocks
    Rank root;          ///< if orders depend on it, for the first few roots
    bool is_automatic;  ///< else native is requested, hierarchical if faster
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static constexpr Rank any_root = -1;

  /// Counts a call. Once nodes are open, every call advances its signals, so a rank that fails
  /// locally stays in step with the others.
  class CountedCall {
   public:
    explicit CountedCall(HierarchicalSelection& decisions) : decisions_(&decisions) {}
    ~CountedCall();
    CountedCall(const CountedCall&) = delete;
    CountedCall& operator=(const CountedCall&) = delete;
    /// Leaves counting to the code that runs the call.
    void pass_on() { decisions_ = nullptr; }

   private:
    HierarchicalSelection* decisions_;
  };

  Key key_of(const Decision& deferred, Collective collective, BlockOfCall& block);
  int agree(Collective collective, BlockOfCall& block);
  TuningCase& tuning_case_of(const Key& key, const Decision& deferred);
  [[nodiscard]] bool is_known(Collective collective, const BlockOfCall& block) const;
  const Decision& resolve_in_window(const Decision& deferred, Collective collective,
                                    BlockOfCall& block, TunerState& tuner_state, int& error);
  const Decision& resolve_outside(const Decision& deferred, Collective collective,
                                  BlockOfCall& block, int& error);
  const Decision& resolve_leaders(const Decision& deferred, Collective collective,
                                  BlockOfCall& block, int& error);
  int find_leaders(const Key& key, const BlockOfCall& block, int& leaders);
  int find_block(Collective collective, const BlockOfCall& own, std::optional<Bytes>& block);
  int begin_exploration(const Decision& deferred, const Key& key, const BlockOfCall& block,
                        TuningCase& tuning_case);
  int find_candidates(const Decision& deferred, const Key& key, const BlockOfCall& block,
                      TuningCase& tuning_case);
  static Decision& add_candidate(TuningCase& tuning_case);
  int add_hierarchical_candidates(const Key& key, std::optional<Bytes> size,
                                  TuningCase& tuning_case);
  int add_order(const Key& key, std::optional<Bytes> size, TuningCase& tuning_case);
  [[nodiscard]] bool depends_on_root(Collective collective) const;
  Rank root_of(Collective collective, Rank root);
  void note_root(Rank root);
  int end_explorations(TunerState& tuner_state);
  int end_exploration(TuningCase& tuning_case);
  static void abandon(TunerState& tuner_state);
  static Decision flat(const Decision& deferred);
  const Decision& begin_call(const BlockOfCall& block, TuningCase& tuning_case, int& error);

  Communicator& communicator_;
  HierarchicalNodes nodes_;
  unsigned calls_ = 0;
  std::array<std::optional<Bytes>, all_collectives.size()> latest_;
  std::array<Rank, all_collectives.size()> latest_root_{};
  /// For calls that must use node memory: the number of leaders, and the resolved decision by that
  /// number and the deferred decision. Deferred decisions for operations that commute and for
  /// others have the same collective and epoch.
  std::map<Key, int> leaders_;
  std::map<std::pair<const Decision*, int>, Decision> through_nodes_;
  std::map<Key, TuningCase> tuning_cases_;
  std::vector<TuningCase*> numbered_;
  std::array<TunerState, all_collectives.size()> tuner_states_;
  std::vector<Rank> roots_;      ///< with orders by distance
  TuningCase* tried_ = nullptr;  ///< of the exploration of the current call, if any
  double began_ = 0;
  Bytes bytes_ = 0;
};

}  // namespace tutti
