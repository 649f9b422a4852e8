/// Packs and unpacks elements of any datatype, at any address.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/mpi/functions.hpp"

namespace tutti {

/// `count` elements of a valid datatype. A null address is MPI_BOTTOM.
struct Elements {
  void* address = nullptr;
  std::int64_t count = 0;
  MPI_Datatype type{};
};

/// Both take any number of elements, also at MPI_BOTTOM. `packed` has exactly the bytes of these
/// elements. Return an MPI error code.
int pack(const Elements& from, std::byte* packed, MPI_Comm comm);
int unpack(const std::byte* packed, const Elements& to, MPI_Comm comm);

}  // namespace tutti
