/// Finds the modules of call sites through the loader.
#include "api/report_sites.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>

#include "run/process.hpp"

namespace tutti {

namespace {

std::string hexadecimal(std::uintptr_t value) {
  std::array<char, 2 + 2 * sizeof value + 1> text{};
  std::snprintf(text.data(), text.size(), "0x%jx", static_cast<std::uintmax_t>(value));
  return text.data();
}

/// The paths of the modules that hold sites. Only for the thread that writes the report.
using Modules = std::set<std::string>;

}  // namespace

std::string path_of_program() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).string();
}

std::string site_name(const void* site) {
  if (site == nullptr) return "C API";
  if (const std::string* name = name_of_site(site)) return *name;
  const auto address = reinterpret_cast<std::uintptr_t>(site);
  Dl_info info{};
  const link_map* module = nullptr;
  // A return address may lie behind a function whose last instruction is the call.
  if (dladdr1(reinterpret_cast<const void*>(address - 1), &info,
              reinterpret_cast<void**>(const_cast<link_map**>(&module)), RTLD_DL_LINKMAP) == 0 ||
      module == nullptr) {
    return "generated code";
  }
  const bool is_program = module->l_name == nullptr || module->l_name[0] == '\0';
  const std::string path = is_program ? path_of_program() : module->l_name;
  of_process<Modules>().insert(path);
  return path.substr(path.rfind('/') + 1) + "+" + hexadecimal(address - module->l_addr);
}

std::vector<std::string> modules_of_sites() {
  const Modules& all = of_process<Modules>();
  return {all.begin(), all.end()};
}

}  // namespace tutti
