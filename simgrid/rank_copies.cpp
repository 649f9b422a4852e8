/// Copies a library's file, loads the copy, and maps its constant pages from the original.
#include "simgrid/rank_copies.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "run/file.hpp"

namespace tutti::simgrid {

namespace {

bool copy_contents(int from, int to) {
  struct stat status {};
  if (fstat(from, &status) != 0) return false;
  for (off_t done = 0; done < status.st_size;) {
    const ssize_t sent = sendfile(to, from, &done, static_cast<std::size_t>(status.st_size - done));
    if (sent <= 0) return false;
  }
  return true;
}

std::uintptr_t page_start(std::uintptr_t address) {
  return address & ~(static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) - 1);
}

/// Maps the segments without write permission from `original` and frees those of `copy`. The
/// loader relocates only writable segments, so both have equal contents.
void share_constant_segments(void* handle, int original, int copy) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return;
  const auto base = static_cast<std::uintptr_t>(map->l_addr);
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    const ElfW(Phdr)& segment = segments[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const std::uintptr_t start = page_start(base + segment.p_vaddr);
    const auto offset = static_cast<off_t>(page_start(segment.p_offset));
    const std::size_t bytes = base + segment.p_vaddr + segment.p_filesz - start;
    const int protection = PROT_READ | ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    if (mmap(reinterpret_cast<void*>(start), bytes, protection, MAP_PRIVATE | MAP_FIXED, original,
             offset) == MAP_FAILED) {
      return;
    }
    fallocate(copy, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
              static_cast<off_t>(page_start(bytes)));
  }
}

}  // namespace

void* load_copy(const std::string& path, const std::string& folder, std::string& why) {
  const OpenFile original(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string name = folder + "/tutti-rank-XXXXXX";
  const OpenFile copy(mkostemp(name.data(), O_CLOEXEC));
  if (original.number() < 0 || copy.number() < 0 ||
      !copy_contents(original.number(), copy.number())) {
    why = "cannot copy " + path + " to " + name + ": " + std::strerror(errno);
    if (copy.number() >= 0) unlink(name.c_str());
    return nullptr;
  }
  // The loader tells libraries apart by name and file, so each copy needs both of its own.
  void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) why = dlerror();
  unlink(name.c_str());
  if (handle != nullptr) share_constant_segments(handle, original.number(), copy.number());
  return handle;
}

}  // namespace tutti::simgrid
