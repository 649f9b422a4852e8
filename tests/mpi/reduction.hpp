/// One call of a reduction with its data, run and checked byte by byte at every rank.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tutti::test {

/// The 6 collectives, by the library's names.
inline constexpr const char* all_reductions[] = {
    "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"};

/// Whether the collective has no hierarchical form.
[[nodiscard]] inline bool is_scan(const std::string& collective) {
  return collective.ends_with("scan");
}

/// A datatype with an operation on it, whose results identify the reduced ranks.
class Values {
 public:
  /// Numbers with predefined operations, then derived types of all layouts with operations that do
  /// not commute, then the same with operations that commute.
  [[nodiscard]] static const std::vector<Values>& all();
  /// Frees types and operations. Call it before MPI_Finalize.
  static void free_all();

  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  bool commutes;
  bool is_odd;  ///< MPIs fail: MPICH in reduce_scatter_block, Open MPI for negative strides
  std::ptrdiff_t stride;               ///< from one element to the next
  std::ptrdiff_t lowest;               ///< first byte of an element, from its address
  std::ptrdiff_t highest;              ///< after its last byte
  std::vector<std::ptrdiff_t> fields;  ///< offsets of its parts of `width` bytes
  std::size_t width;
  /// Writes the contribution of `rank` to element `index`, or the result over ranks 0 to n - 1.
  void (*contribute)(std::byte* address, int rank, int index);
  void (*result)(std::byte* address, int n, int index);

  /// Whether the operation is the program's own.
  [[nodiscard]] bool has_own_op() const { return fields.size() == 3 && type != MPI_DOUBLE_INT; }
  /// Whether an element exceeds its extent, or the next one does not follow it.
  [[nodiscard]] bool overlaps() const { return stride < 0 || lowest < 0 || highest > stride; }
};

struct Reduction {
  std::string collective = "allreduce";
  MPI_Comm comm = MPI_COMM_WORLD;
  int root = 0;
  std::vector<int> counts = {};  ///< one, or one per rank for reduce_scatter
  const Values* values = nullptr;
  bool in_place = false;
  bool large = false;   ///< the _c form
  bool native = false;  ///< the MPI's own function
  bool bottom = false;  ///< in place with an own operation: a type of absolute addresses
  /// Tutti runs it: in place, the contribution beyond the result stays unchanged, and rank 0 has no
  /// receive buffer in an exscan.
  bool keeps_rest = true;
};

/// Whether the buffers are MPI_BOTTOM with absolute addresses.
[[nodiscard]] inline bool is_absolute(const Reduction& reduction) {
  return reduction.bottom && reduction.in_place && reduction.values->has_own_op();
}

[[nodiscard]] std::string to_text(const Reduction& reduction);

/// Whether a specification reduces in rank order, so that operations need not commute; by the list.
[[nodiscard]] bool takes_any(const std::string& collective, const std::string& specification);
/// The counts of a vector or block of about this many elements; for reduce_scatter one per rank,
/// some of them 0.
[[nodiscard]] std::vector<int> counts_of(const std::string& collective, int count, int p);

/// Makes the call. The text is the fault of its result at this rank; empty if there is none.
[[nodiscard]] std::string run(const Reduction& reduction);

}  // namespace tutti::test
