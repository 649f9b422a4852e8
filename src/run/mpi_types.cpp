/// Asking for datatypes.
#include "run/mpi_types.hpp"

namespace tutti {

TypeInfo TypeCache::of(MPI_Datatype type, MPI_Comm comm) {
  for (std::size_t i = 0; i < used_; ++i) {
    if (entries_[i].type == type) return entries_[i].info;
  }
  int bytes = 0;
  TypeInfo info;
  info.valid = type != mpi().type_null && mpi().Pack_size(0, type, comm, &bytes) == MPI_SUCCESS;
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
  const bool named = info.valid && combiner == MPI_COMBINER_NAMED;
  info.dense = named && lower == 0 && size == info.extent;
  if (named && used_ < entries_.size()) entries_[used_++] = {type, info};
  return info;
}

}  // namespace tutti
