/// Call announcements, and calls that run in Tutti's own memory.
#include "run/communicator/mpi_async_calls.hpp"

#include <sched.h>

#include <algorithm>
#include <set>

#include "core/hash.hpp"
#include "run/arrival/mpi_arrival.hpp"
#include "run/communicator/mpi_communicator.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

constexpr std::size_t max_known = 8;
/// The thread does not begin a call that needs more memory than this.
constexpr Bytes max_begun_bytes = Bytes{256} << 20;

/// True if the announcement's receiver can serve the call: in a scatter a child that has children,
/// in a gather the root whose signal the sender awaits.
bool asks_for_service(Collective collective, bool towards_root, Bytes message, Bytes block) {
  return is_gather(collective) ? towards_root && message == 0 : message > block;
}

/// The peers to which this rank sends an announcement, and those that send it one.
struct Announcements {
  std::set<Rank> to;
  std::set<Rank> from;
};

Announcements announcements_of(const Plan& plan, Collective collective, Rank rank, Bytes block) {
  Announcements announcements;
  const Rank root = plan.key.root;
  for (const Operation& operation : plan.program.operations) {
    const bool sends = operation.kind == OperationKind::send;
    if (!sends && operation.kind != OperationKind::recv) continue;
    const Bytes message = sends ? operation.from.bytes : operation.to.bytes;
    // In a scatter announcements travel with the blocks, in a gather against the signals.
    const bool announces = sends != is_gather(collective);
    const bool towards_root = (announces ? operation.peer : rank) == root;
    if (!asks_for_service(collective, towards_root, message, block)) continue;
    (announces ? announcements.to : announcements.from).insert(operation.peer);
  }
  return announcements;
}

}  // namespace

AsyncCalls::~AsyncCalls() {
  abandon();
  while (!sent_.empty() && sent_.forget_sent() == MPI_SUCCESS) sched_yield();
}

/// Where an error has ended the call before early, what the thread had begun is of that one.
bool AsyncCalls::enter() {
  if (is_inside_) abandon();
  is_inside_ = true;
  return begun_ == nullptr;
}

void AsyncCalls::leave() { is_inside_ = false; }

void AsyncCalls::give_up() {
  abandon();
  leave();
}

const AsyncCalls::Known& AsyncCalls::note(const Plan& plan, const CallContext& context) {
  const PlanKey& key = plan.key;
  for (Known& known : known_) {
    if (!known.is(key.root, key.sizes.own, key.specification)) continue;
    known.context = context;
    return known;
  }
  if (known_.size() == max_known) known_.pop_back();
  const auto digest = static_cast<std::int64_t>(hash_of(to_text(key.specification)));
  return known_.emplace_front(Known{key.specification.algorithm->collective, key.root,
                                    key.sizes.own, key.specification, digest, context});
}

int AsyncCalls::announce(const Plan& plan, const CallContext& context) {
  const Known& known = note(plan, context);
  const bool by_arrival = known.specification.needs_arrivals() && context.arrival != nullptr;
  return send_announcements(
      {comm_.executor().calls(), by_arrival ? context.number : 0,
       static_cast<std::int64_t>(known.collective), known.root, known.bytes, known.digest},
      plan);
}

int AsyncCalls::send_announcements(const CallAnnouncement& announcement, const Plan& plan) {
  if (plan.key.specification.runner != Runner::background) return MPI_SUCCESS;
  const auto collective = static_cast<Collective>(announcement.collective);
  const Announcements announcements =
      announcements_of(plan, collective, comm_.rank(), announcement.bytes);
  expected_ += static_cast<long>(announcements.from.size());
  const auto shared = std::make_shared<const CallAnnouncement>(announcement);
  for (const Rank peer : announcements.to) {
    const int error = sent_.send(shared, sizeof *shared, peer, announcement_tag, comm_.handle());
    if (error != MPI_SUCCESS) return error;
  }
  return sent_.forget_sent();
}

void AsyncCalls::take(const CallAnnouncement& announcement) {
  if (!in_error_) announcements_.push_back(announcement);
  --expected_;  // last: a message whose reading fails is read again
}

const AsyncCalls::Known* AsyncCalls::find(const CallAnnouncement& announcement) const {
  const auto found = std::ranges::find_if(known_, [&](const Known& known) {
    return static_cast<std::int64_t>(known.collective) == announcement.collective &&
           known.root == announcement.root && known.bytes == announcement.bytes &&
           known.digest == announcement.digest;
  });
  return found == known_.end() ? nullptr : &*found;
}

int AsyncCalls::proceed(bool& moved) {
  if (is_inside_ || in_error_) return MPI_SUCCESS;
  if (begun_ == nullptr) {
    const std::int64_t next = comm_.executor().calls() + 1;
    std::erase_if(announcements_, [&](const CallAnnouncement& one) { return one.call < next; });
    const auto announcement = std::ranges::find(announcements_, next, &CallAnnouncement::call);
    if (announcement == announcements_.end()) return MPI_SUCCESS;
    const Known* known = find(*announcement);
    std::shared_ptr<const ArrivalEpoch> epoch;
    if (!find_epoch(*announcement, known, epoch)) return MPI_SUCCESS;
    const CallAnnouncement taken = *announcement;
    announcements_.erase(announcement);
    if (known == nullptr) return MPI_SUCCESS;
    moved = true;
    if (const int error = begin(taken, *known, epoch.get())) return error;
    if (begun_ == nullptr) return MPI_SUCCESS;
  }
  bool more = false;
  int error = MPI_SUCCESS;
  try {
    error = begun_->error = comm_.executor().progress(more);
  } catch (const std::bad_alloc&) {
    begun_->error = MPI_ERR_NO_MEM;  // of the rank's own call, not of later ones
  }
  in_error_ = begun_->error != MPI_SUCCESS;
  moved = moved || more;
  return error;
}

