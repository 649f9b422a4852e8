/// Asking the model about nodes that are known, guessed or opened.
#include "api/level_decisions.hpp"

#include <atomic>
#include <bit>

#include "passes/levels.hpp"
#include "run/mpi_agree.hpp"
#include "run/mpi_node_names.hpp"

namespace tutti {

namespace {

/// Before that many calls of a communicator nothing is done for its level.
constexpr unsigned calls_at_first = 8;

/// Programs that have more communicators in use at a time need what these would take.
constexpr int most_opened = 64;
std::atomic<int> opened = 0;

constexpr std::size_t unknown = 64;

/// Blocks of (2^(n-1), 2^n] bytes; 0 of none, 1 of one byte.
std::size_t range_of(std::optional<Bytes> block) {
  if (!block) return unknown;
  if (*block <= 0) return 0;
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(*block - 1))) + 1;
}

Bytes largest_of(std::size_t range) { return range == 0 ? 0 : Bytes{1} << (range - 1); }
Bytes least_of(std::size_t range) {
  return range < 2 ? largest_of(range) : largest_of(range - 1) + 1;
}

}  // namespace

LevelDecisions::~LevelDecisions() {
  if (is_counted_) --opened;
}

const Decision& LevelDecisions::close(const Decision& open, Collective collective,
                                      std::optional<Bytes> block, int& error) {
  error = MPI_SUCCESS;
  std::optional<Bytes>& latest = latest_[static_cast<std::size_t>(collective)];
  if (block) latest = block;
  block = latest;
  if (open.open == OpenLevel::all && calls_ < calls_at_first) {
    ++calls_;
    return open;
  }
  std::unique_ptr<Table>& table = tables_[static_cast<std::size_t>(collective)];
  if (table == nullptr) table = std::make_unique<Table>();
  Closed& closed = (*table)[range_of(block)];
  if (closed.made && closed.decision.epoch == open.epoch) return closed.decision;
  error = make(open, collective, block, closed.decision);
  closed.made = error == MPI_SUCCESS;
  return closed.decision;
}

/// Sets `decision` to `open` without what that leaves open.
int LevelDecisions::make(const Decision& open, Collective collective, std::optional<Bytes> block,
                         Decision& decision) {
  decision = open;
  decision.open = OpenLevel::none;
  if (open.open == OpenLevel::leaders) {
    if (const int error = take_nodes()) return error;
    decision.level.leaders =
        leaders_for(situation(collective, block), communicator_.node_machine());
    return MPI_SUCCESS;
  }
  if (const int error = guess()) return error;
  LevelChoice choice = choose(collective, block);
  if (choice.level.node && !are_open_ && !gave_up_) {
    if (const int error = open_nodes()) return error;
    // Who cannot reach the memory of those beside it is a node of its own.
    choice = choose(collective, block);
  }
  // What stays flat is what it was in the report too; tutti explain says why.
  if (!choice.level.node || gave_up_) return MPI_SUCCESS;
  decision.level = choice.level;
  const Setting setting{Setting::Kind::native, {}, choice.level};
  decision.text = to_text(setting) + ": " + choice.reason;
  return MPI_SUCCESS;
}

int LevelDecisions::guess() {
  if (nodes_) return MPI_SUCCESS;
  Nodes guessed;
  const int error = guess_nodes(communicator_.handle(), communicator_.node_settings(), guessed);
  if (error == MPI_SUCCESS) nodes_ = std::move(guessed);
  return error;
}

/// Nobody asked for it: a rank that cannot keeps all of them flat, and is no error.
int LevelDecisions::open_nodes() {
  const MPI_Comm comm = communicator_.handle();
  bool all = false;
  int error = true_on_all(comm, opened < most_opened, all);
  if (error != MPI_SUCCESS) return error;
  if (all) {
    int own = MPI_SUCCESS;
    const bool is_open = communicator_.levels(own) != nullptr;
    error = true_on_all(comm, is_open, all);
    if (error != MPI_SUCCESS) return error;
    if (!all) communicator_.forget_levels();
  }
  gave_up_ = !all;
  if (gave_up_) return MPI_SUCCESS;
  is_counted_ = true;
  ++opened;
  return take_nodes();
}

/// Of those that are open, as for calls that are to go through them.
int LevelDecisions::take_nodes() {
  if (are_open_) return MPI_SUCCESS;
  int error = MPI_SUCCESS;
  LevelRunner* levels = communicator_.levels(error);
  if (levels == nullptr) return error;
  nodes_ = levels->node().nodes();
  are_open_ = true;
  return MPI_SUCCESS;
}

LevelSituation LevelDecisions::situation(Collective collective, std::optional<Bytes> block) const {
  const NodeShape shape = shape_of(*nodes_);
  return {
      collective, shape, block, true, least_shape_of(*nodes_), communicator_.crowding(shape.ranks)};
}

/// For all blocks of the same range.
LevelChoice LevelDecisions::choose(Collective collective, std::optional<Bytes> block) const {
  const NodeMachine& machine = communicator_.node_machine();
  const std::size_t range = range_of(block);
  if (!block || range == 0) return choose_level(situation(collective, block), machine);
  const Bytes largest = largest_of(range);
  LevelChoice choice = choose_level(situation(collective, largest), machine);
  if (!choice.level.node) return choice;
  if (!fits(collective, largest, choice.level.leaders)) {
    return {{}, "node memory would be too small but for chunks", {}};
  }
  const LevelChoice least = choose_level(situation(collective, least_of(range)), machine);
  return least.level.node ? choice : least;
}

/// Is there node memory for the whole call?
bool LevelDecisions::fits(Collective collective, Bytes block, int leaders) const {
  LevelCall call;
  call.collective = collective;
  call.leaders = leaders;
  call.sizes.each = block;
  if (is_irregular(collective))
    call.sizes.by_rank.assign(static_cast<std::size_t>(nodes_->p()), block);
  for (int node = 0; node < nodes_->count(); ++node) {
    if (level_memory(call, *nodes_, nodes_->rank_at(node, 0)) >
        communicator_.node_settings().memory) {
      return false;
    }
  }
  return true;
}

}  // namespace tutti
