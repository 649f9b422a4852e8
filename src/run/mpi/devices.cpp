/// Asks the drivers of CUDA and HIP about addresses.
#include "run/mpi/devices.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace tutti {

namespace {

// These declare the documented C interfaces, so that a build needs no headers of CUDA or HIP.
using CudaGet = int (*)(void* data, int attribute, std::uintptr_t address);
constexpr int cuda_memory_type = 2;  ///< CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned cuda_device = 2;  ///< CU_MEMORYTYPE_DEVICE

using HipGet = int (*)(void* attributes, const void* address);
using HipError = int (*)();

std::atomic<CudaGet> cuda_get = nullptr;
std::atomic<HipGet> hip_get = nullptr;
std::atomic<HipError> hip_peek = nullptr;
std::atomic<HipError> hip_clear = nullptr;

template <class Function>
void fetch(void* library, const char* symbol, std::atomic<Function>& function) {
  void* const address = dlsym(library, symbol);
  Function found = nullptr;
  std::memcpy(&found, &address, sizeof found);
  function = found;
}

/// The library, if the process has loaded it: runtimes load it where other libraries do not see it.
void* loaded(const char* name) { return dlopen(name, RTLD_LAZY | RTLD_NOLOAD); }

/// True for memory that HIP knows, except the host's. Type 0 was pageable and pinned memory of the
/// host up to ROCm 5, and is memory unknown to HIP since, where pinned memory has a number of its
/// own.
bool hip_knows(HipGet get, const void* address) {
  // The type comes first; the rest differs, and fits into this array.
  alignas(16) std::array<int, 64> attributes = {};
  const HipError peek = hip_peek;
  const HipError clear = hip_clear;
  const bool was_clean = peek != nullptr && peek() == 0;
  const bool known = get(attributes.data(), address) == 0;
  // Clear this query's error, so that the program does not see it.
  if (!known && was_clean && clear != nullptr) clear();
  return known && attributes[0] != 0;
}

}  // namespace

void look_for_devices() {
  if (cuda_get.load(std::memory_order_relaxed) == nullptr) {
    if (void* cuda = loaded("libcuda.so.1")) fetch(cuda, "cuPointerGetAttribute", cuda_get);
  }
  if (hip_get.load(std::memory_order_relaxed) != nullptr) return;
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    void* const hip = loaded(name);
    if (hip == nullptr) continue;
    fetch(hip, "hipPeekAtLastError", hip_peek);
    fetch(hip, "hipGetLastError", hip_clear);
    fetch(hip, "hipPointerGetAttributes", hip_get);
    return;
  }
}

bool is_on_device(const void* address) {
  if (const CudaGet get = cuda_get.load(std::memory_order_acquire)) {
    unsigned type = 0;
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    if (get(&type, cuda_memory_type, number) == 0 && type == cuda_device) return true;
  }
  const HipGet get = hip_get.load(std::memory_order_acquire);
  return get != nullptr && hip_knows(get, address);
}

}  // namespace tutti
