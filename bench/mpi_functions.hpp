/// The two sets of collectives to compare: the MPI library's and Tutti's.
#pragma once

#include <mpi.h>

#include <tuple>
#include <type_traits>

#include "core/types.hpp"
#include "run/mpi/functions.hpp"

namespace tutti::bench {

/// The functions of a library by MPI's names.
struct Functions {
#define TUTTI_FUNCTION(collective, name, number, parameters) decltype(&MPI_##name) name = nullptr;
#include "core/collectives.inc"
};

/// One side of a call: the form that its function takes counts.
struct Blocks {
  int count = 0;
  const int* counts = nullptr;
  const int* displacements = nullptr;
};

/// The arguments of a collective; its function ignores those that it does not take. The vector of a
/// reduction and the buffer of a bcast are received.
struct Arguments {
  const void* in = nullptr;
  void* out = nullptr;
  Blocks sent;
  Blocks received;
  MPI_Datatype type = MPI_INT;
  MPI_Op op = MPI_SUM;
  Rank root = 0;
  MPI_Comm comm = MPI_COMM_WORLD;
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
  const Blocks* side_ = nullptr;
};

/// Calls a function with the arguments that a list of parameters selects, and with `further` ones.
template <class Function, class... Kinds, class... Further>
int apply(Function function, std::type_identity<void(Kinds...)>, const Arguments& arguments,
          Further... further) {
  ArgumentReader reader(arguments);
  const std::tuple selected{reader.next(Kinds())...};  // braces keep their sequence
  return std::apply([&](auto... each) { return function(each..., further...); }, selected);
}

/// Calls the function of a collective. Returns its error code.
int call(const Functions& functions, Collective collective, const Arguments& arguments);

/// The MPI library's functions, looked up in the library itself, because a preloaded library may
/// redirect both MPI_X and PMPI_X. Null pointers if no MPI library is found.
[[nodiscard]] Functions native_functions();

/// Tutti's functions, called directly.
[[nodiscard]] Functions tutti_functions();

/// The functions that a program calls as MPI_X.
[[nodiscard]] Functions mpi_functions();

/// Whether another library intercepts MPI_Gatherv in this process.
[[nodiscard]] bool is_intercepted();

}  // namespace tutti::bench
