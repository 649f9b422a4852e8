/// Tickets, and calls in memory of Tutti's own.
#include "run/progress/mpi_async_calls.hpp"

#include <sched.h>

#include <algorithm>

#include "run/arrival/mpi_arrival.hpp"

namespace tutti {

namespace {

constexpr std::size_t most_known = 8;
/// A call with larger blocks waits for its rank.
constexpr Bytes most_bytes = Bytes{256} << 20;

Specification specification_of(const PlanKey& key) {
  return {key.algorithm, key.order, key.parameters, key.runner};
}

/// A rank that receives this could send on, or is waited for by who receives nothing from it.
bool asks_for_service(Collective collective, bool towards_root, Bytes message, Bytes block) {
  return is_gather(collective) ? towards_root && message == 0 : message > block;
}

/// Peers that this rank sends a ticket to; and how many send it one, by the same rule.
struct Tickets {
  std::vector<Rank> to;
  std::vector<Rank> from;
};

void add(std::vector<Rank>& ranks, Rank rank) {
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
}

Tickets tickets_of(const Plan& plan, Collective collective, Rank rank, Bytes block) {
  Tickets tickets;
  const Rank root = plan.key.root;
  for (const Operation& operation : plan.placement.operations) {
    const bool sends = operation.kind == StepKind::send;
    if (!sends && operation.kind != StepKind::recv) continue;
    const Bytes message = sends ? operation.from.bytes : operation.to.bytes;
    // In a scatter tickets go with the blocks, in a gather against the signals.
    const bool gives = sends != is_gather(collective);
    const bool towards_root = (gives ? operation.peer : rank) == root;
    if (!asks_for_service(collective, towards_root, message, block)) continue;
    add(gives ? tickets.to : tickets.from, operation.peer);
  }
  return tickets;
}

}  // namespace

EarlyCalls::~EarlyCalls() {
  abandon();
  while (!leaving_.empty() && forget_what_has_left() == MPI_SUCCESS) sched_yield();
}

bool EarlyCalls::enter() {
  is_inside_ = true;
  return begun_ == nullptr;
}

void EarlyCalls::leave() { is_inside_ = false; }

void EarlyCalls::give_up() {
  abandon();
  leave();
}

const EarlyCalls::Known& EarlyCalls::note(const RootedCall& call, Bytes bytes, const Plan& plan) {
  for (const Known& known : known_) {
    if (known.collective == call.collective && known.root == call.root && known.bytes == bytes &&
        plan.key.is_of(known.specification)) {
      return known;
    }
  }
  const Specification specification = specification_of(plan.key);
  if (known_.size() == most_known) known_.pop_back();
  return known_.emplace_front(Known{call.collective, call.root, bytes, specification,
                                    digest_of(specification), circumstances_.agrees_on_order,
                                    plan.key.placed});
}

int EarlyCalls::announce(const RootedCall& call, Bytes bytes, const Plan& plan,
                         const Circumstances* circumstances) {
  if (circumstances != nullptr) circumstances_ = *circumstances;
  const Known& known = note(call, bytes, plan);
  const bool by_arrival = known.specification.needs_arrivals() && circumstances_.arrival != nullptr;
  return send_tickets(
      {executor_.calls(), by_arrival ? circumstances_.number : 0,
       static_cast<std::int64_t>(known.collective), known.root, bytes, known.digest},
      plan);
}

int EarlyCalls::send_tickets(const Ticket& ticket, const Plan& plan) {
  if (plan.key.runner != Runner::background) return MPI_SUCCESS;
  const auto collective = static_cast<Collective>(ticket[2]);
  const Tickets tickets = tickets_of(plan, collective, rank_, ticket[4]);
  expected_ += static_cast<long>(tickets.from.size());
  for (const Rank peer : tickets.to) {
    Letter& letter = leaving_.emplace_back(Letter{ticket});
    const int error = mpi().Isend(letter.ticket.data(), sizeof letter.ticket, mpi().packed, peer,
                                  ticket_tag, comm_, &letter.request);
    if (error == MPI_SUCCESS) continue;
    leaving_.pop_back();
    return error;
  }
  return forget_what_has_left();
}

int EarlyCalls::forget_what_has_left() {
  while (!leaving_.empty()) {
    int has_left = 0;
    MPI_Status status{};
    if (const int error = mpi().Test(&leaving_.front().request, &has_left, &status)) return error;
    if (has_left == 0) return MPI_SUCCESS;
    leaving_.pop_front();
  }
  return MPI_SUCCESS;
}

void EarlyCalls::take(const Ticket& ticket) {
  --expected_;
  tickets_.push_back(ticket);
}

const EarlyCalls::Known* EarlyCalls::find(const Ticket& ticket) const {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
    return static_cast<std::int64_t>(known.collective) == ticket[2] && known.root == ticket[3] &&
           known.bytes == ticket[4] && known.digest == ticket[5];
  });
  return found == known_.end() ? nullptr : &*found;
}

int EarlyCalls::proceed(bool& moved) {
  if (is_inside_ || in_error_) return MPI_SUCCESS;
  if (begun_ == nullptr) {
    const std::int64_t next = executor_.calls() + 1;
    std::erase_if(tickets_, [&](const Ticket& ticket) { return ticket[0] < next; });
    const auto ticket = std::find_if(tickets_.begin(), tickets_.end(),
                                     [&](const Ticket& one) { return one[0] == next; });
    if (ticket == tickets_.end()) return MPI_SUCCESS;
    const Known* known = find(*ticket);
    std::shared_ptr<const ArrivalVersion> version;
    if (!find_version(*ticket, known, version)) return MPI_SUCCESS;
    const Ticket taken = *ticket;
    tickets_.erase(ticket);
    if (known == nullptr) return MPI_SUCCESS;
    moved = true;
    if (const int error = begin(taken, *known, std::move(version))) return error;
    if (begun_ == nullptr) return MPI_SUCCESS;
  }
  bool more = false;
  const int error = executor_.progress(begun_->plan->placement, *begun_->buffers, transport_, more);
  in_error_ = error != MPI_SUCCESS;
  begun_->error = error;
  moved = moved || more;
  return error;
}

