/// Tells predefined integers from other types by their handles.
#include "run/mpi/order_free.hpp"

#include <algorithm>

namespace tutti {

namespace {

constexpr std::size_t sum = 2;
constexpr std::size_t product = 3;

}  // namespace

bool is_order_free(MPI_Op op, MPI_Datatype type) {
  const auto& predefined = mpi().combining;
  const auto known = std::find(predefined.begin(), predefined.end(), op);
  if (known == predefined.end()) return op == mpi().other_ops[0] || op == mpi().other_ops[1];
  const auto number = static_cast<std::size_t>(known - predefined.begin());
  if (number != sum && number != product) return true;
  const auto& integers = mpi().integers;
  return type != mpi().type_null &&
         std::find(integers.begin(), integers.end(), type) != integers.end();
}

}  // namespace tutti
