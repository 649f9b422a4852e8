/// Calls MPI_Pack and MPI_Unpack on parts.
#include "run/mpi/packing.hpp"

#include <algorithm>
#include <climits>

#include "run/mpi/types.hpp"

namespace tutti {

namespace {

/// MPICH 4.0 refuses a null address: this counts elements at MPI_BOTTOM from `base` instead.
class FromBase {
 public:
  FromBase(void* address, int count, MPI_Datatype type, void* base)
      : address_(address), count_(count), type_(type) {
    if (address != nullptr) return;
    error_ =
        whole_.make(type, {{static_cast<MPI_Aint>(-reinterpret_cast<std::intptr_t>(base)), count}});
    address_ = base;
    count_ = 1;
    type_ = whole_.handle();
  }

  [[nodiscard]] void* address() const { return address_; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] int error() const { return error_; }

 private:
  void* address_;
  int count_;
  MPI_Datatype type_;
  int error_ = MPI_SUCCESS;
  IndexedType whole_;
};

/// Calls move(elements, offset, bytes) for parts whose bytes an int can count.
template <class Move>
int in_parts(const Elements& all, void* base, Move move) {
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (const int error = mpi().Type_size_x(all.type, &size)) return error;
  if (const int error = mpi().Type_get_extent(all.type, &lower, &extent)) return error;
  if (size == 0) return MPI_SUCCESS;
  const std::int64_t part = std::max<std::int64_t>(1, INT_MAX / size);
  for (std::int64_t done = 0; done < all.count; done += part) {
    const auto count = static_cast<int>(std::min(part, all.count - done));
    const FromBase elements(static_cast<std::byte*>(all.address) + done * extent, count, all.type,
                            base);
    int error = elements.error();
    if (error == MPI_SUCCESS) error = move(elements, done * size, static_cast<int>(count * size));
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace

int pack(const Elements& from, std::byte* packed, MPI_Comm comm) {
  return in_parts(from, packed, [&](const FromBase& part, std::int64_t at, int bytes) {
    int position = 0;
    return mpi().Pack(part.address(), part.count(), part.type(), packed + at, bytes, &position,
                      comm);
  });
}

int unpack(const std::byte* packed, const Elements& to, MPI_Comm comm) {
  void* const base = const_cast<std::byte*>(packed);
  return in_parts(to, base, [&](const FromBase& part, std::int64_t at, int bytes) {
    int position = 0;
    return mpi().Unpack(packed + at, bytes, &position, part.address(), part.count(), part.type(),
                        comm);
  });
}

}  // namespace tutti
