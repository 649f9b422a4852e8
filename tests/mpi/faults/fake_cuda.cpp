/// Fakes a CUDA driver that reports one address range as GPU memory.
#include <cstdint>

namespace {
std::uintptr_t first = 0;
std::uintptr_t last = 0;

constexpr int memory_type = 2;
constexpr unsigned on_host = 1;
constexpr unsigned on_device = 2;
constexpr int invalid_value = 1;
}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void fake_device(std::uintptr_t from, std::uintptr_t to);
void fake_device(std::uintptr_t from, std::uintptr_t to) {
  first = from;
  last = to;
}

int cuPointerGetAttribute(void* data, int attribute, std::uintptr_t address);
int cuPointerGetAttribute(void* data, int attribute, std::uintptr_t address) {
  if (attribute != memory_type || address == 0) return invalid_value;
  *static_cast<unsigned*>(data) = address >= first && address < last ? on_device : on_host;
  return 0;
}
}
#pragma GCC visibility pop
