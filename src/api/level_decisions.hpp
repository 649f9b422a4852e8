/// Which calls of a communicator go through node memory without being asked to, and by how many
/// leaders.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "api/communicator.hpp"
#include "choose/levels.hpp"
#include "core/nodes.hpp"

namespace tutti {

/// Decisions by collective and block, made once for all blocks between two powers of two, where
/// both ends of the range must gain. As long as the communicator.
class LevelDecisions {
 public:
  /// `communicator` must outlive this.
  explicit LevelDecisions(Communicator& communicator) : communicator_(communicator) {}
  ~LevelDecisions();
  LevelDecisions(const LevelDecisions&) = delete;
  LevelDecisions& operator=(const LevelDecisions&) = delete;

  /// See Communicator::close_level. The first calls of a communicator stay flat, so that one with
  /// few calls never pays for what the level needs. After them nodes are guessed, at the cost of
  /// one small allgather; they are opened where a call is to go through them, if all ranks can, for
  /// a limited number of communicators at a time. All calls after that are O(1) but for the first
  /// one of its range and collective. Alike on all ranks, and most likely so on one whose arguments
  /// are bad: its block is taken to be that of the call before.
  const Decision& close(const Decision& open, Collective collective, std::optional<Bytes> block,
                        int& error);

 private:
  struct Closed {
    bool made = false;
    Decision decision;
  };
  /// By the power of two, and one for blocks that are not known.
  using Table = std::array<Closed, 65>;

  int guess();
  int open_nodes();
  int take_nodes();
  int make(const Decision& open, Collective collective, std::optional<Bytes> block,
           Decision& decision);
  [[nodiscard]] LevelChoice choose(Collective collective, std::optional<Bytes> block) const;
  [[nodiscard]] LevelSituation situation(Collective collective, std::optional<Bytes> block) const;
  [[nodiscard]] bool fits(Collective collective, Bytes block, int leaders) const;

  Communicator& communicator_;
  unsigned calls_ = 0;
  std::array<std::optional<Bytes>, all_collectives.size()> latest_;
  std::optional<Nodes> nodes_;
  bool are_open_ = false;    ///< nodes_ are those that share memory
  bool is_counted_ = false;  ///< among those opened without being asked to
  bool gave_up_ = false;
  std::array<std::unique_ptr<Table>, all_collectives.size()> tables_;
};

}  // namespace tutti
