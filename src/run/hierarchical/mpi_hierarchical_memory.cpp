/// Growing the memory of nodes by need.
#include <algorithm>
#include <array>

#include "run/hierarchical/mpi_hierarchical.hpp"
#include "run/mpi/agree.hpp"

namespace tutti {

/// Elsewhere all ranks find the number of chunks by themselves.
bool HierarchicalRunner::agrees_on_chunks(const HierarchicalProblem& call) const {
  const bool tells = size_exchange_words(call.collective, 1, false) > 0;
  if (tells || !node_->grows()) return tells;
  HierarchicalProblem whole = call;
  whole.chunks = 1;
  return chunks_for(whole, node_->nodes(), rank_, node_->sure_capacity()) != 1;
}

/// Has memory that grows hold the call at once, as far as it may. Collective over the first ranks.
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
  // What the system does not have once is not asked for again.
  got = on_all[0] - lacks[0];
  if (error == MPI_SUCCESS) node_->set_capacity(got, lacks[0] > 0 ? got : most);
  return error;
}

}  // namespace tutti
