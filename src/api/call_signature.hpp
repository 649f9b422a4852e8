/// Signatures of calls, from the arguments of MPI functions.
#pragma once

#include <type_traits>

#include "run/mpi/types.hpp"
#include "select/passing_calls.hpp"

namespace tutti {

/// Reads the parameters of an MPI function in sequence (see collectives.inc), and no memory but
/// these.
class SignatureReader {
 public:
  explicit SignatureReader(CallSignature& signature) : signature_(signature) {}

  void read(kinds::In, const void* buffer) { read_buffer(buffer); }
  void read(kinds::Out, const void* buffer) { read_buffer(buffer); }
  void read(kinds::Count, MPI_Count count) { add(static_cast<std::uint64_t>(count)); }
  void read(kinds::Type, MPI_Datatype type) { add(handle_bits(type)); }
  void read(kinds::Op, MPI_Op op) { add(handle_bits(op)); }
  void read(kinds::Counts, const void*) {}
  void read(kinds::Displacements, const void*) {}
  void read(kinds::Types, const void*) {}
  void read(kinds::Root, int) {}
  void read(kinds::Comm, MPI_Comm) {}

 private:
  void read_buffer(const void* buffer) {
    signature_[0] = 2 * signature_[0] + (buffer == MPI_IN_PLACE ? 1 : 0);
  }
  void add(std::uint64_t number) { signature_[used_++] = number; }

  CallSignature& signature_;
  std::size_t used_ = 1;
};

/// The signature of a call with these arguments of a function with these kinds of parameters.
template <class... Kinds, class... Arguments>
[[nodiscard]] CallSignature signature_of(std::type_identity<void(Kinds...)>,
                                         Arguments... arguments) {
  CallSignature signature{};
  SignatureReader reader(signature);
  (reader.read(Kinds(), arguments), ...);
  return signature;
}

}  // namespace tutti
