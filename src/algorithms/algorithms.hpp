/// The list of algorithms, and specifications that name a point in their space.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/problem.hpp"
#include "core/result.hpp"
#include "orders/orders.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// What a rank must know beyond its own arguments before it can build a schedule.
enum class Knowledge : std::uint8_t {
  nothing,          ///< its arguments suffice
  subtree_sizes,    ///< the sizes of its subtrees in a fixed tree
  tree_neighbours,  ///< its place in a tree grown from the sizes
  all_sizes,        ///< every rank's size
};
[[nodiscard]] std::string_view name_of(Knowledge knowledge);

/// The most that a rank stages beside the caller's buffers in one call (see staging_of).
enum class Staging : std::uint8_t {
  nothing,            ///< the caller's buffers suffice
  subtrees,           ///< what TUTTI_MEMORY allows, and the rank's own block
  group,              ///< relay: the blocks of a group; of unequal blocks as much as vector
  vector,             ///< the vector, or all blocks that a rank sends or receives
  four_vectors,       ///< up to four times as much
  vector_each_round,  ///< a vector for each child or round
  vector_each_rank,   ///< the vectors of all other ranks
};

/// One line of list.inc.
struct Algorithm {
  Collective collective;
  std::string_view name;
  Schedule (*schedule)(const Problem& problem);
  std::string_view order;  ///< the default order; "identity" where the shape has its own
  Knowledge knowledge;
  Staging staging;
  std::string_view parameters;  ///< comma-separated names
  std::string_view summary;
  /// Reductions: combines in other sequences than that of ranks, so that the operation must
  /// commute. Else any associative one will do.
  bool commutative = false;

  [[nodiscard]] bool takes(std::string_view parameter) const;
};

/// All of them, by collective, in the sequence of list.inc.
[[nodiscard]] std::span<const Algorithm> all_algorithms();

struct Alias {
  std::string_view name;
  std::string_view specification;
};
/// The names that papers use.
[[nodiscard]] std::span<const Alias> all_aliases();

/// An algorithm with everything that it can be told.
struct Specification {
  const Algorithm* algorithm = nullptr;
  OrderName order = OrderName::rotated;
  Parameters parameters;
  Runner runner = Runner::caller;

  [[nodiscard]] Knowledge knowledge() const;
  /// Its tree is grown from the arrivals alone.
  [[nodiscard]] bool follows_arrivals() const { return algorithm->name == "earliest"; }
  /// The schedule depends on when ranks are expected to arrive.
  [[nodiscard]] bool needs_arrivals() const {
    return order == OrderName::arrival || order == OrderName::late_leaf || parameters.arrivals ||
           follows_arrivals();
  }
  /// The schedule depends on how far ranks are from one another.
  [[nodiscard]] bool needs_distances() const {
    return order == OrderName::distance || order == OrderName::nearest_next ||
           order == OrderName::two_partners_each || order == OrderName::heaviest_first;
  }
  friend bool operator==(const Specification&, const Specification&) = default;
};

/// The schedule of the rank that `problem` is the view of: the algorithm's, with the steps that
/// need not wait for the rank given to the background runner where that is asked for.
[[nodiscard]] Schedule schedule_of(const Specification& specification, const Problem& problem);

/// Does a reduction combine vectors part by part, at least long ones?
[[nodiscard]] bool cuts_vectors(const Specification& specification);

/// Reads "name[:key=value[,key=value]..]", e.g. "knomial:k=4,order=natural" or
/// "linear_sync:order=arrival,runner=background"; the name may be an alias. Bytes take K, M, G
/// (powers of 1024). The error names what is wrong and what is accepted.
[[nodiscard]] Result<Specification> specification(Collective collective, std::string_view text);
/// The shortest text that reads back as the same specification.
[[nodiscard]] std::string to_text(const Specification& specification);

/// A number that stands for it in messages: alike on all ranks, never 0, and of two specifications
/// the same by a chance of 2^-64 only.
[[nodiscard]] std::int64_t digest_of(const Specification& specification);

/// What runs between nodes where the call between them is `inner`, the regular or irregular form of
/// the specification's own collective: the same algorithm. Where that has no such form, which is so
/// of Bruck's alltoall on uneven nodes alone, it is `linear` in the same order.
[[nodiscard]] Specification between_nodes(const Specification& specification, Collective inner);

/// A number of bytes such as "0", "1536", "64K", "8M".
[[nodiscard]] Result<Bytes> bytes_from(std::string_view text);

}  // namespace tutti
