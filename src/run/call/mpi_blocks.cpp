/// Finds the regions of blocks.
#include "run/call/mpi_blocks.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "run/transport/mpi_transport.hpp"

namespace tutti {

namespace {
void* at(void* address, MPI_Aint offset) { return static_cast<std::byte*>(address) + offset; }
}  // namespace

void append_iov(Iov& iov, MPI_Aint displacement, MPI_Count count, MPI_Aint extent) {
  if (count == 0) return;
  if (!iov.empty() &&
      iov.back().first + static_cast<MPI_Aint>(iov.back().second) * extent == displacement) {
    iov.back().second += count;
  } else {
    iov.emplace_back(displacement, count);
  }
}

MadeTypes::~MadeTypes() {
  if (made_.empty()) return;
  const auto alone = alone_with_types();
  for (MPI_Datatype& type : made_) mpi().Type_free(&type);
}

int MadeTypes::find(const TypedBuffer& buffer, const Iov& iov, const BufferRef& ref,
                    Region& region) {
  if (iov.size() != 1) return indexed(buffer, iov, region);
  const auto& [displacement, count] = iov.front();
  if (!buffer.info.contiguous) {
    region = {at(buffer.address, displacement), count, region_type(buffer.type)};
    return MPI_SUCCESS;
  }
  // Whole blocks have this rank's own length, even if the sender's size exchange said more.
  const Bytes bytes = ref.whole ? count * buffer.info.extent : ref.bytes;
  region = {at(buffer.address, displacement + static_cast<MPI_Aint>(ref.offset)), bytes, 0};
  return MPI_SUCCESS;
}

int MadeTypes::indexed(const TypedBuffer& buffer, const Iov& iov, Region& region) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  for (const auto& [displacement, count] : iov) {
    for (MPI_Count done = 0; done < count; done += INT_MAX) {
      lengths.push_back(static_cast<int>(std::min<MPI_Count>(INT_MAX, count - done)));
      displacements.push_back(displacement + static_cast<MPI_Aint>(done) * buffer.info.extent);
    }
  }
  const auto alone = alone_with_types();
  MPI_Datatype type{};
  int error = mpi().Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                         displacements.data(), buffer.type, &type);
  if (error != MPI_SUCCESS) return error;
  made_.push_back(type);
  error = mpi().Type_commit(&made_.back());
  region = {buffer.address, 1, region_type(made_.back())};
  return error;
}

bool copy_packed(const TypedBuffer& buffer, const Iov& iov, std::byte* packed, Bytes bytes,
                 bool packs) {
  MPI_Count elements = 0;
  for (const auto& [displacement, count] : iov) elements += count;
  if (elements * buffer.info.extent != bytes) return false;
  for (const auto& [displacement, count] : iov) {
    void* const range = at(buffer.address, displacement);
    const auto length = static_cast<std::size_t>(count * buffer.info.extent);
    if (packs) {
      std::memcpy(packed, range, length);
    } else {
      std::memcpy(range, packed, length);
    }
    packed += length;
  }
  return true;
}

}  // namespace tutti
