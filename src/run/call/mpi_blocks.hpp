/// Blocks in the program's buffers, as regions with MPI datatypes.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "run/mpi/types.hpp"
#include "run/plan/executor.hpp"

namespace tutti {

/// Address ranges of a buffer: displacement in bytes and number of elements.
using Iov = std::vector<std::pair<MPI_Aint, MPI_Count>>;

/// A buffer of elements of one datatype.
struct TypedBuffer {
  void* address = nullptr;
  MPI_Datatype type{};
  TypeInfo info = {};
};

/// Appends elements to the iov; joins them to its last range if they follow that without a gap.
void append_iov(Iov& iov, MPI_Aint displacement, MPI_Count count, MPI_Aint extent);

/// Datatypes made for one call, and freed with this object.
class MadeTypes {
 public:
  MadeTypes() = default;
  ~MadeTypes();
  MadeTypes(const MadeTypes&) = delete;
  MadeTypes& operator=(const MadeTypes&) = delete;

  /// Sets `region` to the part `ref` of the blocks in `iov`: one region if the iov has one range,
  /// else all ranges by an indexed datatype (Träff 2017, section 3). Returns an MPI error code.
  int find(const TypedBuffer& buffer, const Iov& iov, const BufferRef& ref, Region& region);

 private:
  int indexed(const TypedBuffer& buffer, const Iov& iov, Region& region);

  std::vector<MPI_Datatype> made_;
};

/// Copies the elements in `iov` of a contiguous buffer to (`packs`) or from packed memory. False if
/// they are not `bytes` long.
bool copy_packed(const TypedBuffer& buffer, const Iov& iov, std::byte* packed, Bytes bytes,
                 bool packs);

}  // namespace tutti
