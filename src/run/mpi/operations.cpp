/// Distinguishes operations and types by their handles.
#include "run/mpi/operations.hpp"

#include <algorithm>

namespace tutti {

namespace {

template <class Handles, class Handle>
bool has(const Handles& handles, Handle handle) {
  return std::ranges::find(handles, handle) != handles.end();
}

}  // namespace

bool is_programs_own(MPI_Op op) { return !has(mpi().combining, op) && !has(mpi().other_ops, op); }

bool commutes(MPI_Op op) {
  int answer = 0;
  return mpi().Op_commutative(op, &answer) == MPI_SUCCESS && answer != 0;
}

bool is_order_free(MPI_Op op, MPI_Datatype type) {
  if (!has(mpi().combining, op)) return op == mpi().other_ops[0] || op == mpi().other_ops[1];
  if (op != mpi().combining[MpiFunctions::sum] && op != mpi().combining[MpiFunctions::product]) {
    return true;
  }
  return type != mpi().type_null && has(mpi().integers, type);
}

}  // namespace tutti
