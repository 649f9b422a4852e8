/// Finds the names of call sites through the loader and the symbol tables of ELF files.
#include "api/report_sites.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

#include "api/report_callers.hpp"

namespace tutti {

namespace {

struct Function {
  std::string name;
  std::uintptr_t start = 0;  ///< address in the file
};

/// A file mapped read-only; empty if it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      start_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (start_ == MAP_FAILED) size_ = 0;
    }
    if (file >= 0) close(file);
  }
  ~MappedFile() {
    if (size_ > 0) munmap(start_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// `count` values from `offset` on; empty if the file does not hold them.
  template <class T>
  [[nodiscard]] std::span<const T> at(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0)
      return {};
    const auto* from = static_cast<const char*>(start_) + offset;
    return {reinterpret_cast<const T*>(from), static_cast<std::size_t>(count)};
  }

 private:
  void* start_ = nullptr;
  std::size_t size_ = 0;
};

/// The function around `address` by the file's full symbol table, which stripped files lack.
std::optional<Function> function_in_file(const std::string& path, std::uintptr_t address) {
  const MappedFile file(path);
  const auto header = file.at<ElfW(Ehdr)>(0, 1);
  if (header.empty() || std::string_view(reinterpret_cast<const char*>(header[0].e_ident), 4) !=
                            std::string_view("\x7f"
                                             "ELF",
                                             4)) {
    return std::nullopt;
  }
  const auto sections = file.at<ElfW(Shdr)>(header[0].e_shoff, header[0].e_shnum);
  for (const ElfW(Shdr) & section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const ElfW(Shdr)& names = sections[section.sh_link];
    const auto text = file.at<char>(names.sh_offset, names.sh_size);
    const auto count = section.sh_size / sizeof(ElfW(Sym));
    for (const ElfW(Sym) & symbol : file.at<ElfW(Sym)>(section.sh_offset, count)) {
      const bool is_function = (symbol.st_info & 0xf) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
      if (!is_function || symbol.st_name >= text.size()) continue;
      if (address < symbol.st_value || address - symbol.st_value >= symbol.st_size) continue;
      const std::string_view rest(&text[symbol.st_name], text.size() - symbol.st_name);
      return Function{std::string(rest.substr(0, rest.find('\0'))), symbol.st_value};
    }
  }
  return std::nullopt;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

std::string hexadecimal(std::uintptr_t value) {
  std::array<char, 2 + 2 * sizeof value + 1> text{};
  std::snprintf(text.data(), text.size(), "0x%jx", static_cast<std::uintmax_t>(value));
  return text.data();
}

}  // namespace

std::string path_of_program() {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
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
  const std::string file = path.substr(path.rfind('/') + 1);
  const std::uintptr_t offset = address - module->l_addr;
  auto function = function_in_file(path, offset - 1);
  if (!function && info.dli_sname != nullptr) {
    function = {info.dli_sname, reinterpret_cast<std::uintptr_t>(info.dli_saddr) - module->l_addr};
  }
  if (!function) return file + "+" + hexadecimal(offset);
  return file + ": " + demangled(function->name) + "+" + hexadecimal(offset - function->start);
}

}  // namespace tutti
