/// Grows node memory on demand, and agrees on the number of chunks.
#include <algorithm>
#include <array>

#include "run/hierarchical/mpi_hierarchical.hpp"
#include "run/mpi/agree.hpp"

namespace tutti {

/// Must ranks agree on the number of chunks? Otherwise each computes the same number.
bool HierarchicalRunner::agrees_on_chunks(const HierarchicalProblem& call) const {
  const bool exchanges = exchanges_sizes(call.collective);
  if (exchanges || !node_->grows()) return exchanges;
  HierarchicalProblem whole = call;
  whole.chunks = 1;
  return chunks_for(whole, node_->nodes(), rank_, node_->sure_capacity()) != 1;
}

/// All nodes use as many chunks as the one that needs most. Their first ranks agree on the number.
int HierarchicalRunner::agree_on_chunks(HierarchicalCall& hierarchical, Lanes& lanes) {
  int error = MPI_SUCCESS;
  if (node_->local() == 0) {
    // Wait until all have read the number of the last call.
    if (node_->grows()) error = await(begin_, 0, node_->ranks());
    keep_first(error, grow_for(hierarchical.call, lanes));
    const int chunks = chunks_for(hierarchical.call, node_->nodes(), rank_, node_->capacity())
                           .value_or(refused_chunks);
    std::vector<int> all(static_cast<std::size_t>(node_->nodes().count()), chunks);
    if (!lanes.empty()) {
      keep_first(error, mpi().Allgather(&chunks, sizeof chunks, mpi().byte, all.data(),
                                        sizeof chunks, mpi().byte, lanes.front()->handle()));
    }
    node_->further(0)[chunks_word] = *std::max_element(all.begin(), all.end());
  }
  keep_first(error, signal_and_await(begin_ + chunks_sequence, 0, 1));
  hierarchical.call.chunks = static_cast<int>(node_->further(0)[chunks_word]);
  return error;
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
