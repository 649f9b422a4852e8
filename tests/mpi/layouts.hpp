/// Datatypes with known positions of all bytes, and memory with its expected contents.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace tutti::test {

/// A committed datatype, with the offsets of its bytes in the order of its signature.
class Layout {
 public:
  struct Run {
    std::ptrdiff_t offset;  ///< from the address of the element
    std::size_t bytes;
  };

  /// Takes over `type`, which has `units` to the unit of its family.
  Layout(const char* name, MPI_Datatype type, int per_unit, std::vector<Run> runs);

  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] MPI_Datatype type() const { return type_.get()->type; }
  [[nodiscard]] int per_unit() const { return per_unit_; }  ///< elements to a unit
  [[nodiscard]] std::ptrdiff_t extent() const { return extent_; }
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] std::ptrdiff_t lowest() const { return lowest_; }    ///< first byte of an element
  [[nodiscard]] std::ptrdiff_t highest() const { return highest_; }  ///< after its last byte

 private:
  struct Handle {
    explicit Handle(MPI_Datatype owned) : type(owned) {}
    ~Handle() { PMPI_Type_free(&type); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    MPI_Datatype type;
  };
  const char* name_;
  std::shared_ptr<Handle> type_;
  int per_unit_;
  std::vector<Run> runs_;
  MPI_Aint extent_ = 0;
  std::ptrdiff_t lowest_ = 0;
  std::ptrdiff_t highest_ = 0;
};

/// The elements of a type at an address, as a type of absolute addresses for MPI_BOTTOM.
class FromBottom {
 public:
  FromBottom(MPI_Datatype type, const void* address);
  ~FromBottom() { PMPI_Type_free(&type_); }
  FromBottom(const FromBottom&) = delete;
  FromBottom& operator=(const FromBottom&) = delete;
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Types whose unit is 12 ints, so that any 2 of them match: single ints, 12 contiguous ints, a
/// strided vector, permuted blocks, and interleaving elements (negative lower bound, extent smaller
/// than true extent).
[[nodiscard]] const std::vector<Layout>& layouts_of_ints();
/// Structs of an int, a double and 3 chars, each with other offsets of its members.
[[nodiscard]] const std::vector<Layout>& layouts_of_records();
/// A type without any byte.
[[nodiscard]] const std::vector<Layout>& layouts_of_nothing();
/// Frees all of the above; to be called before MPI_Finalize.
void free_layouts();

/// Byte `index` of the packed block of `rank`; depends on both, and on the call through `salt`.
[[nodiscard]] unsigned char payload(unsigned salt, int rank, std::size_t index);

/// Memory with a pattern around and between the data. The library uses one copy; the other has the
/// expected contents.
class Image {
 public:
  /// Bytes [lowest, highest) from the address that is passed to MPI, and guards around.
  Image(std::ptrdiff_t lowest, std::ptrdiff_t highest);

  [[nodiscard]] void* address() { return actual_.data() + origin_; }
  /// Writes `count` elements of the block of `rank` at `offset` bytes from the address into the
  /// expected contents, and also into the actual ones if `present`.
  void put(const Layout& layout, std::ptrdiff_t offset, std::size_t count, int rank, unsigned salt,
           bool present);
  /// The offset of the first unexpected byte, and whether there is one.
  [[nodiscard]] bool differs(std::ptrdiff_t& offset) const;

 private:
  std::ptrdiff_t origin_;
  std::vector<unsigned char> actual_;
  std::vector<unsigned char> expected_;
};

}  // namespace tutti::test
