/// Memory of a GPU that only the MPI may access, without a GPU.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "faulty.hpp"

namespace tutti::test {

/// Addresses that allow no access, and the same memory where it does.
struct Device {
  static constexpr std::size_t bytes = 1 << 16;
  std::byte* address = nullptr;
  std::byte* shadow = nullptr;
};
inline Device device;
inline int copies = 0;       ///< by the MPI from a rank to itself
inline bool spoils = false;  ///< these fail

template <class Pointer>
Pointer real(Pointer given) {
  const auto at = reinterpret_cast<std::uintptr_t>(given);
  const auto first = reinterpret_cast<std::uintptr_t>(device.address);
  if (at < first || at >= first + Device::bytes) return given;
  return reinterpret_cast<Pointer>(device.shadow + (at - first));
}

inline int isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return PMPI_Isend(real(buffer), count, type, peer, tag, comm, request);
}

inline int irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  return PMPI_Irecv(real(buffer), count, type, peer, tag, comm, request);
}

inline int sendrecv(const void* sent, int send_count, MPI_Datatype send_type, int to, int send_tag,
                    void* received, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Status* status) {
  copies += to == from;
  if (spoils && to == from) return MPI_ERR_INTERN;
  return PMPI_Sendrecv(real(sent), send_count, send_type, to, send_tag, real(received), count, type,
                       from, tag, comm, status);
}

inline int unpack(const void* packed, int size, int* position, void* buffer, int count,
                  MPI_Datatype type, MPI_Comm comm) {
  ++copies;
  return PMPI_Unpack(packed, size, position, real(buffer), count, type, comm);
}

/// Replaces the functions in which a GPU-aware MPI accepts device addresses; Reduce_local is not
/// among them.
inline void know_device(MpiFunctions& all) {
  all.Isend = isend;
  all.Irecv = irecv;
  all.Sendrecv = sendrecv;
  all.Unpack = unpack;
}

inline void make_device() {
  const int memory = memfd_create("device", 0);
  if (ftruncate(memory, Device::bytes) != 0) std::abort();
  const auto map = [&](int access) {
    return static_cast<std::byte*>(mmap(nullptr, Device::bytes, access, MAP_SHARED, memory, 0));
  };
  device = {map(PROT_NONE), map(PROT_READ | PROT_WRITE)};
  void* const driver = dlopen(FAKE_CUDA, RTLD_NOW);
  using Tell = void (*)(std::uintptr_t, std::uintptr_t);
  Tell tell = nullptr;
  void* const symbol = driver == nullptr ? nullptr : dlsym(driver, "fake_device");
  if (symbol == nullptr) std::abort();
  std::memcpy(&tell, &symbol, sizeof tell);
  const auto first = reinterpret_cast<std::uintptr_t>(device.address);
  tell(first, first + Device::bytes);
}

}  // namespace tutti::test
