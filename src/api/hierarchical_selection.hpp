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
class LevelDecisions {
 public:
  /// `communicator` must outlive this.
  explicit LevelDecisions(Communicator& communicator)
      : communicator_(communicator), nodes_(communicator) {}
  LevelDecisions(const LevelDecisions&) = delete;
  LevelDecisions& operator=(const LevelDecisions&) = delete;

  /// Begins a call of `collective` that may go either way. True where it stays flat whatever its
  /// arguments are: it is one of the first, or neither in a window nor of a collective for which
  /// anything else was ever a candidate. Else close() is to be called.
  bool stays_flat(Collective collective);
  /// How many of the next calls stay flat for certain and need not be counted one by one.
  [[nodiscard]] std::uint64_t calls_that_pass(Collective collective) const;
  /// So many of them have been made.
  void count_passed(Collective collective, std::uint64_t calls) {
    courses_[static_cast<std::size_t>(collective)].windows.pass(calls);
  }
  /// See Communicator::close_level; a call that may go either way has begun. The first calls of a
  /// communicator stay flat, so that one with few calls never pays for what the level needs. After
  /// them nodes are guessed, at the cost of one small allgather; they are opened where a call is to
  /// go through them, if all ranks can, for a limited number of communicators at a time. Then all
  /// ways are tried on calls of that range and collective (see Trial), each after a barrier, and
  /// rank 0 tells all which one is the fastest; the same again after eight times as many calls.
  /// Where rank 0 knows distances, and the model promises a gain, an order by distance is one of
  /// the ways. Of collectives whose blocks ranks do not know alike there is one range, and the
  /// model goes by the mean block of the call before a trial, which ranks tell rank 0.
  ///
  /// All this happens in windows (see TrialWindows), in which ranks tell each other the block, and
  /// a rank whose arguments are bad does as the others. All other calls are O(1); there such a rank
  /// takes its block to be that of its call before, and nothing but that call hangs on it.
  const Decision& close(const Decision& open, Collective collective, const BlockOfCall& block,
                        int& error);
  /// The call that was decided last is over.
  void end_call();

 private:
  /// Of the calls of one range that may go either way.
  struct Contest {
    std::array<Decision, Trial::most_ways> ways;  ///< the flat one first
    int number = 0;                               ///< from 1 on, alike on all ranks
    int count = 0;
    std::optional<Trial> trial;
    /// By calls outside trials: what the last trial that came to its end has shown, the flat way
    /// before there was one.
    Decision taken;
    std::uint64_t next_trial = 0;  ///< in the first window after so many calls of the collective
  };
  /// The calls of one collective that may go either way.
  struct Course {
    TrialWindows windows;
    bool is_in_window = false;  ///< the call under way
    bool has_ways = false;      ///< some contest has had more than the flat one; alike on all ranks
    std::vector<Contest*> on_trial;
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

  /// Once nodes are open all calls count there, so that whoever meets an error, be it the only one
  /// and without knowing which way the others' call goes, is at the same call as they are.
  class CountedCall {
   public:
    explicit CountedCall(LevelDecisions& decisions) : decisions_(&decisions) {}
    ~CountedCall();
    CountedCall(const CountedCall&) = delete;
    CountedCall& operator=(const CountedCall&) = delete;
    /// Whoever runs the call counts it.
    void pass_on() { decisions_ = nullptr; }

   private:
    LevelDecisions* decisions_;
  };

  Key key_of(const Decision& open, Collective collective, BlockOfCall& block);
  int agree(Collective collective, BlockOfCall& block);
  Contest& contest_of(const Key& key, const Decision& open);
  [[nodiscard]] bool is_known(Collective collective, const BlockOfCall& block) const;
  const Decision& close_in_window(const Decision& open, Collective collective, BlockOfCall& block,
                                  Course& course, int& error);
  const Decision& close_outside(const Decision& open, Collective collective, BlockOfCall& block,
                                int& error);
  const Decision& close_leaders(const Decision& open, Collective collective, BlockOfCall& block,
                                int& error);
  int find_leaders(const Key& key, const BlockOfCall& block, int& leaders);
  int find_block(Collective collective, const BlockOfCall& own, std::optional<Bytes>& block);
  int begin_trial(const Decision& open, const Key& key, const BlockOfCall& block, Contest& contest);
  int find_ways(const Decision& open, const Key& key, const BlockOfCall& block, Contest& contest);
  static Decision& add_way(Contest& contest);
  int add_levels(const Key& key, std::optional<Bytes> size, Contest& contest);
  int add_order(const Key& key, std::optional<Bytes> size, Contest& contest);
  [[nodiscard]] bool goes_by_root(Collective collective) const;
  Rank root_of(Collective collective, Rank root);
  void note_root(Rank root);
  int end_trials(Course& course);
  int end_trial(Contest& contest);
  static void abandon(Course& course);
  static Decision flat(const Decision& open);
  const Decision& begin_call(const BlockOfCall& block, Contest& contest, int& error);

  Communicator& communicator_;
  LevelNodes nodes_;
  unsigned calls_ = 0;
  std::array<std::optional<Bytes>, all_collectives.size()> latest_;
  std::array<Rank, all_collectives.size()> latest_root_{};
  /// Of calls that go through nodes in any case: how many leaders they have, and the decisions by
  /// that and by what they were closed from: one about operations that commute, and one about
  /// others, are of the same collective and epoch.
  std::map<Key, int> leaders_;
  std::map<std::pair<const Decision*, int>, Decision> through_nodes_;
  std::map<Key, Contest> contests_;
  std::vector<Contest*> numbered_;
  std::array<Course, all_collectives.size()> courses_;
  std::vector<Rank> roots_;   ///< of calls whose orders are looked for
  Contest* tried_ = nullptr;  ///< whose trial the call under way is part of
  double began_ = 0;
  Bytes bytes_ = 0;
};

}  // namespace tutti
