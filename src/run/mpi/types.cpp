/// Queries datatypes and operations.
#include "run/mpi/types.hpp"

#include <algorithm>
#include <mutex>

#include "run/mpi/devices.hpp"

namespace tutti {

namespace {

/// Held while a datatype is made or freed: Open MPI 4.1 sometimes fails if two threads do so at
/// once, whatever thread level it grants.
std::mutex alone_with_types;

template <class Handles, class Handle>
bool has(const Handles& handles, Handle handle) {
  return std::ranges::find(handles, handle) != handles.end();
}

}  // namespace

int IndexedType::make(MPI_Datatype element, const Iov& ranges) {
  constexpr MPI_Count most = MPI_Count{1} << 30;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (const int error = mpi().Type_get_extent(element, &lower, &extent)) return error;
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  for (const auto& [displacement, count] : ranges) {
    for (MPI_Count done = 0; done < count; done += most) {
      lengths.push_back(static_cast<int>(std::min(most, count - done)));
      displacements.push_back(displacement + static_cast<MPI_Aint>(done) * extent);
    }
  }
  const std::lock_guard alone(alone_with_types);
  const int error = mpi().Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                               displacements.data(), element, &made_);
  is_made_ = error == MPI_SUCCESS;
  return is_made_ ? mpi().Type_commit(&made_) : error;
}

IndexedType::~IndexedType() {
  if (!is_made_) return;
  const std::lock_guard alone(alone_with_types);
  mpi().Type_free(&made_);
}

MPI_Datatype datatype(std::uint64_t type) {
  return type == 0 ? mpi().packed : std::bit_cast<MPI_Datatype>(static_cast<HandleNumber>(type));
}

bool is_named(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  const int error = mpi().Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return error == MPI_SUCCESS && combiner == MPI_COMBINER_NAMED;
}

TypeInfo info_at(const void* address, TypeInfo info) {
  if (is_on_device(address)) info.contiguous = false;
  return info;
}

TypeInfo TypeCache::of(MPI_Datatype type, MPI_Comm comm) {
  for (std::size_t i = 0; i < used_; ++i) {
    if (entries_[i].type == type) return entries_[i].info;
  }
  TypeInfo info;
  // A send to MPI_PROC_NULL reads nothing, but refuses all types that every send refuses,
  // uncommitted ones too. MPICH checks the type only if the count is not zero.
  info.valid =
      type != mpi().type_null && mpi().Send(&info, 1, type, MPI_PROC_NULL, 0, comm) == MPI_SUCCESS;
  if (!info.valid) return info;
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  info.valid = mpi().Type_size_x(type, &size) == MPI_SUCCESS &&
               mpi().Type_get_extent(type, &lower, &info.extent) == MPI_SUCCESS;
  info.size = size;
  info.named = info.valid && is_named(type);
  info.contiguous = info.named && lower == 0 && size == info.extent;
  if (info.named && used_ < entries_.size()) entries_[used_++] = {type, info};
  return info;
}

bool is_programs_own(MPI_Op op) { return !has(mpi().combining, op) && !has(mpi().other_ops, op); }

bool commutes(MPI_Op op) {
  int answer = 0;
  return mpi().Op_commutative(op, &answer) == MPI_SUCCESS && answer != 0;
}

bool is_order_free(MPI_Op op, MPI_Datatype type) {
  if (!has(mpi().combining, op)) return op == mpi().other_ops[0] || op == mpi().other_ops[1];
  if (op != mpi().combining[MpiFunctions::sum] && op != mpi().combining[MpiFunctions::product]) {
    return true;
  }
  return type != mpi().type_null && has(mpi().integers, type);
}

}  // namespace tutti
