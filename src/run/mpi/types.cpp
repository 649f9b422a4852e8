/// Queries datatypes.
#include "run/mpi/types.hpp"

#include "run/mpi/devices.hpp"

namespace tutti {

std::unique_lock<std::mutex> alone_with_types() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
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
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  info.valid =
      mpi().Type_size_x(type, &size) == MPI_SUCCESS &&
      mpi().Type_get_extent(type, &lower, &info.extent) == MPI_SUCCESS &&
      mpi().Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS;
  info.size = size;
  info.named = info.valid && combiner == MPI_COMBINER_NAMED;
  info.contiguous = info.named && lower == 0 && size == info.extent;
  if (info.named && used_ < entries_.size()) entries_[used_++] = {type, info};
  return info;
}

}  // namespace tutti
