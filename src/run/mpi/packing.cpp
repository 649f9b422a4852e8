/// Calls MPI_Pack and MPI_Unpack on parts.
#include "run/mpi/packing.hpp"

#include <algorithm>
#include <climits>

#include "run/mpi/types.hpp"

namespace tutti {

namespace {

/// Calls move(elements, offset, bytes) for parts whose elements and bytes an int can count.
/// MPICH 4.0 refuses a null address: elements at MPI_BOTTOM are counted from `base` instead.
template <class Move>
int in_parts(const Elements& all, void* base, Move move) {
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (const int error = mpi().Type_size_x(all.type, &size)) return error;
  if (const int error = mpi().Type_get_extent(all.type, &lower, &extent)) return error;
  if (size == 0) return MPI_SUCCESS;
  const std::int64_t most = std::max<std::int64_t>(1, INT_MAX / size);
  for (std::int64_t done = 0; done < all.count; done += most) {
    const std::int64_t count = std::min(most, all.count - done);
    Elements part = {static_cast<std::byte*>(all.address) + done * extent, count, all.type};
    IndexedType from_base;
    if (part.address == nullptr) {
      const auto displacement = static_cast<MPI_Aint>(-reinterpret_cast<std::intptr_t>(base));
      if (const int error = from_base.make(all.type, {{displacement, count}})) return error;
      part = {base, 1, from_base.handle()};
    }
    if (const int error = move(part, done * size, static_cast<int>(count * size))) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

int pack(const Elements& from, std::byte* packed, MPI_Comm comm) {
  return in_parts(from, packed, [&](const Elements& part, std::int64_t at, int bytes) {
    int position = 0;
    return mpi().Pack(part.address, static_cast<int>(part.count), part.type, packed + at, bytes,
                      &position, comm);
  });
}

int unpack(const std::byte* packed, const Elements& to, MPI_Comm comm) {
  void* const base = const_cast<std::byte*>(packed);
  return in_parts(to, base, [&](const Elements& part, std::int64_t at, int bytes) {
    int position = 0;
    return mpi().Unpack(packed + at, bytes, &position, part.address, static_cast<int>(part.count),
                        part.type, comm);
  });
}

}  // namespace tutti
