/// Reads TUTTI_DISTANCES at first use, computes the orders at rank 0 and broadcasts them.
#include "api/distance_orders.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>

#include "api/environment.hpp"
#include "run/distance/mpi_distances.hpp"
#include "run/file.hpp"
#include "run/process.hpp"
#include "select/rank_orders.hpp"
#include "topology/distance_rows.hpp"
#include "topology/shared_links.hpp"

namespace tutti {

namespace {

struct KnownDistances {
  std::mutex mutex;
  bool is_read = false;
  std::string error;
  std::string text;  ///< of a measurement
  std::shared_ptr<const DistanceFile> distances;
};

/// Enough for both matrices of 2,000 ranks. tutti-bench writes far less, as it measures all pairs
/// of at most 64 ranks.
constexpr std::size_t max_file_bytes = std::size_t{1} << 28;

Result<DistanceFile> read_file(const std::string& path) {
  const Result<std::string> text = read_text_file(path, max_file_bytes);
  if (text) return distances_from_text(*text);
  return Error{text.error() + "; expected a file that tutti map --mpirun wrote"};
}

/// The caller holds the lock of `all`.
void read_once(KnownDistances& all) {
  if (!all.text.empty()) {
    all.distances = std::make_shared<const DistanceFile>(*distances_from_text(all.text));
    all.text.clear();
    return;
  }
  if (std::exchange(all.is_read, true) || all.distances != nullptr) return;
  const std::string& path = environment().distances;
  if (path.empty()) return;
  Result<DistanceFile> distances = read_file(path);
  if (distances) {
    all.distances = std::make_shared<const DistanceFile>(std::move(*distances));
  } else {
    all.error = "invalid TUTTI_DISTANCES=" + path + ": " + distances.error();
  }
}

void warn_once(const std::string& why) {
  static std::once_flag written;
  std::call_once(written, [&] {
    std::fprintf(stderr, "tutti: ignoring the distances between ranks: %s\n", why.c_str());
  });
}

}  // namespace

std::shared_ptr<const DistanceFile> known_distances() {
  KnownDistances& all = of_process<KnownDistances>();
  const std::lock_guard lock(all.mutex);
  read_once(all);
  return all.distances;
}

void set_distances(std::string text) {
  KnownDistances& all = of_process<KnownDistances>();
  const std::lock_guard lock(all.mutex);
  all.text = std::move(text);
  all.distances = nullptr;
}

std::string distances_error() {
  KnownDistances& all = of_process<KnownDistances>();
  const std::lock_guard lock(all.mutex);
  read_once(all);
  return all.error;
}

int DistanceOrders::open(MPI_Comm comm, const Machine& machine,
                         std::shared_ptr<const DistanceFile> distances,
                         std::unique_ptr<DistanceOrders>& made) {
  std::unique_ptr<DistanceOrders> orders(
      new DistanceOrders(comm, size_of(comm), machine, std::move(distances)));
  std::vector<RankLocation> locations;
  int world = 0;
  if (const int error = gather_locations(comm, locations, world)) return error;
  if (orders->rank_ == 0 && orders->distances_ != nullptr) {
    const Result<std::vector<int>> rows = rows_for(*orders->distances_, locations, world);
    if (rows) orders->rows_ = *rows;
    if (!rows) warn_once(rows.error());
  }
  if (const int error = orders->agree()) return error;
  made = std::move(orders);
  return MPI_SUCCESS;
}

/// Rank 0 finds the fabric of its rows, and all ranks learn whether it could.
int DistanceOrders::agree() {
  if (rank_ == 0) find_fabric();
  known_ = fabric_.has_value();
  return take_from_first(known_, comm_);
}

/// If this process knows the distances of all rows.
void DistanceOrders::find_fabric() {
  if (distances_ == nullptr || rows_.empty()) return;
  if (std::ranges::max(rows_) >= distances_->p()) return;
  fabric_ = fabric_of(with_rows(*distances_, rows_), machine_.latency, machine_.per_byte);
}

DistanceOrders::Entry& DistanceOrders::entry(const Specification& specification, Rank root) {
  if (specification.turns_with_root()) root = 0;
  for (Entry& known : entries_) {
    if (known.root == root && known.specification == specification) return known;
  }
  return entries_.emplace_back(Entry{specification, root});
}

/// Only where the fabric is known.
const RankOrders& DistanceOrders::rank_orders_here(const Specification& specification, Rank root) {
  Entry& own = entry(specification, root);
  if (!own.is_found) own.rank_orders = rank_orders_of(specification, *fabric_, root);
  own.is_found = true;
  return own.rank_orders;
}

int DistanceOrders::rank_orders(const Specification& specification, Rank root,
                                const RankOrders*& found) {
  found = nullptr;
  if (!known_) return MPI_SUCCESS;
  Entry& common = entry(specification, root);
  if (!common.is_common) {
    if (rank_ == 0) rank_orders_here(specification, root);
    std::vector<Rank> all;
    for (const std::vector<Rank>& ranks : common.rank_orders.of_class) {
      all.insert(all.end(), ranks.begin(), ranks.end());
    }
    if (const int error = take_from_first(all, comm_)) return error;
    auto next = all.begin();
    for (std::vector<Rank>& ranks : common.rank_orders.of_class) {
      ranks.assign(next, next + p_);
      next += p_;
    }
    common.is_common = true;
  }
  found = &common.rank_orders;
  return MPI_SUCCESS;
}

int DistanceOrders::between(const Nodes& nodes, DistanceOrders*& between) {
  between = between_.get();
  if (!known_ || between_ != nullptr) return MPI_SUCCESS;
  std::unique_ptr<DistanceOrders> made(
      new DistanceOrders(comm_, nodes.count(), machine_, distances_));
  for (int node = 0; node < nodes.count() && rank_ == 0; ++node) {
    made->rows_.push_back(rows_[static_cast<std::size_t>(nodes.rank_at(node, 0))]);
  }
  const int error = made->agree();
  if (error == MPI_SUCCESS) between_ = std::move(made);
  between = between_.get();
  return error;
}

int DistanceOrders::find_gains(std::span<const Specification> candidates, Bytes block,
                               std::vector<Specification>& found) {
  found.clear();
  if (!known_) return MPI_SUCCESS;
  std::vector<int> which;
  if (rank_ == 0) {
    const auto gaining = gaining_by_distance(
        candidates, block, *fabric_,
        [&](const Specification& one) -> const RankOrders& { return rank_orders_here(one, 0); });
    for (const Specification& one : gaining) {
      which.push_back(static_cast<int>(std::ranges::find(candidates, one) - candidates.begin()));
    }
  }
  if (const int error = take_from_first(which, comm_)) return error;
  for (const int one : which) {
    found.push_back(candidates[index(one)]);
    const RankOrders* unused = nullptr;
    if (const int error = rank_orders(found.back(), 0, unused)) return error;
  }
  return MPI_SUCCESS;
}

int DistanceOrders::let_all_find() { return known_ ? take_from_first(rows_, comm_) : MPI_SUCCESS; }

std::vector<Rank> DistanceOrders::found_alone(const Specification& specification, Rank root,
                                              Bytes block) {
  if (!fabric_) find_fabric();
  if (!fabric_) return {};
  return rank_orders_here(specification, root).of(block);
}

int DistanceOrders::order_of_all(std::optional<Collective> collective,
                                 std::vector<Rank>& ranks) const {
  ranks = Order::identity(p_).ranks();
  if (!known_) return MPI_SUCCESS;
  if (rank_ == 0) ranks = order_for_all(collective, *fabric_);
  return take_from_first(ranks, comm_);
}

}  // namespace tutti