bool EarlyCalls::find_version(const Ticket& ticket, const Known*& known,
                              std::shared_ptr<const ArrivalVersion>& version) {
  const CallNumber number = ticket[1];
  if (known == nullptr || number == 0 || !known->specification.needs_arrivals()) return true;
  const std::shared_ptr<Arrival>& arrival = circumstances_.arrival;
  if (arrival == nullptr || !arrival->is_open()) {
    known = nullptr;
  } else if (known->agrees_on_order) {
    if (!arrival->find_agreed_version(number, version)) return false;
    // What ends in the meantime does not count.
    if (!arrival->is_open()) known = nullptr;
  } else if (rank_ == known->root) {
    version = arrival->newest_version();
  }
  return true;
}

int EarlyCalls::begin(const Ticket& ticket, const Known& known,
                      std::shared_ptr<const ArrivalVersion> version) {
  const bool at_root = rank_ == known.root;
  const Bytes bytes = known.bytes * (at_root ? p_ : 1);
  if (is_gather(known.collective) != at_root || bytes > most_bytes) return MPI_SUCCESS;
  auto begun = std::make_unique<Begun>();
  begun->known = known;
  begun->version = std::move(version);
  begun->block.resize(static_cast<std::size_t>(bytes));

  RootedProblem problem;
  problem.specification = &begun->known.specification;
  problem.p = p_;
  problem.rank = rank_;
  problem.root = known.root;
  problem.own = known.bytes;
  problem.ends.own_in_place = at_root;
  problem.latency = circumstances_.latency;
  problem.placed = known.placed;
  if (begun->version != nullptr) {
    problem.arrivals = &begun->version->places;
    problem.ready = ready_times(known.specification, begun->version->arrivals, circumstances_.rate);
  }
  problem.size = [each = known.bytes](Rank) { return each; };
  if (const int error = planner_.prepare(problem, executor_, transport_, begun->plan)) return error;

  RootedCall& call = begun->call;
  call.collective = known.collective;
  call.root = known.root;
  call.own = at_root ? MPI_IN_PLACE : begun->block.data();
  call.own_count = known.bytes;
  call.all = begun->block.data();
  call.blocks = RankBlocks(known.bytes);
  call.own_type = call.all_type = mpi().byte;
  call.own_info = call.all_info = {true, true, true, 1, 1};
  begun->buffers.emplace(call, begun->plan->order,
                         begun->scratch.reserve(begun->plan->placement.scratch), begun->runs);
  executor_.begin_call();
  executor_.begin(begun->plan->placement);
  begun_ = std::move(begun);
  return send_tickets(ticket, *begun_->plan);
}

bool EarlyCalls::has_begun(const RootedCall& call, Bytes bytes,
                           const Specification& specification) {
  if (begun_ == nullptr) return false;
  const Known& known = begun_->known;
  if (known.collective == call.collective && known.root == call.root && known.bytes == bytes &&
      begun_->plan->key.is_of(specification)) {
    return true;
  }
  abandon();
  return false;
}

int EarlyCalls::finish(const RootedCall& call) {
  int error = begun_->error;  // after which nothing of the call is under way any more
  if (error == MPI_SUCCESS) {
    error = executor_.finish(begun_->plan->placement, *begun_->buffers, transport_);
  }
  if (error == MPI_SUCCESS) error = hand_over(call);
  in_error_ = in_error_ || error != MPI_SUCCESS;
  begun_.reset();
  return error;
}

/// From Tutti's memory to the caller's buffer.
int EarlyCalls::hand_over(const RootedCall& call) {
  const Order order = Order::identity(p_);
  MpiBuffers users(call, order, nullptr, begun_->runs);
  const Bytes bytes = begun_->known.bytes;
  if (bytes == 0) return MPI_SUCCESS;
  Region own;
  if (!call.in_place()) {
    if (const int error = users.find({Area::own, {}, 0, bytes, true}, own)) return error;
  }
  if (rank_ != call.root) return transport_.copy({begun_->block.data(), bytes, 0}, own);
  int error = copy_block(users, {0, rank_});
  if (error == MPI_SUCCESS) error = copy_block(users, {rank_ + 1, p_});
  if (error != MPI_SUCCESS || call.in_place()) return error;
  Region place;
  error = users.find({Area::all, BlockRange{rank_, rank_ + 1}, 0, bytes, true}, place);
  return error == MPI_SUCCESS ? transport_.copy(own, place) : error;
}

int EarlyCalls::copy_block(MpiBuffers& to, BlockRange ranks) {
  const Bytes each = begun_->known.bytes;
  const Bytes bytes = each * (ranks.end - ranks.begin);
  if (bytes == 0) return MPI_SUCCESS;
  Region place;
  if (const int error = to.find({Area::all, ranks, 0, bytes, true}, place)) return error;
  return transport_.copy({begun_->block.data() + each * ranks.begin, bytes, 0}, place);
}

void EarlyCalls::abandon() {
  if (begun_ == nullptr) return;
  transport_.abandon();
  begun_.reset();
  in_error_ = true;
}

}  // namespace tutti
