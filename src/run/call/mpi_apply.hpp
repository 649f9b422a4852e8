/// Calls the MPI function of any collective.
#pragma once

#include <tuple>
#include <type_traits>

#include "run/call/mpi_call.hpp"

namespace tutti {

/// Takes the arguments of a call, whose counts and displacements are ints, as they follow one
/// another in a list of parameters.
class ArgumentReader {
 public:
  explicit ArgumentReader(const MpiCall& call) : call_(call) {}

  const void* next(kinds::In) {
    side_ = &call_.send;
    return side_->address;
  }
  void* next(kinds::Out) {
    side_ = &call_.receive;
    return side_->address;
  }
  int next(kinds::Count) { return static_cast<int>(side_->blocks.count(0)); }
  const int* next(kinds::Counts) { return side_->blocks.ints(); }
  const int* next(kinds::Displacements) { return side_->blocks.int_displacements(); }
  MPI_Datatype next(kinds::Type) { return side_->type; }
  const MPI_Datatype* next(kinds::Types) { return side_->types; }
  MPI_Op next(kinds::Op) { return call_.op; }
  int next(kinds::Root) { return call_.root; }
  MPI_Comm next(kinds::Comm) { return call_.comm; }

 private:
  const MpiCall& call_;
  const CallSide* side_ = &call_.receive;
};

/// Calls a function with the arguments that a list of parameters selects, and with `further` ones.
template <class Function, class... Kinds, class... Further>
int apply(Function function, std::type_identity<void(Kinds...)>, const MpiCall& call,
          Further... further) {
  ArgumentReader reader(call);
  const std::tuple selected{reader.next(Kinds())...};  // braces keep their sequence
  return std::apply([&](auto... each) { return function(each..., further...); }, selected);
}

/// Calls the function of a collective that all ranks call, from a table with MPI's names. Returns
/// its error code.
template <class Functions>
int apply(const Functions& functions, const MpiCall& call) {
  switch (call.collective) {
#define TUTTI_FURTHER_FUNCTION(collective, name, number, parameters)
#define TUTTI_FUNCTION(collective, name, number, parameters) \
  case Collective::collective:                               \
    return apply(functions.name, std::type_identity<kinds::name>(), call);
#include "core/collectives.inc"
    default:
      return MPI_ERR_OTHER;
  }
}

}  // namespace tutti