bool AsyncCalls::find_epoch(const CallAnnouncement& announcement, const Known*& known,
                            std::shared_ptr<const ArrivalEpoch>& epoch) {
  const CallNumber number = announcement.arrival;
  if (known == nullptr || number == 0 || !known->specification.needs_arrivals()) return true;
  const std::shared_ptr<Arrival>& arrival = known->context.arrival;
  if (arrival == nullptr || !arrival->is_open()) {
    known = nullptr;
  } else if (known->specification.order_matters_everywhere()) {
    if (!arrival->find_agreed_epoch(number, epoch)) return false;
    // The exchange may have ended in the meantime.
    if (!arrival->is_open()) known = nullptr;
  } else if (comm_.rank() == known->root) {
    epoch = arrival->newest_epoch();
  }
  return true;
}

int AsyncCalls::begin(const CallAnnouncement& announcement, const Known& known,
                      const ArrivalEpoch* epoch) {
  const bool at_root = comm_.rank() == known.root;
  const Bytes bytes = known.bytes * (at_root ? comm_.p() : 1);
  if (is_gather(known.collective) != at_root || bytes > max_begun_bytes) return MPI_SUCCESS;
  auto begun = std::make_unique<Begun>();
  begun->known = known;
  begun->block.resize(static_cast<std::size_t>(bytes));

  MpiCall& call = begun->call;
  call.collective = known.collective;
  call.root = known.root;
  call.send = call.receive = {
      begun->block.data(), RankBlocks(known.bytes), mpi().byte, nullptr, plain_bytes, nullptr};
  if (at_root) (is_gather(known.collective) ? call.send : call.receive).address = MPI_IN_PLACE;
  CallContext context = known.context;
  context.epoch = epoch;
  context.all_sizes = nullptr;
  const int error = comm_.prepare(call, known.specification, context, begun->plan);
  if (error != MPI_SUCCESS) return error;
  begun->buffers.emplace(call, begun->plan->order,
                         begun->scratch.reserve(begun->plan->program.scratch), begun->iov);
  comm_.executor().begin(begun->plan->program, *begun->buffers, transport_);
  // Counted last: an exception before it must not put this rank a call ahead of the others.
  comm_.executor().begin_call();
  begun_ = std::move(begun);
  return send_announcements(announcement, *begun_->plan);
}

bool AsyncCalls::has_begun(const MpiCall& call, Bytes bytes, const Specification& specification) {
  if (begun_ == nullptr) return false;
  if (begun_->known.is(call.root, bytes, specification)) return true;
  abandon();
  return false;
}

int AsyncCalls::finish(const MpiCall& call) {
  int error = begun_->error;
  if (error == MPI_SUCCESS) error = comm_.executor().finish();
  // After an error cancelled receives may still write into the call's memory.
  if (error != MPI_SUCCESS) leak(begun_);
  if (error == MPI_SUCCESS) error = hand_over(call);
  in_error_ = in_error_ || error != MPI_SUCCESS;
  begun_.reset();
  return error;
}

/// Copies the call's blocks from Tutti's memory to the caller's buffers: this rank's block of a
/// scatter, or all blocks of a gather.
int AsyncCalls::hand_over(const MpiCall& call) {
  const Order order = Order::identity(comm_.p());
  CallBuffers buffers(call, order, begun_->block.data(), begun_->iov);
  const Bytes each = begun_->known.bytes;
  const auto copy = [&](const BufferRef& from, const BufferRef& to) {
    Region source;
    Region target;
    int error = buffers.find(from, source);
    if (error == MPI_SUCCESS) error = buffers.find(to, target);
    return error == MPI_SUCCESS ? transport_.copy(source, target) : error;
  };
  const auto copy_blocks = [&](Rank begin, Rank end) {
    const Bytes bytes = each * (end - begin);
    return copy({Area::staging, {}, each * begin, bytes, true},
                {Area::receive, BlockRange{begin, end}, 0, bytes, true});
  };
  const Rank rank = comm_.rank();
  if (rank != call.root) {
    return copy({Area::staging, {}, 0, each, true}, {Area::receive, {}, 0, each, true});
  }
  int error = copy_blocks(0, rank);
  if (error == MPI_SUCCESS) error = copy_blocks(rank + 1, comm_.p());
  if (error != MPI_SUCCESS || call.in_place()) return error;
  return copy({Area::send, {}, 0, each, true},
              {Area::receive, BlockRange{rank, rank + 1}, 0, each, true});
}

void AsyncCalls::abandon() {
  if (begun_ == nullptr) return;
  transport_.abandon();
  // Receives that had matched before they were cancelled may still write into its memory.
  leak(begun_);
  in_error_ = true;
}

}  // namespace tutti
