/// Datatypes, payload, and expected memory contents.
#include "layouts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tutti::test {
namespace {

constexpr int int_bytes = 4;
constexpr std::size_t guard = 64;

std::vector<Layout>& cache(int family) {
  static std::vector<Layout> caches[3];
  return caches[family];
}

/// Runs from blocks counted in ints.
std::vector<Layout::Run> runs_of(const std::vector<int>& lengths, const std::vector<int>& displs) {
  std::vector<Layout::Run> runs;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    runs.push_back(
        {std::ptrdiff_t{displs[i]} * int_bytes, static_cast<std::size_t>(lengths[i]) * int_bytes});
  }
  return runs;
}

Layout single_ints() {
  MPI_Datatype type;
  PMPI_Type_dup(MPI_INT32_T, &type);
  return {"ints", type, 12, {{0, int_bytes}}};
}

Layout dozen() {
  MPI_Datatype type;
  PMPI_Type_contiguous(12, MPI_INT32_T, &type);
  return {"dozen", type, 1, {{0, 12 * int_bytes}}};
}

Layout strided() {
  MPI_Datatype type;
  PMPI_Type_vector(3, 2, 5, MPI_INT32_T, &type);
  return {"vector", type, 2, runs_of({2, 2, 2}, {0, 5, 10})};
}

Layout permuted() {
  const std::vector<int> lengths = {1, 5, 2, 4};
  const std::vector<int> displs = {20, 0, 9, 13};
  MPI_Datatype type;
  PMPI_Type_indexed(4, lengths.data(), displs.data(), MPI_INT32_T, &type);
  return {"indexed", type, 1, runs_of(lengths, displs)};
}

/// Ints at -2 and +1, an extent of two ints: no two elements ever meet.
Layout interleaved() {
  const std::vector<int> lengths = {1, 1};
  const MPI_Aint displs[] = {-2 * int_bytes, int_bytes};
  MPI_Datatype blocks;
  PMPI_Type_create_hindexed(2, lengths.data(), displs, MPI_INT32_T, &blocks);
  MPI_Datatype type;
  PMPI_Type_create_resized(blocks, -2 * int_bytes, 2 * int_bytes, &type);
  PMPI_Type_free(&blocks);
  return {"interleaved", type, 6, runs_of({1, 1}, {-2, 1})};
}

Layout record(const char* name, MPI_Aint integer, MPI_Aint real, MPI_Aint text, MPI_Aint extent) {
  const int lengths[] = {1, 1, 3};
  const MPI_Aint displs[] = {integer, real, text};
  const MPI_Datatype types[] = {MPI_INT32_T, MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype members;
  PMPI_Type_create_struct(3, lengths, displs, types, &members);
  MPI_Datatype type;
  PMPI_Type_create_resized(members, 0, extent, &type);
  PMPI_Type_free(&members);
  return {name, type, 1, {{integer, 4}, {real, 8}, {text, 3}}};
}

Layout nothing() {
  MPI_Datatype type;
  PMPI_Type_contiguous(0, MPI_INT32_T, &type);
  return {"nothing", type, 1, {}};
}

}  // namespace

Layout::Layout(const char* name, MPI_Datatype type, int per_unit, std::vector<Run> runs)
    : name_(name), per_unit_(per_unit), runs_(std::move(runs)) {
  PMPI_Type_commit(&type);
  type_ = std::make_shared<Handle>(type);
  MPI_Aint lower = 0;
  PMPI_Type_get_extent(type, &lower, &extent_);
  for (const Run& run : runs_) {
    lowest_ = std::min(lowest_, run.offset);
    highest_ = std::max(highest_, run.offset + static_cast<std::ptrdiff_t>(run.bytes));
  }
}

FromBottom::FromBottom(MPI_Datatype type, const void* address) {
  MPI_Aint absolute = 0;
  PMPI_Get_address(address, &absolute);
  PMPI_Type_create_hindexed_block(1, 1, &absolute, type, &type_);
  PMPI_Type_commit(&type_);
}

const std::vector<Layout>& layouts_of_ints() {
  std::vector<Layout>& all = cache(0);
  if (all.empty()) all = {single_ints(), dozen(), strided(), permuted(), interleaved()};
  return all;
}

const std::vector<Layout>& layouts_of_records() {
  std::vector<Layout>& all = cache(1);
  if (all.empty()) {
    all = {record("record", 0, 8, 16, 24), record("turned record", 20, 8, 0, 40),
           record("packed record", 0, 4, 12, 15)};
  }
  return all;
}

const std::vector<Layout>& layouts_of_nothing() {
  std::vector<Layout>& all = cache(2);
  if (all.empty()) all = {nothing()};
  return all;
}

void free_layouts() {
  for (int family = 0; family < 3; ++family) cache(family).clear();
}

unsigned char payload(unsigned salt, int rank, std::size_t index) {
  std::uint32_t word = salt * 0x9e3779b9U ^ static_cast<std::uint32_t>(rank + 1) * 0x85ebca6bU ^
                       static_cast<std::uint32_t>(index / 4) * 0xc2b2ae35U;
  word ^= word >> 15;
  word *= 0x2c1b3c6dU;
  word ^= word >> 13;
  return static_cast<unsigned char>(word >> (8 * (index % 4)));
}

Image::Image(std::ptrdiff_t lowest, std::ptrdiff_t highest)
    : origin_(static_cast<std::ptrdiff_t>(guard) - std::min<std::ptrdiff_t>(lowest, 0)) {
  const std::ptrdiff_t size = origin_ + std::max<std::ptrdiff_t>(highest, 0);
  actual_.resize(static_cast<std::size_t>(size) + guard);
  for (std::size_t i = 0; i < actual_.size(); ++i) {
    actual_[i] = static_cast<unsigned char>(0xa5 ^ i);
  }
  expected_ = actual_;
}

void Image::put(const Layout& layout, std::ptrdiff_t offset, std::size_t count, int rank,
                unsigned salt, bool present) {
  std::size_t index = 0;
  std::ptrdiff_t element = origin_ + offset;
  for (std::size_t i = 0; i < count; ++i, element += layout.extent()) {
    for (const Layout::Run& run : layout.runs()) {
      const auto at = static_cast<std::size_t>(element + run.offset);
      for (std::size_t k = 0; k < run.bytes; ++k) {
        expected_[at + k] = payload(salt, rank, index++);
        if (present) actual_[at + k] = expected_[at + k];
      }
    }
  }
}

bool Image::differs(std::ptrdiff_t& offset) const {
  const auto [here, there] = std::mismatch(actual_.begin(), actual_.end(), expected_.begin());
  offset = here - actual_.begin() - origin_;
  return here != actual_.end();
}

}  // namespace tutti::test
