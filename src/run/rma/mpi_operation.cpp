/// Copies bytes into and out of notifications.
#include "run/rma/mpi_operation.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "algorithms/problems.hpp"
#include "lowering/lower.hpp"

namespace tutti {

namespace {

/// Predefined types as numbers, equal on all ranks. Open MPI's handles are addresses: Fortran's
/// serve.
template <class Handle>
std::int64_t number_of(Handle type) {
#if defined(OPEN_MPI)
  return mpi().Type_c2f(type);
#else
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::intptr_t>(type);
  } else {
    return type;
  }
#endif
}

template <class Handle>
Handle type_of(std::int64_t number) {
#if defined(OPEN_MPI)
  return mpi().Type_f2c(static_cast<MPI_Fint>(number));
#else
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(number);
  } else {
    return static_cast<Handle>(number);
  }
#endif
}

constexpr int type_bits = 48;

void move_bytes(std::byte* to, const std::byte* from, Bytes bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace

std::int64_t combination_of(MPI_Op op, MPI_Datatype type) {
  const auto& ops = mpi().combining;
  const auto found = std::find(ops.begin(), ops.end(), op);
  if (found == ops.end()) return 0;
  return (found - ops.begin() + 1) << type_bits | number_of(type);
}

void RmaOperation::begin(const Nodes& nodes, Rank rank, std::byte* window) {
  const int p = nodes.p();
  const Specification specification = specification_from(control_.specification);
  Problem problem;
  problem.collective = specification.algorithm->collective;
  problem.p = p;
  problem.rank = rank;
  problem.root = control_.root;
  problem.order =
      listed_.empty() ? order_of(specification, p, problem.root, {}) : Order::listed(listed_);
  problem.nodes = &nodes;
  problem.sizes = block_kind(problem.collective) == BlockKind::parts
                      ? Sizes::parts(control_.bytes, 1, 1)
                      : Sizes::equal(control_.bytes);
  problem.parameters = specification.parameters;
  program_ = lower(schedule_of(specification, problem), problem, control_.bytes, {});
  staging_.resize(static_cast<std::size_t>(program_.scratch));
  flows_to_root_ = tutti::flows_to_root(problem.collective);
  order_ = problem.order;
  position_ = problem.position();
  window_ = window;
}

const std::vector<Rank>& RmaOperation::order_for(Rank peer) {
  static const std::vector<Rank> none;
  // Ranks further down the tree receive the order from above.
  const bool is_below = !listed_.empty() && order_.position_of(peer) > position_;
  return is_below && introduced_.insert(peer).second ? listed_ : none;
}

std::byte* RmaOperation::memory_of(const BufferRef& ref) {
  std::byte* const area = ref.area == Area::window    ? window_
                          : ref.area == Area::staging ? staging_.data()
                                                      : users_;
  if (ref.blocks.range.empty()) return area + ref.offset;
  const auto first = static_cast<Position>(ref.blocks.range.begin);
  return area + order_.rank_at(first) * control_.bytes;
}

template <class Visit>
void RmaOperation::for_each_piece(const BufferRef& ref, Bytes bytes, Visit visit) {
  if (ref.blocks.range.empty()) return visit(memory_of(ref) + moved_, bytes);
  const Bytes size = control_.bytes;
  for (Bytes from = moved_; from < moved_ + bytes;) {
    const BlockIndex block = ref.blocks.range.begin + from / size;
    const Bytes piece = std::min(size - from % size, moved_ + bytes - from);
    visit(users_ + order_.rank_at(static_cast<Position>(block)) * size + from % size, piece);
    from += piece;
  }
}

void RmaOperation::hear(Rank from, std::span<const std::byte> carried) {
  const Operation* const open = next();
  const auto kept = heard_.find(from);
  const bool is_next = open != nullptr && open->kind == OperationKind::recv && open->peer == from &&
                       (kept == heard_.end() || kept->second.empty());
  if (!is_next) {
    heard_[from].emplace_back(carried.begin(), carried.end());
  } else if (take(*open, carried)) {
    done();
  }
}

bool RmaOperation::take_heard(const Operation& receive) {
  const auto kept = heard_.find(receive.peer);
  while (kept != heard_.end() && !kept->second.empty()) {
    const std::vector<std::byte> carried = std::move(kept->second.front());
    kept->second.pop_front();
    if (take(receive, carried)) return true;
  }
  return false;
}

/// True if the receive has all of its bytes.
bool RmaOperation::take(const Operation& receive, std::span<const std::byte> carried) {
  const std::byte* from = carried.data();
  const auto bytes = static_cast<Bytes>(carried.size());
  for_each_piece(receive.to, bytes, [&](std::byte* memory, Bytes piece) {
    move_bytes(memory, std::exchange(from, from + piece), piece);
  });
  moved_ += bytes;
  return moved_ >= receive.to.bytes;
}

void RmaOperation::take_next(const Operation& send, std::span<std::byte> message) {
  std::byte* to = message.data();
  const auto bytes = static_cast<Bytes>(message.size());
  for_each_piece(send.from, bytes, [&](const std::byte* memory, Bytes piece) {
    move_bytes(std::exchange(to, to + piece), memory, piece);
  });
  moved_ += bytes;
}

void RmaOperation::copy(const Operation& copy) {
  move_bytes(memory_of(copy.to), memory_of(copy.from), copy.to.bytes);
}

int RmaOperation::combine(const Operation& reduce) {
  const MPI_Op op =
      mpi().combining[static_cast<std::size_t>((control_.combination >> type_bits) - 1)];
  const auto type =
      type_of<MPI_Datatype>(control_.combination & ((std::int64_t{1} << type_bits) - 1));
  MPI_Count size = 1;
  mpi().Type_size_x(type, &size);
  const auto count = static_cast<int>(reduce.to.bytes / std::max<MPI_Count>(size, 1));
  return mpi().Reduce_local(memory_of(reduce.from), memory_of(reduce.to), count, type, op);
}

}  // namespace tutti
