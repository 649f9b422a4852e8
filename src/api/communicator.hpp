/// A communicator of the program and what its ranks have agreed on.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/distance_orders.hpp"
#include "cost/node_machine.hpp"
#include "run/arrival/mpi_arrival.hpp"
#include "run/call/mpi_reduction.hpp"
#include "run/communicator/mpi_communicator.hpp"
#include "run/hierarchical/mpi_hierarchical.hpp"
#include "run/hierarchical/mpi_shared.hpp"
#include "select/selection.hpp"

namespace tutti {

/// What a decision leaves open until the block of a call is known.
enum class DeferredLevel : std::uint8_t {
  none,
  leaders,  ///< through nodes, by as many leaders as the model finds best
  size,     ///< a stand-in for small blocks, the MPI's own for large ones
  all,      ///< flat or through nodes
};

/// What runs for one collective on one communicator. Alike on all its ranks.
struct Decision {
  unsigned epoch = ~0U;                        ///< of the settings that it was made under
  bool is_automatic = false;                   ///< nobody asked for it
  std::optional<Specification> specification;  ///< none: the MPI's own
  AlgorithmId mark = ran_native;               ///< stands for it where what calls take is compared
  Level level;
  DeferredLevel deferred = DeferredLevel::none;
  std::string text;  ///< "ordered_tree: why"
};

/// A call whose ranks have agreed on when they are expected. Alike on all of them.
struct ExpectedCall {
  Collective collective = Collective::gather;
  Rank root = 0;
  Bytes block = 0;  ///< see Features::block
  ProgressCapability progress_capability = ProgressCapability::none;
  std::shared_ptr<const ArrivalEpoch> profile;  ///< not null
};

/// What counts of a reduction's operation.
struct OperationTraits {
  bool commutative = true;
  bool whole = false;  ///< it is to get whole vectors
};

/// What a rank's arguments tell of a call's blocks.
struct BlockOfCall {
  std::optional<Bytes> common;  ///< of a block, where all ranks know it alike (see common_block)
  Rank root = 0;
  /// What this rank has, in all (see block_bytes). Asked of few calls, as it may take O(p).
  std::function<Bytes()> own;
};

class HierarchicalSelection;
class Communicator;

/// Most calls are on the communicator of the call before.
struct LatestCommunicator {
  MPI_Comm comm{};
  Communicator* communicator = nullptr;
  unsigned generation = 0;
};

/// Kept as an attribute of the program's communicator and freed with it.
class Communicator {
 public:
  /// That of `comm`, which must be valid. Collective at the first call on each communicator,
  /// where rank 0's environment becomes that of all. Null with an MPI error code in `error`, or
  /// null with MPI_SUCCESS where Tutti has no part in it (inter-communicators).
  static Communicator* of(MPI_Comm comm, int& error);
  /// The same without making one: null if there is none yet.
  static Communicator* known(MPI_Comm comm);
  /// Begins a call that goes to the MPI whatever its arguments are, as known from the calls of this
  /// collective before it. False, and nothing has begun, where the call has to be looked at.
  /// Touches few pages of memory: on a core that ranks share each one costs as much as all the
  /// rest. Local.
  static bool hands_on(MPI_Comm comm, Collective collective) noexcept {
    const LatestCommunicator& known = latest_;
    if (known.comm != comm || known.generation != generation_.load(std::memory_order_acquire)) {
      return false;
    }
    std::uint32_t& left = known.communicator->left_[static_cast<std::size_t>(collective)];
    if (known.communicator->left_since_ != known.generation || left == 0) return false;
    --left;
    return true;
  }
  /// Lets the next calls of a collective be handed on, as many as need not be looked at after the
  /// one of `decision` that ends now.
  void let_pass(const Decision& decision, Collective collective);
  /// Has all calls looked at again, counting those that have been handed on. Alike on all ranks.
  void stop_passing();
  void stop_passing(Collective collective);
  /// To be called where a communicator is freed or a setting changes.
  static void note_change() { ++generation_; }
  /// To be called before a call is looked at: settings or communicators may have changed.
  void look_again() {
    if (left_since_ != generation_.load(std::memory_order_acquire)) stop_passing();
  }
  ~Communicator();

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] int p() const { return p_; }
  [[nodiscard]] bool is_inter() const { return inter_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  /// Reductions: are equal calls to give equal bits?
  [[nodiscard]] bool is_reproducible() const { return is_reproducible_; }
  /// Does rank 0's environment ask for a report?
  [[nodiscard]] bool is_reported() const { return is_reported_; }
  /// Alike on all ranks, and no other communicator's in the job.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// The number of the call of `collective` that begins now, alike on all ranks.
  std::uint64_t next_call(Collective collective) {
    return calls_[static_cast<std::size_t>(collective)]++;
  }
  /// Is such an operation of a reduction always to get whole vectors?
  [[nodiscard]] bool takes_whole(MPI_Op op) const {
    return !splits_user_ops_ && is_programs_own(op);
  }
  /// What runs for `collective` now; of reductions by such an operation.
  const Decision& decide(Collective collective, const OperationTraits& operation = {});
  /// The same where the choice is Tutti's and arrivals count. Blocks between two powers of two are
  /// taken as one in between, or as the one that times were measured of, so that few calls of a
  /// profile are new: O(1) for those that are not, a replay of the candidates for those that are.
  const Decision& decide(const ExpectedCall& call);
  /// Does a call stay as `decision` leaves it, flat? Counts it if so. To be asked before
  /// resolve_level, as it needs no argument of the call and takes a few nanoseconds.
  bool stays_flat(const Decision& decision, Collective collective);
  /// What leaves nothing open in the place of what does. Collective as
  /// HierarchicalSelection::resolve is. Sets `error` to an MPI error code.
  const Decision& resolve_level(const Decision& decision, Collective collective,
                                const BlockOfCall& block, int& error);
  /// `asked`, which goes through nodes; where each node has one rank, the same without them.
  /// Collective at the first call. Sets `error` to an MPI error code.
  const Decision& hierarchical_fallback(const Decision& asked, int& error);
  /// To be called when a call is over that may have been closed so.
  void end_hierarchical_call();
  /// Does a profile say enough to weigh more than the MPI's own: that ranks are far apart, or how
  /// long the MPI's own takes?
  [[nodiscard]] bool weighs(const ArrivalEpoch& profile) const;
  /// What ran last, or empty.
  [[nodiscard]] const std::string& last(Collective collective) const {
    return last_[static_cast<std::size_t>(collective)];
  }
  /// Copies what may go before the next question: requests do, and decisions that are forgotten.
  /// `more` is put at the end of it.
  void note_algorithm(Collective collective, const std::string& text, std::string_view more = {}) {
    std::string& last = last_[static_cast<std::size_t>(collective)];
    if (last != text) last = text;  // mostly it is the same
    last += more;
  }
  /// Notes that a call runs flat that `decision` sent through nodes, as it was refused there.
  void note_refusal(Collective collective, const Decision& decision, const std::string& why);
  /// The private duplicate; made at the first need. Collective.
  PrivateComm* private_comm(int& error);
  /// See PrivateComm. Local.
  void receive_nothing_unexpected() {
    if (private_) private_->receive_nothing_unexpected();
  }

  /// The orders for a specification by distance; null where it asks for none, or no distances of
  /// these ranks are known. Collective at the first call with a specification and root, and there
  /// as long as the communicator. Sets `error` to an MPI error code.
  const RankOrders* rank_orders(const Specification& specification, Rank root, int& error);
  /// The same of nodes, for what runs between them.
  const RankOrders* rank_orders_between(const Specification& specification, Rank root,
                                        const Nodes& nodes, int& error);
  /// What is known of distances. Collective at the first call. Null with an MPI error code.
  DistanceOrders* distances(int& error);
  /// Did rank 0 know any when the communicator was first used?
  [[nodiscard]] bool had_distances() const { return had_distances_; }
  [[nodiscard]] MPI_Comm handle() const { return comm_; }
  [[nodiscard]] const NodeSettings& node_settings() const { return node_settings_; }
  [[nodiscard]] const NodeMachine& node_machine() const { return node_machine_; }
  /// Ranks to each processor of a node with so many of this communicator, at least.
  [[nodiscard]] double oversubscription(int ranks) const {
    return std::max(oversubscription_, ranks / processors_);
  }
  /// Its nodes, made at the first need, over the private duplicate. Collective.
  HierarchicalRunner* levels(int& error);
  /// To be made anew at the next need. On all ranks.
  void forget_hierarchical() { levels_.reset(); }
  [[nodiscard]] SharedResults& shared_results() { return shared_results_; }

  /// What is known of arrivals; null as long as nobody has asked for it.
  [[nodiscard]] const std::shared_ptr<Arrival>& arrival() const { return arrival_; }
  /// From now on arrivals are exchanged, but not where MPI has begun to end. Collective. Returns an
  /// MPI error code.
  int open_arrival();
  /// The same step by step, as Arrival::try_close.
  bool try_close_arrival();
  void close_arrival();
  /// Does rank 0's environment ask for the background thread?
  [[nodiscard]] bool wants_background() const { return wants_background_; }

  /// Frees what belongs to MPI while it still runs. Collective.
  void close();

 private:
  Communicator();
  static int create(MPI_Comm comm, std::unique_ptr<Communicator>& made);
  int agree();
  [[nodiscard]] Features features_of(Collective collective) const;
  [[nodiscard]] Features features_of(const ExpectedCall& call, Bytes block) const;
  [[nodiscard]] Decision decision_by_picture(const ExpectedCall& call, Bytes block);
  [[nodiscard]] static Decision decision_for(const Choice& choice);

  inline static constinit thread_local LatestCommunicator latest_{};
  /// Goes up by note_change().
  inline static constinit std::atomic<unsigned> generation_{1};

  unsigned left_since_ = 0;  ///< the generation that `left_` holds for
  std::array<std::uint32_t, all_collectives.size()> left_{};  ///< calls that may be handed on
  std::array<std::uint32_t, all_collectives.size()> let_{};   ///< as many as there were at first

  struct ExpectedDecision {
    ExpectedCall call;
    Decision decision;
  };

  MPI_Comm comm_{};
  Rank rank_ = 0;
  int p_ = 1;
  bool inter_ = false;
  bool is_reported_ = false;
  bool wants_background_ = false;
  std::uint64_t id_ = 0;
  std::array<std::uint64_t, all_collectives.size()> calls_{};
  Machine machine_;
  bool native_spins_ = false;              ///< a node has more ranks than processors, too
  MpiFamily family_ = MpiFamily::unknown;  ///< rank 0's
  bool is_reproducible_ = false;
  bool splits_user_ops_ = false;
  bool had_distances_ = false;
  std::array<Setting, all_collectives.size()> settings_;
  std::array<Decision, all_collectives.size()> decisions_;
  std::array<Decision, all_collectives.size()> not_commutative_;
  std::array<std::array<Decision, 2>, all_collectives.size()> whole_;  ///< by whether it commutes
  std::array<Decision, all_collectives.size()> of_large_blocks_;  ///< where DeferredLevel::size
  std::array<ExpectedDecision, 16> expected_;
  std::size_t next_expected_ = 0;
  std::array<std::string, all_collectives.size()> last_;
  std::unique_ptr<DistanceOrders> distances_;
  std::unique_ptr<PrivateComm> private_;
  int private_error_ = 0;  ///< there can be none
  NodeSettings node_settings_;
  NodeMachine node_machine_;
  double processors_ = 1;        ///< at most so many are on rank 0's node
  double oversubscription_ = 0;  ///< ranks of the job to each, where they are most; 0: not known
  std::unique_ptr<HierarchicalSelection> hierarchical_selection_;
  std::map<const Decision*, Decision> fallbacks_;  ///< by what was asked for
  SharedResults shared_results_;
  std::unique_ptr<HierarchicalRunner> levels_;  ///< over the private one
  std::shared_ptr<Arrival> arrival_;
};

/// What runs for a call by a decision that may leave its level open. Collective as
/// Communicator::resolve_level is. Sets `error` to an MPI error code.
template <class Call>
const Decision& resolved(const Decision& decision, const Call& call, Communicator& communicator,
                         int& error) {
  error = MPI_SUCCESS;
  if (decision.level.hierarchical) {
    const Decision& asked = communicator.hierarchical_fallback(decision, error);
    if (error != MPI_SUCCESS || &asked != &decision) return asked;
  }
  if (decision.deferred == DeferredLevel::none) return decision;
  if (communicator.stays_flat(decision, call.collective)) return decision;
  // Two captured addresses fit into the function object, so that this allocates nothing.
  const BlockOfCall block{common_block(call, communicator), call.root,
                          [&call, &communicator] { return block_bytes(call, communicator); }};
  return communicator.resolve_level(decision, call.collective, block, error);
}

/// The nodes whose ranks wait for this one in a call by such a decision, which was closed; null
/// where none do. For the turn of who runs the call, whatever comes before the nodes.
[[nodiscard]] inline HierarchicalRunner* nodes_of(const Decision& decision,
                                                  Communicator& communicator) {
  int error = MPI_SUCCESS;
  return decision.level.hierarchical ? communicator.levels(error) : nullptr;
}

/// Writes the report, closes what is open on all communicators and ends the background thread. To
/// be called while MPI still works, where all ranks end it; does nothing the second time.
void prepare_end_of_mpi();

/// Settings made by TUTTI_Algorithm_set, which overrule the environment's from then on.
void overrule(Collective collective, const Setting& setting);
/// The setting in force in this process, the environment's unless it was overruled.
[[nodiscard]] Setting setting_in_force(Collective collective);

}  // namespace tutti
