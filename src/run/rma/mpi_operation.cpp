/// Finds blocks, and copies them into and out of notifications.
#include "run/rma/mpi_operation.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "algorithms/problems.hpp"

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

void RmaOperation::begin(const Nodes& nodes, Rank rank, std::byte* own) {
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
  schedule_ = schedule_of(specification, problem);
  order_ = problem.order;
  position_ = problem.position();
  own_ = own;
  if (!at_root()) make_room();
  take_own();
}

const std::vector<Rank>& RmaOperation::order_for(Rank peer) {
  static const std::vector<Rank> none;
  // Ranks further down the tree receive the order from above.
  const bool is_below = !listed_.empty() && order_.position_of(peer) > position_;
  return is_below && introduced_.insert(peer).second ? listed_ : none;
}

/// Allocates memory for blocks that pass through this rank, or for the vector to combine.
void RmaOperation::make_room() {
  if (has_parts()) {
    if (flows_to_root()) passing_.resize(static_cast<std::size_t>(control_.bytes));
    return;
  }
  BlockRange all = {position_, position_ + 1};
  for (const Step& step : schedule_.steps) {
    if (step.kind == StepKind::wait || step.blocks.range.empty()) continue;
    all = {std::min(all.begin, step.blocks.range.begin), std::max(all.end, step.blocks.range.end)};
  }
  first_passing_ = all.begin;
  if (all.count() > 1) passing_.resize(static_cast<std::size_t>(all.count() * control_.bytes));
}

void RmaOperation::take_own() {
  if (!at_root()) {
    // Combining changes the vector, but the window keeps its own.
    if (has_parts() && flows_to_root()) move_bytes(passing_.data(), own_, control_.bytes);
    return;
  }
  std::byte* const mine = has_parts() ? users_ : memory_of(position_);
  if (flows_to_root()) {
    move_bytes(mine, own_, control_.bytes);
  } else {
    move_bytes(own_, mine, control_.bytes);
  }
}

const Step* RmaOperation::next() const {
  const auto& steps = schedule_.steps;
  return at_ < static_cast<StepId>(steps.size()) ? &steps[static_cast<std::size_t>(at_)] : nullptr;
}

Bytes RmaOperation::offset_of(BlockIndex block) const {
  return has_parts() ? Sizes::parts(control_.bytes, 1, schedule_.parts).of({0, block}) : 0;
}

Bytes RmaOperation::size_of(BlockIndex block) const {
  return has_parts() ? offset_of(block + 1) - offset_of(block) : control_.bytes;
}

std::byte* RmaOperation::memory_of(BlockIndex block) {
  if (has_parts()) {
    return (at_root() ? users_ : flows_to_root() ? passing_.data() : own_) + offset_of(block);
  }
  if (at_root()) return users_ + order_.rank_at(static_cast<Position>(block)) * control_.bytes;
  return block == position_ ? own_ : passing_.data() + (block - first_passing_) * control_.bytes;
}

template <class Visit>
void RmaOperation::for_each_piece(const Step& step, Bytes bytes, Visit visit) {
  Bytes before = 0;  // bytes of earlier blocks
  const Bytes end = moved_ + bytes;
  for (BlockIndex block = step.blocks.range.begin; block < step.blocks.range.end && before < end;
       ++block) {
    const Bytes from = std::max(moved_, before);
    const Bytes to = std::min(end, before + size_of(block));
    if (from < to) visit(memory_of(block) + (from - before), to - from);
    before += size_of(block);
  }
}

void RmaOperation::hear(Rank from, std::span<const std::byte> carried) {
  heard_[from].emplace_back(carried.begin(), carried.end());
}

bool RmaOperation::take_heard(const Step& await) {
  auto& pieces = heard_[await.peer];
  while (!pieces.empty()) {
    const std::vector<std::byte> piece = std::move(pieces.front());
    pieces.pop_front();
    const auto bytes = static_cast<Bytes>(piece.size());
    const std::byte* from = piece.data();
    if (await.staged) {
      staged_.insert(staged_.end(), piece.begin(), piece.end());
    } else {
      for_each_piece(await, bytes, [&](std::byte* memory, Bytes count) {
        move_bytes(memory, from, count);
        from += count;
      });
    }
    moved_ += bytes;
    if (bytes > 0 && moved_ < await.bytes) continue;
    moved_ = 0;
    return true;
  }
  return false;
}

void RmaOperation::take_next(const Step& notify, std::span<std::byte> bytes) {
  std::byte* to = bytes.data();
  for_each_piece(notify, static_cast<Bytes>(bytes.size()),
                 [&](const std::byte* memory, Bytes piece) {
                   move_bytes(to, memory, piece);
                   to += piece;
                 });
  moved_ += static_cast<Bytes>(bytes.size());
}

bool RmaOperation::has_notified_all(const Step& notify) {
  if (moved_ < notify.bytes) return false;
  moved_ = 0;
  return true;
}

int RmaOperation::combine(const Step& reduce) {
  const MPI_Op op =
      mpi().combining[static_cast<std::size_t>((control_.combination >> type_bits) - 1)];
  const auto type =
      type_of<MPI_Datatype>(control_.combination & ((std::int64_t{1} << type_bits) - 1));
  MPI_Count size = 1;
  mpi().Type_size_x(type, &size);
  const auto count = static_cast<int>(reduce.bytes / std::max<MPI_Count>(size, 1));
  const int error = count == 0
                        ? MPI_SUCCESS
                        : mpi().Reduce_local(staged_.data(), memory_of(reduce.blocks.range.begin),
                                             count, type, op);
  staged_.clear();
  return error;
}

}  // namespace tutti
