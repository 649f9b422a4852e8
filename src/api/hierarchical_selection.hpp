/// Which calls of a communicator go through node memory without being asked to, by how many
/// leaders, and which go in an order by distance.
#pragma once

#include <array>
#include <compare>
#include <map>
#include <memory>
#include <optional>

#include "api/hierarchical_nodes.hpp"
#include "protocols/exploration.hpp"

namespace tutti {

/// Decisions by collective and block, for all blocks between two powers of two, where both ends of
/// the range must gain by the model, and the program's own calls by the clock. As long as the
/// communicator.
class HierarchicalSelection {
 public:
  /// `communicator` must outlive this.
  explicit HierarchicalSelection(Communicator& communicator)
      : communicator_(communicator), nodes_(communicator) {}
  HierarchicalSelection(const HierarchicalSelection&) = delete;
  HierarchicalSelection& operator=(const HierarchicalSelection&) = delete;

  /// Begins a call of `collective` that may go either candidate. True where it stays flat whatever
  /// its arguments are: it is one of the first, or neither in a window nor of a collective for
  /// which anything else was ever a candidate. Else resolve() is to be called.
  bool stays_flat(Collective collective);
  /// How many of the next calls stay flat for certain and need not be counted one by one.
  [[nodiscard]] std::uint64_t calls_that_pass(Collective collective) const;
  /// So many of them have been made.
  void count_passed(Collective collective, std::uint64_t calls) {
    tuner_states_[static_cast<std::size_t>(collective)].windows.pass(calls);
  }
  /// See Communicator::resolve_level; a call that may go either candidate has begun. The first
  /// calls of a communicator stay flat, so that one with few calls never pays for what the level
  /// needs. After them nodes are guessed, at the cost of one small allgather; they are opened where
  /// a call is to go through them, if all ranks can, for a limited number of communicators at a
  /// time. Then all candidates are tried on calls of that range and collective (see Exploration),
  /// each after a barrier, and rank 0 tells all which one is the fastest; the same again after
  /// eight times as many calls. Where rank 0 knows distances, and the model promises a gain, an
  /// order by distance is one of the candidates. Of collectives whose blocks ranks do not know
  /// alike there is one range, and the model goes by the mean block of the call before a
  /// exploration, which ranks tell rank 0.
  ///
  /// All this happens in windows (see SamplingWindows), in which ranks tell each other the block,
  /// and a rank whose arguments are bad does as the others. All other calls are O(1); there such a
  /// rank takes its block to be that of its call before, and nothing but that call hangs on it.
  const Decision& resolve(const Decision& deferred, Collective collective, const BlockOfCall& block,
                          int& error);
  /// The call that was decided last is over.
  void end_call();

 private:
  /// Of the calls of one range that may go either candidate.
  struct TuningCase {
    std::array<Decision, Exploration::max_candidates> candidates;  ///< the flat one first
    int number = 0;  ///< from 1 on, alike on all ranks
    int count = 0;
    std::optional<Exploration> exploration;
    /// By calls outside explorations: what the last exploration that came to its end has shown, the
    /// flat candidate before there was one.
    Decision selected;
    std::uint64_t next_exploration =
        0;  ///< in the first window after so many calls of the collective
  };
  /// The calls of one collective that may go either candidate.
  struct TunerState {
    SamplingWindows windows;
    bool is_in_window = false;  ///< the call under candidate
    bool has_candidates =
        false;  ///< some tuning_case has had more than the flat one; alike on all ranks
    std::vector<TuningCase*> exploring;
  };
  /// Calls that are decided alike.
  struct Key {
    Collective collective;
    int range;          ///< of blocks
    Rank root;          ///< where that counts, of which only the first few do
    bool is_automatic;  ///< else native was asked for, by nodes where that is faster
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static constexpr Rank any_root = -1;

  /// Once nodes are deferred all calls count there, so that whoever meets an error, be it the only
  /// one and without knowing which candidate the others' call goes, is at the same call as they
  /// are.
  class CountedCall {
   public:
    explicit CountedCall(HierarchicalSelection& decisions) : decisions_(&decisions) {}
    ~CountedCall();
    CountedCall(const CountedCall&) = delete;
    CountedCall& operator=(const CountedCall&) = delete;
    /// Whoever runs the call counts it.
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
  [[nodiscard]] bool goes_by_root(Collective collective) const;
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
  /// Of calls that go through nodes in any case: how many leaders they have, and the decisions by
  /// that and by what they were closed from: one about operations that commute, and one about
  /// others, are of the same collective and epoch.
  std::map<Key, int> leaders_;
  std::map<std::pair<const Decision*, int>, Decision> through_nodes_;
  std::map<Key, TuningCase> tuning_cases_;
  std::vector<TuningCase*> numbered_;
  std::array<TunerState, all_collectives.size()> tuner_states_;
  std::vector<Rank> roots_;      ///< of calls whose orders are looked for
  TuningCase* tried_ = nullptr;  ///< whose exploration the call under candidate is part of
  double began_ = 0;
  Bytes bytes_ = 0;
};

}  // namespace tutti
