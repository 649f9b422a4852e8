/// Grows node memory on demand.
#include <algorithm>
#include <array>

#include "run/hierarchical/mpi_hierarchical.hpp"
#include "run/mpi/agree.hpp"

namespace tutti {

/// Must ranks agree on the number of chunks? Otherwise each computes the same number.
bool HierarchicalRunner::agrees_on_chunks(const HierarchicalProblem& call) const {
  const bool exchanges = size_exchange_words(call.collective, 1, false) > 0;
  if (exchanges || !node_->grows()) return exchanges;
  HierarchicalProblem whole = call;
  whole.chunks = 1;
  return chunks_for(whole, node_->nodes(), rank_, node_->sure_capacity()) != 1;
}

/// Grows node memory, up to its limit, until it holds the whole call. Collective over the first
/// ranks of the nodes.
int HierarchicalRunner::grow_for(const HierarchicalProblem& call, Lanes& lanes) {
  const Bytes most = node_->max_capacity();
  if (!node_->grows() || node_->capacity() == most) return MPI_SUCCESS;
  Bytes wanted = node_->capacity();
  while (wanted < most && chunks_for(call, node_->nodes(), rank_, wanted) != 1) {
    wanted = std::min(most, std::max(page_bytes(), 2 * wanted));
  }
  std::array<Bytes, 2> on_all = {wanted, 0};
  int error = MPI_SUCCESS;
  if (!lanes.empty()) error = max_on_all(lanes.front()->handle(), on_all);
  if (error != MPI_SUCCESS || on_all[0] == node_->capacity()) return error;
  Bytes got = on_all[0];
  while (got > node_->capacity() && !node_->allocate(got)) {
    got = std::max(node_->capacity(), got / 2);
  }
  std::array<Bytes, 2> lacks = {on_all[0] - got, 0};
  if (!lanes.empty()) error = max_on_all(lanes.front()->handle(), lacks);
  // If the system refuses once, do not ask again.
  got = on_all[0] - lacks[0];
  if (error == MPI_SUCCESS) node_->set_capacity(got, lacks[0] > 0 ? got : most);
  return error;
}

}  // namespace tutti
