/// Calls the MPI function of any collective.
#pragma once

#include <tuple>
#include <type_traits>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// One side of a call: its function takes one of the two forms of counts.
struct Counts {
  int count = 0;
  const int* counts = nullptr;
  const int* displacements = nullptr;
};

/// The arguments of a collective; its function ignores those that it does not take. The vectors of
/// a reduction and the buffer of a bcast are received.
struct Arguments {
  const void* in = nullptr;
  void* out = nullptr;
  Counts sent;
  Counts received;
  MPI_Datatype type{};
  MPI_Op op{};
  Rank root = 0;
  MPI_Comm comm{};
};

/// Takes the arguments that follow one another in a list of parameters.
class ArgumentReader {
 public:
  explicit ArgumentReader(const Arguments& all) : all_(all) {}

  const void* next(kinds::In) {
    side_ = &all_.sent;
    return all_.in;
  }
  void* next(kinds::Out) {
    side_ = &all_.received;
    return all_.out;
  }
  int next(kinds::Count) { return side_->count; }
  const int* next(kinds::Counts) { return side_->counts; }
  const int* next(kinds::Displacements) { return side_->displacements; }
  MPI_Datatype next(kinds::Type) { return all_.type; }
  MPI_Op next(kinds::Op) { return all_.op; }
  int next(kinds::Root) { return all_.root; }
  MPI_Comm next(kinds::Comm) { return all_.comm; }

 private:
  const Arguments& all_;
  const Counts* side_ = &all_.received;
};

/// Calls a function with the arguments that a list of parameters selects, and with `further` ones.
template <class Function, class... Kinds, class... Further>
int apply(Function function, std::type_identity<void(Kinds...)>, const Arguments& arguments,
          Further... further) {
  ArgumentReader reader(arguments);
  const std::tuple selected{reader.next(Kinds())...};  // braces keep their sequence
  return std::apply([&](auto... each) { return function(each..., further...); }, selected);
}

/// Calls the function of a collective that all ranks call, from a table with MPI's names. Returns
/// its error code.
template <class Functions>
int call(const Functions& functions, Collective collective, const Arguments& arguments) {
  switch (collective) {
#define TUTTI_FURTHER_FUNCTION(collective, name, number, parameters)
#define TUTTI_FUNCTION(collective, name, number, parameters) \
  case Collective::collective:                               \
    return apply(functions.name, std::type_identity<kinds::name>(), arguments);
#include "core/collectives.inc"
    default:
      return MPI_ERR_OTHER;
  }
}

}  // namespace tutti
