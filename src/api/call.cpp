/// Checks arguments, runs what is selected for them, and describes calls for the report.
#include "api/call.hpp"

#include <algorithm>

#include "api/report.hpp"
#include "run/clock.hpp"
#include "run/mpi/types.hpp"

namespace tutti {

namespace {

Bytes element_size(const CallSide& side, Rank rank) {
  MPI_Count size = 0;
  if (side.blocks.count(rank) > 0) mpi().Type_size_x(side.type_for(rank), &size);
  return size;
}

/// Calls visit(rank, bytes) for the first blocks of a side.
template <class Visit>
void for_each_block(const CallSide& side, int blocks, Visit visit) {
  Bytes element = element_size(side, 0);
  for (Rank rank = 0; rank < blocks; ++rank) {
    if (side.types != nullptr || element == 0) element = element_size(side, rank);
    visit(rank, side.blocks.count(rank) * element);
  }
}

/// The mean over `ranks` blocks of a side; none if arguments are invalid.
std::optional<Bytes> mean_block(const CallSide& side, int ranks) {
  if (side.types != nullptr || !side.looks_valid(ranks)) return {};
  MPI_Count size = 0;
  if (mpi().Type_size_x(side.type, &size) != MPI_SUCCESS) return {};
  return side.blocks.total(ranks) * size / ranks;
}

/// Bytes of the rank's block in a gather or scatter; none if its arguments are invalid.
std::optional<Bytes> own_block(const MpiCall& call, const Communicator& communicator) {
  // A root whose root buffer is invalid knows its block all the same.
  if (!call.in_place()) return mean_block(call.own(), 1);
  if (!looks_valid(call, communicator)) return {};
  MPI_Count size = 0;
  if (mpi().Type_size_x(call.whole().type, &size) != MPI_SUCCESS) return {};
  return call.whole().blocks.count(communicator.rank()) * size;
}

/// May the copies of an exchange in place exceed the bound? Of an alltoallv no rank knows how much
/// others copy.
bool copies_too_much(const MpiCall& call, const Communicator& communicator) {
  if (!call.copies_first()) return false;
  const Bytes bound = communicator.plan_settings().staging;
  const Bytes block = common_block(call, communicator).value_or(0);
  return is_irregular(call.collective) || (bound > 0 && block * communicator.p() > bound);
}

}  // namespace

CallSignature signature_of(const MpiCall& call, Rank rank, int p) {
  // As in its size: what a rank sends to itself does not count.
  const bool is_by_pair = block_kind(call.collective) == BlockKind::pairs;
  const auto elements = [&](const CallSide& side) {
    if (side.blocks.are_equal()) return static_cast<std::uint64_t>(side.blocks.count(0));
    const bool all_know = !has_root(call.collective) && side.address != MPI_IN_PLACE;
    if (!all_know) return std::uint64_t{0};
    const MPI_Count kept = is_by_pair ? side.blocks.count(rank) : 0;
    return static_cast<std::uint64_t>(side.blocks.total(p) - kept);
  };
  const bool is_reduction = reduces(call.collective);  // both of whose sides have the same counts
  return {2 * handle_bits(call.op) + (call.in_place() ? 1 : 0),
          is_reduction ? 0 : elements(call.send), handle_bits(call.send.type),
          elements(call.receive), handle_bits(call.receive.type)};
}

int fault_of(const MpiCall& call, const Communicator& communicator) {
  const Rank rank = communicator.rank();
  const int p = communicator.p();
  const bool is_rooted = has_root(call.collective);
  if (is_rooted && (call.root < 0 || call.root >= p)) return MPI_ERR_ROOT;
  // Rooted collectives but a bcast allow MPI_IN_PLACE at the root only.
  const bool is_elsewhere = is_rooted && call.collective != Collective::bcast && rank != call.root;
  if (is_elsewhere && call.in_place()) return MPI_ERR_ARG;
  for (const CallSide* side : {&call.send, &call.receive}) {
    const bool counts = side == &call.send ? call.sends(rank) : call.receives(rank);
    if (!counts || side->looks_valid(p)) continue;
    if (!side->blocks.are_given()) return MPI_ERR_ARG;
    return side->blocks.are_counted(p) ? MPI_ERR_TYPE : MPI_ERR_COUNT;
  }
  return MPI_SUCCESS;
}

std::optional<Bytes> common_block(const MpiCall& call, const Communicator& communicator) {
  if (call.collective == Collective::barrier) return 0;
  if (!is_block_common(call.collective)) return {};
  if (is_gather_or_scatter(call.collective)) return own_block(call, communicator);
  const int ranks = is_irregular(call.collective) ? communicator.p() : 1;
  const auto block = mean_block(call.receive, ranks);
  const bool send_decides = call.sends(communicator.rank()) && ranks == 1;
  return block || !send_decides ? block : mean_block(call.send, ranks);
}

bool may_explore(const MpiCall& call, const Decision& decision, const Communicator& communicator) {
  if (decision.is_automatic && copies_too_much(call, communicator)) return false;
  if (!reduces(call.collective)) return true;
  if (communicator.takes_whole(call.op)) return false;
  return !decision.is_automatic || is_order_free(call.op, call.receive.type);
}

Bytes block_bytes(const MpiCall& call, const Communicator& communicator) {
  if (is_gather_or_scatter(call.collective)) return own_block(call, communicator).value_or(0);
  if (!looks_valid(call, communicator)) return 0;
  Bytes sum = 0;
  for_each_block(call.contribution(), communicator.p(), [&](Rank rank, Bytes bytes) {
    if (rank != communicator.rank()) sum += bytes;
  });
  return sum;
}

namespace {

/// Fills in a call's root and sizes. A rank's own bytes are those of its block or blocks, of a
/// bcast those of the vector.
void describe(const MpiCall& call, CallRecord& record) {
  record.root = call.root;
  const BlockKind kind = block_kind(call.collective);
  const bool at_root = record.rank == record.root;
  const bool is_rooted = is_gather_or_scatter(call.collective);
  const bool has_all = kind == BlockKind::pairs || reduces(call.collective);
  if (at_root) record.total = record.largest = 0;
  if (kind == BlockKind::none) return;
  const CallSide& sent = call.contribution();
  if (!has_all) {
    const Rank mine = call.in_place() ? record.rank : 0;
    record.own = sent.blocks.count(mine) * element_size(sent, mine);
    if (!at_root) return;
  }
  const CallSide& all = is_rooted ? call.whole() : kind == BlockKind::pairs ? sent : call.receive;
  Bytes sum = 0;
  Bytes largest = 0;
  for_each_block(all, kind == BlockKind::parts ? 1 : record.p, [&](Rank rank, Bytes bytes) {
    sum += bytes;
    largest = std::max(largest, bytes);
    if (call.collective != Collective::alltoallv) return;
    if (rank == record.rank) record.kept = bytes;
    if (rank != record.rank) record.largest_sent = std::max(record.largest_sent, bytes);
  });
  if (has_all) record.own = sum;
  if (!at_root) return;
  record.total = sum;
  record.largest = largest;
}

/// Does its signature decide on the size of a valid call? Handles of the program's own types and
/// operations may be freed and used again, and it has no counts that only a root knows.
bool signature_determines_size(const MpiCall& call, const Communicator& communicator) {
  const Rank rank = communicator.rank();
  const auto is_plain = [](const CallSide& side) {
    return side.types == nullptr && is_named(side.type);
  };
  const bool root_alone_knows = is_irregular(call.collective) && has_root(call.collective);
  return !(root_alone_knows && call.in_place()) &&
         (!reduces(call.collective) || !is_programs_own(call.op)) &&
         (!call.sends(rank) || is_plain(call.send)) &&
         (!call.receives(rank) || is_plain(call.receive)) &&
         (!is_block_common(call.collective) || common_block(call, communicator));
}

/// Some MPIs accept the receive buffer of a reduction as the send buffer. Tutti treats it like
/// MPI_IN_PLACE.
void accept_one_buffer(MpiCall& call, const Communicator& communicator) {
  const bool receives = has_result(call.collective, communicator.rank(), call.root);
  if (receives && call.send.address == call.receive.address) call.send.address = MPI_IN_PLACE;
}

bool uses_unexpected_messages(const Specification& specification, const ArrivedCall* arrived) {
  return specification.runner == Runner::background && arrived != nullptr && arrived->has_thread();
}

}  // namespace

int learn_arrivals(Communicator& communicator, const Decision& decision) {
  if (!communicator.wants_background()) return MPI_SUCCESS;
  const bool useful =
      decision.follows_profiles() || decision.uses_arrivals || decision.uses_background();
  return useful ? communicator.open_arrival() : MPI_SUCCESS;
}

Communicator* begin_call(MPI_Comm comm, CallRecord& record, int& error) {
  if (Inside::another() || !environment().on || comm == mpi().comm_null || is_being_freed(comm)) {
    return nullptr;
  }
  Communicator* communicator = Communicator::known(comm);
  const bool is_known = communicator != nullptr;
  if (!is_known) {
    record.arrival = monotonic_seconds();  // what follows may wait for other ranks
    communicator = Communicator::of(comm, error);
  }
  if (communicator == nullptr) return nullptr;
  communicator->look_again();
  if (communicator->stays_native()) return nullptr;
  if (!communicator->is_reported()) return communicator;
  record.site = program_site(record.site);
  if (is_known) record.arrival = monotonic_seconds();
  return communicator;
}

void keep_record(const MpiCall& call, const Communicator& communicator, const Arrival* arrival,
                 CallRecord record) {
  record.exit = monotonic_seconds();
  if (arrival != nullptr) {
    const CallPrediction prediction = arrival->prediction_of_call();
    record.ahead = prediction.ahead;
    record.progress_hint = prediction.progress_hint;
  }
  record.collective = call.collective;
  record.communicator = communicator.agreed().id;
  record.rank = communicator.rank();
  record.p = communicator.p();
  describe(call, record);
  record_call(record);
}

std::string text_of_instead(const Specification* ran, const Specification& asked) {
  return (ran == nullptr ? "native" : to_text(*ran)) + ": " + to_text(asked) +
         " would exceed TUTTI_MEMORY";
}

int run_specification(MpiCall& call, Communicator& communicator, const Specification& specification,
                      const ArrivedCall* arrived, bool& is_native) {
  int error = communicator.open_private();
  if (error != MPI_SUCCESS) return error;
  PrivateComm& comm = communicator.private_comm();
  comm.begin(call);
  if (uses_unexpected_messages(specification, arrived)) comm.receive_unexpected();
  // The MPI's own algorithm need not give the same bits again.
  if (reduces(call.collective) && communicator.is_reproducible()) call.bounded = false;
  const bool valid = looks_valid(call, communicator);
  const auto ended = [&](int result) {
    if (const auto& ran = comm.ran_instead()) {
      communicator.note_algorithm(call.collective, text_of_instead(&*ran, specification));
    }
    return result;
  };
  if (valid && comm.repeat(call, specification, error)) return ended(error);
  Profile epoch;
  CallContext context;
  if (arrived != nullptr) {
    error = arrived->find_epoch(specification, communicator.rank() == call.root, epoch);
    if (error != MPI_SUCCESS) return error;
    context.arrival = communicator.arrival();
    context.number = arrived->number();
  }
  error = communicator.rank_orders(specification, call.root, context.rank_orders);
  if (error != MPI_SUCCESS) return error;
  context.epoch = epoch.get();
  const bool is_known = valid && comm.learn_types(call);
  if (is_known && comm.fits(call, specification)) {
    return ended(comm.run(call, specification, context));
  }
  is_native = true;
  comm.give_up(is_known);  // others may run a call with invalid arguments at this rank
  if (is_known) {
    communicator.note_algorithm(call.collective, text_of_instead(nullptr, specification));
  }
  return MPI_SUCCESS;
}

int SelectedCall::resolve() {
  int error = MPI_SUCCESS;
  const Profile profile = arrived_ ? arrived_->profile() : nullptr;
  decision_ = &communicator_.selections().resolved(*decision_, call_, profile, error);
  noted_ = communicator_.selections().tuned.take_note();
  if (error == MPI_SUCCESS) turn_.emplace(nodes_of(*decision_, communicator_));
  return error;
}

/// All gathers and scatters exchange arrivals, other collectives those that use them.
int SelectedCall::select() {
  communicator_.passing().note_inspected(call_.collective);
  communicator_.selections().tuned.begin_inspection();
  int error = MPI_SUCCESS;
  const bool exchanges = is_gather_or_scatter(call_.collective);
  if (reduces(call_.collective)) accept_one_buffer(call_, communicator_);
  usual_ = decision_ = &communicator_.selections().decide(call_, error);
  if (error == MPI_SUCCESS && !exchanges) error = resolve();
  if (error != MPI_SUCCESS) return error;
  // By what does not depend on arguments: a rank with invalid ones counts as the others do.
  const Decision& for_all =
      reduces(call_.collective) ? communicator_.selections().decide(call_.collective) : *usual_;
  const bool by_arrivals = exchanges || for_all.uses_background() || for_all.uses_arrivals;
  if (by_arrivals) error = learn_arrivals(communicator_, for_all);
  if (error != MPI_SUCCESS) return error;
  if (by_arrivals && communicator_.arrival() != nullptr) {
    arrived_.emplace(*communicator_.arrival(), call_.collective, record_.site);
    if (exchanges) error = arrived_->find_profile(*decision_);
  }
  if (exchanges && error == MPI_SUCCESS) error = resolve();
  if (error != MPI_SUCCESS) return error;
  selects_native_ = decision_->is_native();
  communicator_.note_algorithm(call_.collective, decision_->text);
  if (communicator_.is_reported()) {
    record_.call = communicator_.next_call(call_.collective);
    record_.measured = decision_->measured;
  }
  return MPI_SUCCESS;
}

int SelectedCall::run(bool& is_native) {
  const Decision& decision = *decision_;
  const bool expects_messages =
      decision.specification && uses_unexpected_messages(*decision.specification, arrived());
  if (is_gather_or_scatter(call_.collective) && !expects_messages) {
    communicator_.receive_nothing_unexpected();
  }
  if (decision.level.hierarchical) {
    bool is_refused = false;
    const int error =
        run_hierarchical(call_, communicator_, decision, arrived(), is_refused, is_native);
    if (!is_refused) {
      communicator_.end_elsewhere(call_, decision);
      return error;
    }
    record_.measured = {};
  }
  const Specification* const flat = decision.when_flat();
  is_native = flat == nullptr;
  if (is_native) {
    communicator_.end_elsewhere(call_, decision);
    return MPI_SUCCESS;
  }
  const int error = run_specification(call_, communicator_, *flat, arrived(), is_native);
  if (is_native) record_.measured = {};
  return error;
}

/// MPI_Comm_free in the program's error handler ends the exchange of arrivals, also where the MPI
/// keeps the communicator because of pending requests.
SelectedCall::~SelectedCall() {
  const bool is_freed = communicator_.is_freed();
  if (turn_ && is_freed) turn_->forget();
  if (arrived_ && (is_freed || communicator_.arrival() == nullptr)) arrived_->forget();
}

void SelectedCall::let_pass() {
  const Collective collective = call_.collective;
  if (!communicator_.let_pass(*usual_, collective)) return;
  const Selections& selections = communicator_.selections();
  PassingCalls& passing = communicator_.passing();
  if (selects_native_ && passing.wants(collective, signature_)) {
    if (signature_determines_size(call_, communicator_)) {
      passing.add(collective, signature_, selections.size_of(*usual_, call_, true));
    } else {
      passing.refuse(collective, signature_);
    }
  }
  passing.choose(collective, [&](const CallSize& size, unsigned later) {
    return selections.may_pass(*usual_, collective, size, later);
  });
}

/// The program's error handler may have changed settings, and with them the call's decision.
void SelectedCall::end(int error) {
  if (communicator_.is_freed()) return;
  TunedSelection& tuned = communicator_.selections().tuned;
  tuned.end_call(noted_, error);
  const bool is_reported = communicator_.is_reported();
  if (error == MPI_SUCCESS && !is_reported) let_pass();
  TunedSelection::charge_inspection(noted_);
  if (error != MPI_SUCCESS || !is_reported) return;
  record_.decision = &communicator_.last(call_.collective);
  keep_record(call_, communicator_, communicator_.arrival().get(), record_);
}

}  // namespace tutti
