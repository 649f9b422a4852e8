/// Adds calls by number of ranks and message size.
#include "report/sized_calls.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

void add(std::vector<SizedCalls>& sizes, const SizedCalls& more) {
  const auto found = std::find_if(sizes.begin(), sizes.end(), [&](const SizedCalls& one) {
    return one.p == more.p && one.size_class == more.size_class;
  });
  if (found == sizes.end()) {
    if (sizes.size() < sizes_at_most) sizes.push_back(more);
    return;
  }
  found->calls += more.calls;
  found->bytes += more.bytes;
  found->irregularity_sum += more.irregularity_sum;
  found->seconds += more.seconds;
  if (found->root == more.root) {
    found->root_calls += more.root_calls;
  } else if (std::pair(more.root_calls, -more.root) > std::pair(found->root_calls, -found->root)) {
    found->root = more.root;
    found->root_calls = more.root_calls;
  }
}

}  // namespace tutti
