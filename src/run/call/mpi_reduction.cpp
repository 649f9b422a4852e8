/// Lays out elements by their extents, and reduces them with MPI_Reduce_local.
#include "run/call/mpi_reduction.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <new>
#include <utility>

namespace tutti {

namespace {

/// A multiple of any type's alignment.
constexpr MPI_Aint alignment = 64;

/// The largest number of elements for one call of a predefined operation. An int could count more,
/// but not always their bytes.
constexpr Bytes max_elements = Bytes{1} << 24;

/// The largest multiple of the alignment that is at most `offset`.
MPI_Aint aligned_down(MPI_Aint offset) {
  const MPI_Aint beyond = offset % alignment;
  return offset - (beyond < 0 ? beyond + alignment : beyond);
}

}  // namespace

int ElementLayout::of(MPI_Datatype type, const TypeInfo& info, ElementLayout& layout) {
  layout.size_ = std::max<Bytes>(info.size, 1);
  layout.stride_ = layout.true_extent_ = info.extent;
  layout.lower_ = 0;
  if (info.contiguous) return MPI_SUCCESS;
  const int error = mpi().Type_get_true_extent(type, &layout.lower_, &layout.true_extent_);
  // With extent 0 a vector has only one element.
  if (layout.stride_ == 0) layout.stride_ = alignment - aligned_down(-layout.true_extent_);
  return error;
}

Bytes ElementLayout::padding() const {
  const MPI_Aint stride = std::abs(stride_);
  const MPI_Aint beyond = std::max<MPI_Aint>(0, true_extent_ - stride);
  return (beyond + stride - 1) / stride * size_;
}

Bytes ElementLayout::memory(Bytes packed) const {
  if (packed == 0) return 0;
  return packed / size_ * std::abs(stride_) + true_extent_ + 2 * alignment;
}

std::byte* ElementLayout::first(std::byte* memory, Bytes packed) const {
  const auto from = reinterpret_cast<std::uintptr_t>(memory) % alignment;
  MPI_Aint offset = from == 0 ? 0 : alignment - static_cast<MPI_Aint>(from);
  offset -= aligned_down(lower_);
  // With a negative extent, the first element is the highest.
  if (stride_ < 0) offset -= packed / size_ * stride_;
  return memory + offset;
}

std::byte* ReductionBuffers::address(const BufferRef& ref) const {
  void* const start = ref.area == Area::send      ? call_.send.address
                      : ref.area == Area::receive ? call_.receive.address
                                                  : scratch_;
  return static_cast<std::byte*>(start) + layout_.distance(ref.offset);
}

int ReductionBuffers::find(const BufferRef& ref, Region& region) {
  region = {};
  if (ref.bytes == 0) return 0;
  const CallSide& side = call_.receive;
  region = side.info.contiguous
               ? Region{address(ref), ref.bytes, 0}
               : Region{address(ref), ref.bytes / layout_.element(), handle_bits(side.type)};
  return 0;
}

int ReductionBuffers::reduce(const BufferRef& from, const BufferRef& to) {
  const std::byte* left = address(from);
  std::byte* result = address(to);
  const Bytes most = is_programs_own(call_.op) ? INT_MAX : max_elements;
  for (Bytes open = to.bytes / layout_.element(); open > 0;) {
    const Bytes part = std::min(open, most);
    const int error =
        mpi().Reduce_local(left, result, static_cast<int>(part), call_.receive.type, call_.op);
    if (error != MPI_SUCCESS) return error;
    const MPI_Aint done = layout_.distance(part * layout_.element());
    left += done;
    result += done;
    open -= part;
  }
  return MPI_SUCCESS;
}

int hold_vectors(MpiCall& call, Rank rank, int p, const ElementLayout& layout, HostCopies& copies) {
  const bool parts = is_reduce_scatter(call.collective);
  const MPI_Count all = parts ? call.receive.blocks.total(p) : call.contribution().blocks.count(0);
  const MPI_Count mine = parts ? call.receive.blocks.count(rank) : all;
  const bool in_place = call.in_place();
  const auto hold = [&](void*& address, MPI_Count sent, MPI_Count received) {
    const std::uint64_t type = handle_bits(call.receive.type);
    const Bytes packed = std::max(sent, received) * layout.element();
    std::byte* const memory = copies.reserve(layout.memory(packed));
    if (memory == nullptr) throw std::bad_alloc();
    void* const users = std::exchange(address, layout.first(memory, packed));
    copies.receive({users, received, type}, {address, received, type});
    return copies.send({users, sent, type}, {address, sent, type});
  };
  int error = MPI_SUCCESS;
  if (!in_place) error = hold(call.send.address, all, 0);
  const bool is_result = has_result(call.collective, rank, call.root);
  if (!in_place && !is_result) return error;
  const int another = hold(call.receive.address, in_place ? all : 0, is_result ? mine : 0);
  return error == MPI_SUCCESS ? another : error;
}

bool OperationCache::can_reduce(const MpiCall& call, MPI_Comm comm) {
  const MPI_Datatype type = call.receive.type;
  for (const Entry& known : entries_) {
    if (known.type == type && known.op == call.op) return true;
  }
  std::int64_t in = 0;
  std::int64_t out = 0;
  if (mpi().Reduce(&in, &out, 0, type, call.op, 0, comm) != MPI_SUCCESS) return false;
  if (!call.receive.info.named) return true;
  entries_[next_] = {type, call.op};
  next_ = (next_ + 1) % entries_.size();
  return true;
}

}  // namespace tutti
