/// What Tutti needs to know of a datatype.
#pragma once

#include <array>
#include <mutex>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// To be held while a datatype is made or freed: Open MPI 4.1 fails at times where two threads do
/// so at once, whatever level of threads it grants.
[[nodiscard]] std::unique_lock<std::mutex> alone_with_types();

struct TypeInfo {
  bool valid = false;
  bool named = false;       ///< one of MPI's own, whose handle never comes to mean anything else
  bool contiguous = false;  ///< packed bytes are those in the host's memory: named, without gaps
  Bytes size = 0;           ///< packed bytes of one element
  MPI_Aint extent = 0;      ///< from one element to the next
};

/// What holds of elements at this address: in the memory of a GPU no type is contiguous, so that
/// Tutti leaves it to the MPI to copy them.
[[nodiscard]] TypeInfo info_at(const void* address, TypeInfo info);

/// Asks the MPI, and remembers the answers for named datatypes, whose handles never come to mean
/// anything else.
class TypeCache {
 public:
  /// `comm` must return its errors, so that an invalid handle is found out quietly.
  [[nodiscard]] TypeInfo of(MPI_Datatype type, MPI_Comm comm);

 private:
  struct Entry {
    MPI_Datatype type;
    TypeInfo info;
  };
  std::array<Entry, 8> entries_{};
  std::size_t used_ = 0;
};

}  // namespace tutti
