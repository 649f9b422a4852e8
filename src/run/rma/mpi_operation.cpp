/// Runs the program of a one-sided operation, and moves its bytes into and out of notifications.
#include "run/rma/mpi_operation.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "algorithms/problem_maker.hpp"
#include "lowering/lower.hpp"
#include "run/mpi/types.hpp"

namespace tutti {

namespace {

// Predefined types as numbers, equal on all ranks. Open MPI's handles are addresses: Fortran's
// serve.
#if defined(OPEN_MPI)
std::int64_t number_of(MPI_Datatype type) { return mpi().Type_c2f(type); }
MPI_Datatype type_of(std::int64_t number) { return mpi().Type_f2c(static_cast<MPI_Fint>(number)); }
#else
std::int64_t number_of(MPI_Datatype type) { return static_cast<std::int64_t>(handle_bits(type)); }
MPI_Datatype type_of(std::int64_t number) { return datatype(static_cast<std::uint64_t>(number)); }
#endif

constexpr int type_bits = 48;

void move_bytes(std::byte* to, const std::byte* from, Bytes bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

std::int64_t combination_of(MPI_Op op, MPI_Datatype type) {
  const auto& ops = mpi().combining;
  const auto found = std::ranges::find(ops, op);
  if (found == ops.end()) return 0;
  return (found - ops.begin() + 1) << type_bits | number_of(type);
}

void RmaOperation::start(const Nodes& nodes, Rank rank, RmaWindow& window,
                         RmaNotifications& notifications) {
  const Specification specification = control_.specification();
  const Rank root = control_.root;
  CallSizes sizes;
  sizes.each = control_.region.bytes;
  const ProblemMaker known({.specification = specification,
                            .p = nodes.p(),
                            .root = root,
                            .order = listed_.empty() ? order_of(specification, nodes.p(), root, {})
                                                     : Order::listed(listed_),
                            .nodes = &nodes},
                           sizes);
  const Problem problem = known.at(rank);
  program_ = lower(schedule_of(specification, problem), problem, control_.region.bytes, {});
  staging_.resize(static_cast<std::size_t>(program_.scratch));
  flows_to_root_ = tutti::flows_to_root(problem.collective);
  order_ = problem.order;
  position_ = problem.position();
  window_ = &window;
  notifications_ = &notifications;
  executor_.begin(program_, *this, *this, true);
}

int RmaOperation::proceed(bool& moved) {
  int error = MPI_SUCCESS;
  for (bool more = true; more && error == MPI_SUCCESS; moved = moved || more) {
    error = executor_.progress(more);
  }
  return error == MPI_SUCCESS ? executor_.damage() : error;
}

std::span<const Rank> RmaOperation::order_for(Rank peer) {
  // Ranks further down the tree receive the order from above.
  const bool is_below = !listed_.empty() && order_.position_of(peer) > position_;
  if (!is_below || !introduced_.insert(peer).second) return {};
  return listed_;
}

std::byte* RmaOperation::memory_of(const BufferRef& ref) {
  std::byte* const area = ref.area == Area::window    ? window_->at(control_.region)
                          : ref.area == Area::staging ? staging_.data()
                                                      : users_;
  if (ref.blocks.range.empty()) return area + ref.offset;
  const auto first = static_cast<Position>(ref.blocks.range.begin);
  return area + order_.rank_at(first) * control_.region.bytes;
}

template <class Visit>
void RmaOperation::for_each_piece(Bytes bytes, Visit visit) {
  const BufferRef& ref = message();
  if (ref.blocks.range.empty()) return visit(memory_of(ref) + moved_, bytes);
  const Bytes size = control_.region.bytes;
  for (Bytes from = moved_; from < moved_ + bytes;) {
    const BlockIndex block = ref.blocks.range.begin + from / size;
    const Bytes piece = std::min(size - from % size, moved_ + bytes - from);
    visit(users_ + order_.rank_at(static_cast<Position>(block)) * size + from % size, piece);
    from += piece;
  }
}

void RmaOperation::hear(Rank from, std::span<const std::byte> carried) {
  const auto kept = heard_.find(from);
  const bool is_next = slot_ >= 0 && !open_.sends && open_.peer == from && !is_complete_ &&
                       (kept == heard_.end() || kept->second.empty());
  if (is_next) {
    take(carried);
  } else {
    heard_[from].emplace_back(carried.begin(), carried.end());
  }
}

void RmaOperation::take(std::span<const std::byte> carried) {
  const std::byte* from = carried.data();
  const auto bytes = static_cast<Bytes>(carried.size());
  for_each_piece(bytes, [&](std::byte* memory, Bytes piece) {
    move_bytes(memory, std::exchange(from, from + piece), piece);
  });
  moved_ += bytes;
  is_complete_ = moved_ >= message().bytes;
}

/// Sends the open message, in several notifications if it exceeds one, while there is room.
int RmaOperation::notify() {
  while (!is_complete_ && notifications_->can_post(control_, open_.peer)) {
    const Bytes carried = std::min(message().bytes - moved_, max_carried);
    std::byte* to = notifications_->compose(control_, order_for(open_.peer), carried).data();
    for_each_piece(carried, [&](const std::byte* memory, Bytes piece) {
      move_bytes(std::exchange(to, to + piece), memory, piece);
    });
    moved_ += carried;
    is_complete_ = moved_ >= message().bytes;
    if (const int error = notifications_->post(open_.peer)) return error;
  }
  return MPI_SUCCESS;
}

/// After a failed put the peer must not be told that its data are there.
int RmaOperation::begin(int slot, const Transfer& transfer) {
  if (const int error = executor_.damage()) return error;
  slot_ = slot;
  open_ = transfer;
  is_complete_ = false;
  moved_ = 0;
  return open_.sends ? notify() : MPI_SUCCESS;
}

int RmaOperation::poll(std::vector<int>& completed) {
  if (slot_ < 0) return MPI_SUCCESS;
  int error = MPI_SUCCESS;
  if (open_.sends) {
    error = notify();
  } else if (const auto kept = heard_.find(open_.peer); kept != heard_.end()) {
    for (; !is_complete_ && !kept->second.empty(); kept->second.pop_front()) {
      take(kept->second.front());
    }
  }
  if (is_complete_) completed.push_back(std::exchange(slot_, -1));
  return error;
}

int RmaOperation::find(const BufferRef& ref, Region& region) {
  region.address = const_cast<BufferRef*>(&ref);
  return MPI_SUCCESS;
}

bool RmaOperation::copy(const BufferRef& from, const BufferRef& to) {
  move_bytes(memory_of(to), memory_of(from), to.bytes);
  return true;
}

int RmaOperation::run(const Operation& operation) {
  if (operation.kind == OperationKind::flush) return window_->flush(operation.peer);
  if (operation.to.bytes == 0) return MPI_SUCCESS;
  return window_->put(memory_of(operation.from), operation.to.offset, operation.to.bytes,
                      operation.peer, control_.region);
}

int RmaOperation::reduce(const BufferRef& from, const BufferRef& to) {
  const MPI_Op op = mpi().combining[index((control_.combination >> type_bits) - 1)];
  const MPI_Datatype type = type_of(control_.combination & ((std::int64_t{1} << type_bits) - 1));
  MPI_Count size = 1;
  mpi().Type_size_x(type, &size);
  const auto count = static_cast<int>(to.bytes / std::max<MPI_Count>(size, 1));
  return mpi().Reduce_local(memory_of(from), memory_of(to), count, type, op);
}

}  // namespace tutti
