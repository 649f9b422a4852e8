/// Opens, starts and finishes persistent requests.
#include "api/request.hpp"

#include "api/call.hpp"
#include "api/hierarchical.hpp"
#include "api/selections.hpp"
#include "run/clock.hpp"
#include "run/mpi/agree.hpp"

namespace tutti {

namespace {

/// Any specification: each start sets the selected one.
Specification any_specification(Collective collective) {
  return *specification(collective, "linear");
}

}  // namespace

int PersistentRequest::open(const MpiCall& call, bool usable, std::function<int()> run_native,
                            std::unique_ptr<PersistentRequest>& made) {
  std::unique_ptr<PersistentRequest> request(new PersistentRequest(call, std::move(run_native)));
  if (environment().on) {
    int error = MPI_SUCCESS;
    Communicator* communicator = Communicator::of(call.comm, error);
    if (communicator == nullptr && error != MPI_SUCCESS) return error;
    if (communicator != nullptr && !communicator->is_inter()) {
      error = request->settle(*communicator, usable);
      if (error != MPI_SUCCESS) return error;
    }
  }
  made = std::move(request);
  return MPI_SUCCESS;
}

/// Enters collectives only by what all ranks know, so that no rank waits in vain and the next call
/// has the same number on all ranks.
int PersistentRequest::settle(Communicator& communicator, bool usable) {
  const Decision& usual = communicator.selections().decide(call_.collective);
  communicator.note_algorithm(call_.collective, usual.text);
  settled_text_ = usual.text;
  int error = learn_arrivals(communicator, usual);
  arrival_ = communicator.arrival();
  const bool is_tuned = follows_profiles(usual) && arrival_ != nullptr && arrival_->has_thread();
  const bool by_rules = usual.deferred == DeferredLevel::rules;
  const bool plain = !usual.specification && !usual.level.hierarchical && !is_tuned && !by_rules;
  if (error != MPI_SUCCESS || plain) return error;
  bool all_valid = false;
  error = agree_on_arguments(communicator, usable, all_valid);
  if (error == MPI_SUCCESS && !all_valid) settled_text_ = "native: invalid arguments";
  if (error != MPI_SUCCESS || !all_valid) return error;
  if (is_tuned) {
    tuned_ = usual;
    return open_call(communicator, any_specification(call_.collective), selected_);
  }
  const bool asked = usual.deferred != DeferredLevel::all;
  const Decision& decision =
      asked ? communicator.selections().resolved(usual, call_, nullptr, error) : usual;
  if (error != MPI_SUCCESS) return error;
  // Counts the call that is resolved here: a start may follow much later or never.
  const bool is_resolved_hierarchical = by_rules && decision.level.hierarchical;
  if (usual.deferred == DeferredLevel::leaders || is_resolved_hierarchical) {
    communicator.hierarchical().skip();
  }
  settled_text_ = decision.text;
  if (decision.level.hierarchical) hierarchical_ = decision;
  if (!decision.specification) return MPI_SUCCESS;
  error = open_call(communicator, *decision.specification, settled_);
  arrival_ = communicator.arrival();
  return error;
}

int PersistentRequest::agree_on_arguments(Communicator& communicator, bool usable,
                                          bool& all_valid) {
  PrivateComm* comm = nullptr;
  const int error = communicator.open_private(comm);
  if (comm == nullptr) return error;
  const bool mine = usable && looks_valid(call_, communicator) && comm->calls().learn_types(call_);
  return true_on_all(comm->handle(), mine, all_valid);
}

int PersistentRequest::open_call(Communicator& communicator, const Specification& specification,
                                 std::unique_ptr<PersistentCall>& made) {
  int error = MPI_SUCCESS;
  if (specification.needs_arrivals() || specification.runner == Runner::background) {
    error = communicator.open_arrival();
  }
  PrivateComm* shared = nullptr;
  if (error == MPI_SUCCESS) error = communicator.open_private(shared);
  if (shared == nullptr) return error;
  const RankOrders* rank_orders = nullptr;
  error = communicator.rank_orders(specification, call_.root, rank_orders);
  if (error != MPI_SUCCESS) return error;
  std::unique_ptr<PrivateComm> own;
  error = PrivateComm::duplicate(shared->handle(), own);
  if (error != MPI_SUCCESS) return error;
  own->limit_staging(shared->memory());
  PersistentCall::Setup setup = {call_, specification, {}, communicator.rank() == call_.root};
  setup.context.half_performance_length = communicator.machine().half_performance_length();
  setup.context.rate = 1 / communicator.machine().per_byte;
  setup.context.rank_orders = rank_orders;
  setup.context.arrival = communicator.arrival();
  setup.context.agrees_on_order = order_matters_everywhere(specification);
  return PersistentCall::open(std::move(setup), std::move(own), made);
}

int PersistentRequest::start() {
  if (arrival_ != nullptr) {
    arrival_->begin_computing();
    number_ = arrival_->begin_call(call_.collective);
  }
  const Beginning beginning{*this};
  const int error = begin();
  active_ = error == MPI_SUCCESS;
  return error;
}

PersistentRequest::Beginning::~Beginning() {
  if (!request.active_) const ArrivedCall lost(request.arrival_.get(), request.number_, &request);
}

int PersistentRequest::begin() {
  current_ = hierarchical_ ? nullptr : settled_.get();
  Communicator* communicator = settled_text_.empty() ? nullptr : Communicator::known(call_.comm);
  if (communicator != nullptr) {
    communicator->note_algorithm(call_.collective, settled_text_);
    if (communicator->is_reported()) {
      text_ = settled_text_;
      counted_ = communicator->next_call(call_.collective);
    }
    const int error = tuned_ ? select(*communicator) : MPI_SUCCESS;
    if (error != MPI_SUCCESS) return error;
  }
  if (current_ != nullptr) current_->start(number_);
  return MPI_SUCCESS;
}

/// Rank 0's thread answers questions on arrivals, so that no rank waits for a late one. After the
/// end of the exchange the MPI's own runs: other calls are compared by other times.
int PersistentRequest::select(Communicator& communicator) {
  noted_ = {};
  hierarchical_.reset();
  if (communicator.arrival() != arrival_) return MPI_SUCCESS;
  Profile profile;
  int error = arrival_->agreed_profile(number_, profile);
  if (error != MPI_SUCCESS) return error;
  MpiCall call = call_;  // each start counts
  const Decision& decision = communicator.selections().resolved(*tuned_, call, profile, error);
  if (error != MPI_SUCCESS) return error;
  noted_ = communicator.selections().tuned.take_note();
  communicator.note_algorithm(call_.collective, decision.text);
  if (communicator.is_reported()) text_ = decision.text;
  return use(decision, communicator);
}

int PersistentRequest::use(const Decision& decision, Communicator& communicator) {
  if (decision.level.hierarchical) {
    // What runs in finish() counts as a call of its own.
    communicator.hierarchical().skip();
    hierarchical_ = decision;
  } else if (decision.specification) {
    const Specification& selected = *decision.specification;
    const RankOrders* rank_orders = nullptr;
    if (const int error = communicator.rank_orders(selected, call_.root, rank_orders)) return error;
    selected_->change(selected, order_matters_everywhere(selected), rank_orders);
    current_ = selected_.get();
  }
  return MPI_SUCCESS;
}

int PersistentRequest::finish(const void* site) {
  active_ = false;
  CallRecord record;
  record.arrival = monotonic_seconds();
  noted_.began = record.arrival;
  const int error = run();
  Communicator* communicator = settled_text_.empty() ? nullptr : Communicator::known(call_.comm);
  if (tuned_ && communicator != nullptr) communicator->selections().tuned.end_call(noted_);
  if (error == MPI_SUCCESS && communicator != nullptr && communicator->is_reported()) {
    record.site = site;
    record.call = counted_;
    record.decision = &text_;
    if (arrival_ != nullptr) note_prediction(*arrival_, record);
    keep_record(call_.collective, *communicator, record,
                [this](CallRecord& kept) { describe(call_, kept); });
  }
  return error;
}

/// Calls the program's error handler on errors.
int PersistentRequest::run() {
  const ArrivedCall arrived(arrival_.get(), number_, this);
  if (hierarchical_) {
    Communicator& communicator = *Communicator::known(call_.comm);
    std::string refused;
    const int error = run_between_nodes(arrived, refused);
    if (!refused.empty()) communicator.note_refusal(call_.collective, *hierarchical_, refused);
    text_ = communicator.last(call_.collective);
    if (refused.empty()) return error;
    // All ranks refuse the same call again: it is flat from now on.
    settled_text_ = text_;
    hierarchical_.reset();
    current_ = settled_.get();
    if (current_ != nullptr) current_->start(number_);
  }
  return current_ == nullptr ? run_native() : raise_if(call_.comm, current_->finish());
}

int PersistentRequest::run_between_nodes(const ArrivedCall& arrived, std::string& refused) {
  const Inside guard;
  Communicator& communicator = *Communicator::known(call_.comm);
  const HierarchicalRunner::Turn turn(nodes_of(*hierarchical_, communicator));
  communicator.note_algorithm(call_.collective, hierarchical_->text);
  bool is_native = false;
  Profile epoch;
  int error = arrived.find_epoch_between(*hierarchical_, epoch);
  if (error != MPI_SUCCESS) return raise(call_.comm, error);
  error = run_hierarchical(call_, communicator, *hierarchical_, epoch.get(), refused, is_native);
  if (!refused.empty()) return error;
  return is_native ? run_native_() : raise_if(call_.comm, error);
}

/// The MPI calls the error handler itself.
int PersistentRequest::run_native() {
  const Inside guard;
  return run_native_();
}

}  // namespace tutti
