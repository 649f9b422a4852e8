/// Reads the processor topology from the files of Linux.
#include "run/node/groups.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "run/file.hpp"

namespace tutti {

namespace {

constexpr int max_processors = 1 << 16;

/// The processors of each NUMA memory that has any.
std::vector<std::vector<int>> memories(const std::filesystem::path& root) {
  std::vector<std::vector<int>> found;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(root / "devices/system/node", none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("node")) continue;
    std::vector<int> processors = processors_in(line_of(entry.path() / "cpulist"));
    if (!processors.empty()) found.push_back(std::move(processors));
  }
  return found;
}

/// The processors that share the third-level cache with `processor`; empty if unknown.
std::vector<int> beside(const std::filesystem::path& root, int processor) {
  const std::filesystem::path caches =
      root / ("devices/system/cpu/cpu" + std::to_string(processor)) / "cache";
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(caches, none)) {
    if (line_of(entry.path() / "level") != "3") continue;
    return processors_in(line_of(entry.path() / "shared_cpu_list"));
  }
  return {};
}

}  // namespace

std::vector<int> processors_in(std::string_view list) {
  std::vector<int> processors;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {
    int first = 0;
    const auto number = std::from_chars(at, end, first);
    if (number.ec != std::errc() || first < 0 || first >= max_processors) return {};
    int last = first;
    at = number.ptr;
    if (at < end && *at == '-') {
      const auto bound = std::from_chars(at + 1, end, last);
      if (bound.ec != std::errc() || last < first || last >= max_processors) return {};
      at = bound.ptr;
    }
    for (int processor = first; processor <= last; ++processor) processors.push_back(processor);
    if (at < end && *at++ != ',') return {};
  }
  std::ranges::sort(processors);
  return processors;
}

int group_of_processors(const std::filesystem::path& root, const std::vector<int>& own) {
  if (own.empty()) return -1;
  const std::vector<std::vector<int>> all = memories(root);
  if (all.size() > 1) {
    for (const std::vector<int>& memory : all) {
      if (std::ranges::includes(memory, own)) return memory.front();
    }
    return -1;
  }
  const std::vector<int> cache = beside(root, own.front());
  return !cache.empty() && std::ranges::includes(cache, own) ? cache.front() : -1;
}

}  // namespace tutti
