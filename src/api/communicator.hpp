/// A communicator of the program and its ranks' agreed settings.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "api/call_state.hpp"
#include "api/distance_orders.hpp"
#include "api/environment.hpp"
#include "report/call_log.hpp"
#include "run/arrival/mpi_arrival.hpp"
#include "run/call/mpi_reduction.hpp"
#include "run/communicator/mpi_communicator.hpp"
#include "run/hierarchical/mpi_hierarchical.hpp"
#include "run/hierarchical/mpi_shared.hpp"
#include "run/mpi/types.hpp"
#include "select/decision.hpp"
#include "select/passing_calls.hpp"

namespace tutti {

/// The arrivals that all ranks expect in a call; null: unknown.
using Profile = std::shared_ptr<const ArrivalEpoch>;

/// The mean block, rounded up, of a call whose ranks have blocks of `sum` bytes altogether. A block
/// that an alltoallv leaves with its rank does not count, because nothing moves it.
[[nodiscard]] constexpr Bytes mean_of_blocks(Collective collective, Bytes sum, int p) {
  const int of_each = block_kind(collective) == BlockKind::pairs && p > 1 ? p - 1 : 1;
  const Bytes blocks = Bytes{p} * of_each;
  return (sum + blocks - 1) / blocks;
}

/// What all ranks of a communicator have from its rank 0.
struct AgreedSettings {
  SharedSettings settings;
  std::uint64_t id = 0;        ///< of the communicator, unique in the job
  bool is_reported = false;    ///< does the environment ask for a report?
  bool had_distances = false;  ///< were distances named when the communicator was first used?
};

class Communicator;
class Selections;

/// Kept as an attribute of the program's communicator, and closed when that is freed. Calls keep it
/// alive, because the program's error handler may free it.
class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  /// The Communicator of `comm`, which must be valid; also for those that Tutti
  /// leaves to the MPI (stays_native). Collective at the first call on each communicator, where
  /// rank 0's environment becomes that of all ranks. Null with an MPI error code in `error`.
  static Communicator* of(MPI_Comm comm, int& error);
  /// The same for a function that these do not have, which returns the error code.
  static int intra(MPI_Comm comm, Communicator*& found) {
    int error = MPI_SUCCESS;
    found = of(comm, error);
    return found != nullptr && found->stays_native() ? MPI_ERR_COMM : error;
  }
  /// The same without making one: null if there is none yet.
  static Communicator* known(MPI_Comm comm);
  /// The same of those of late; null if it is not among them. Local, O(1).
  [[gnu::always_inline]] static Communicator* of_late(MPI_Comm comm) noexcept {
    const tutti_passing* const record =
        tutti_recent_record(this_process.recent.load(std::memory_order_acquire), handle_bits(comm));
    return record == nullptr ? nullptr : static_cast<Communicator*>(record->owner);
  }
  /// Begins a call that goes to the MPI whatever its arguments are, according to earlier calls of
  /// this collective. If Tutti has to inspect them, returns false and begins nothing. Local.
  [[gnu::always_inline]] static bool hands_on(MPI_Comm comm, Collective collective) noexcept {
    return tutti_passes(this_process.recent.load(std::memory_order_acquire), handle_bits(comm),
                        static_cast<int>(collective)) != 0;
  }
  /// Passes the next calls of a collective straight to the MPI, as far as they need no inspection
  /// after one that ends now, whose decision was `usual` before it was resolved. Do they pass by
  /// their signatures?
  bool let_pass(const Decision& usual, Collective collective);
  /// The calls that pass, and their signatures.
  [[nodiscard]] PassingCalls& passing() { return passing_; }
  /// Inspects all calls again, and counts those that have passed. Local.
  void stop_passing();
  void stop_passing(Collective collective);
  /// Call it when a communicator is freed or a setting changes.
  static void note_change();
  /// Call it before a call is inspected: settings or communicators may have changed. The next calls
  /// find this communicator at once.
  void look_again() {
    record_.remember();
    if (!passing_.is_current(generation())) stop_passing();
  }
  ~Communicator();

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] int p() const { return p_; }
  /// Is it between two groups, or has it processes of another MPI_COMM_WORLD, which may run without
  /// Tutti? Equal on all ranks.
  [[nodiscard]] bool stays_native() const { return native_; }
  [[nodiscard]] const Machine& machine() const { return agreement_.settings.machine; }
  [[nodiscard]] PlanSettings plan_settings() const {
    return {agreement_.settings.memory, machine().half_performance_length(),
            1 / machine().per_byte};
  }
  /// Must equal reductions give equal bits?
  [[nodiscard]] bool is_reproducible() const { return agreement_.settings.reproducible; }
  [[nodiscard]] bool is_reported() const { return agreement_.is_reported; }
  [[nodiscard]] const AgreedSettings& agreed() const { return agreement_; }
  /// The number of the call of `collective` that begins now, equal on all ranks.
  std::uint64_t next_call(Collective collective) { return calls_[collective]++; }
  /// Must this reduction operation always get whole vectors?
  [[nodiscard]] bool takes_whole(MPI_Op op) const {
    return !agreement_.settings.split_user_ops && is_programs_own(op);
  }
  /// What selects for this communicator.
  [[nodiscard]] Selections& selections() { return *selections_; }
  /// The text of what ran last, or empty.
  [[nodiscard]] const std::string& last(Collective collective);
  /// Notes what runs, with `more` appended. Copies the text, because requests and decisions may end
  /// before it is read.
  void note_algorithm(Collective collective, const std::string& text, std::string_view more = {}) {
    passing_.note_inspected(collective);
    std::string& last = last_[collective];
    if (last != text) last = text;  // mostly it is the same
    last += more;
  }
  /// Notes that a call with a hierarchical `decision` runs flat, for the reason `why`.
  void note_refusal(Collective collective, const Decision& decision, const std::string& why);
  /// Makes the private duplicate at first use. Collective. Returns an MPI error code.
  int open_private();
  /// The private duplicate, which is open.
  [[nodiscard]] PrivateComm& private_comm() { return *private_; }
  /// Some rank has no private duplicate: from now on none has one. `error` is this rank's, if it
  /// has none. Leaks those that there are, as only all ranks together could free them.
  void give_up_private(int error);
  /// Counts a call on the private duplicate, if there is one, whatever the call runs: ranks whose
  /// arguments are invalid may run something else, and the tags of later calls must agree. If the
  /// decision has an algorithm, run_specification() or end_elsewhere() must follow, once, unless an
  /// error ends the call before. Local.
  void count(MpiCall& call, const Decision& selected) {
    if (!private_ || call.begun) return;
    count_passed();
    private_->begin(call);
    if (!selected.specification) private_->give_up();  // it never runs there
  }
  /// A counted call has run elsewhere: only now may the background thread begin the next one. Does
  /// nothing if it was not counted, or if count() has ended it. Local.
  void end_elsewhere(const MpiCall& call, const Decision& selected) {
    if (private_ && call.begun && selected.specification) private_->give_up();
  }
  /// See PrivateComm. Local.
  void receive_nothing_unexpected() {
    if (private_) private_->receive_nothing_unexpected();
  }

  /// Sets `found` to the rank orders of a specification by distance, which live as long as the
  /// communicator; null if it needs none, or if distances of these ranks are unknown. Collective at
  /// the first call with a specification and root. Returns an MPI error code.
  /// With `nodes` the orders are those of nodes, for algorithms between them.
  int rank_orders(const Specification& specification, Rank root, const RankOrders*& found,
                  const Nodes* nodes = nullptr);
  /// Finds orders by the distances that rank 0 gives, else by those that it knows, the first time:
  /// collective then. Other ranks read none: they take p^2 numbers. Returns an MPI error code.
  int open_distances(std::shared_ptr<const DistanceFile> distances = nullptr);
  [[nodiscard]] bool has_open_distances() const { return distances_ != nullptr; }
  /// The orders by distance, once they are open.
  [[nodiscard]] DistanceOrders& distances() { return *distances_; }
  [[nodiscard]] MPI_Comm handle() const { return comm_; }
  [[nodiscard]] const NodeSettings& node_settings() const { return node_settings_; }
  /// Makes what runs hierarchical calls, over the private duplicate, at first use. Collective.
  /// Returns an MPI error code.
  int open_hierarchical();
  /// What runs them, once it is open.
  [[nodiscard]] HierarchicalRunner& hierarchical() { return *hierarchical_; }
  /// Drops the hierarchical runner; the next use makes a new one. On all ranks.
  void forget_hierarchical() { hierarchical_.reset(); }
  [[nodiscard]] SharedResults& shared_results() { return shared_results_; }

  /// The exchange of arrivals; null until it is opened.
  [[nodiscard]] const std::shared_ptr<Arrival>& arrival() const { return arrival_; }
  /// Starts the exchange of arrivals, unless MPI has begun to end, and makes the private duplicate,
  /// so that exploration need not pay for it. Collective. Returns an MPI error code.
  int open_arrival();
  /// Ends it, step by step as Arrival::try_close, or at once.
  bool try_close_arrival();
  void close_arrival();
  /// Does rank 0's environment ask for the background thread?
  [[nodiscard]] bool wants_background() const { return agreement_.settings.background; }

  /// Ends what ranks exchange between calls. Collective.
  void end_exchanges();
  /// Frees what belongs to MPI while it still runs. Collective.
  void close();
  /// The program has freed the MPI's communicator.
  void note_freed() {
    is_freed_ = true;
    note_change();
  }
  [[nodiscard]] bool is_freed() const { return is_freed_; }

 private:
  Communicator();
  static int create(MPI_Comm comm, std::shared_ptr<Communicator>& made);
  int agree();

  static unsigned generation() { return this_process.generation.load(); }

  /// Counts what has passed since the last time as count() does.
  void count_passed() { private_->skip(passing_.take_uncounted()); }

  PassingRecord record_;
  PassingCalls passing_{record_.get()};
  MPI_Comm comm_{};
  Rank rank_ = 0;
  int p_ = 1;
  bool native_ = false;
  bool is_freed_ = false;
  AgreedSettings agreement_;
  PerCollective<std::uint64_t> calls_{};
  PerCollective<std::string> last_;
  std::unique_ptr<DistanceOrders> distances_;
  std::unique_ptr<PrivateComm> private_;
  int private_error_ = 0;  ///< why there can be none
  NodeSettings node_settings_;
  std::unique_ptr<Selections> selections_;
  SharedResults shared_results_;
  std::unique_ptr<HierarchicalRunner> hierarchical_;  ///< over the private one
  std::shared_ptr<Arrival> arrival_;
};

/// The hierarchical runner of a resolved decision; null if it is flat. The caller holds a
/// HierarchicalRunner::Turn on it, because other ranks of its node wait for this one.
[[nodiscard]] inline HierarchicalRunner* nodes_of(const Decision& decision,
                                                  Communicator& communicator) {
  const bool is_open =
      decision.level.hierarchical && communicator.open_hierarchical() == MPI_SUCCESS;
  return is_open ? &communicator.hierarchical() : nullptr;
}

/// Runs a function as far as memory suffices, where there is nobody to return an error to.
template <class Function>
void attempt(Function function) {
  try {
    function();
  } catch (const std::bad_alloc&) {
    // What stays open ends with the process, and what it would have recorded is lost.
  }
}

/// Writes the report, closes what is open on all communicators and ends the background thread. Call
/// it on all ranks while MPI still works; a second call does nothing.
void prepare_end_of_mpi();

}  // namespace tutti
