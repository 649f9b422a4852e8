/// The list of algorithms, and specifications: an algorithm with its parameters.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"
#include "core/result.hpp"
#include "orders/orders.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// What a rank must know beyond its own arguments before it can build a schedule.
enum class Knowledge : std::uint8_t {
  nothing,          ///< its arguments suffice
  subtree_sizes,    ///< the sizes of its subtrees in a fixed tree
  tree_neighbours,  ///< its neighbours in a tree built from the sizes
  all_sizes,        ///< every rank's size
};
[[nodiscard]] std::string_view name_of(Knowledge knowledge);

/// The maximum staging memory of a rank in one call (see staging_of).
enum class Staging : std::uint8_t {
  nothing,            ///< the caller's buffers suffice
  subtrees,           ///< TUTTI_MEMORY, plus the rank's own block
  group,              ///< relay: the blocks of a group; as `vector` if blocks differ in size
  vector,             ///< the vector, or the blocks that a rank sends or receives; at least 2
  four_vectors,       ///< up to four times `vector`
  ten_vectors,        ///< up to ten times `vector`
  halved_vectors,     ///< `four_vectors`, one more whenever the largest block doubles
  vector_each_round,  ///< a vector for each child or round
  vector_each_rank,   ///< the vectors of all other ranks
  block_each_rank,    ///< a contribution of each other rank to the rank's own block
};

/// How ranks meet. It decides which positions an order by arrival or size gives to which ranks, who
/// must know the order, and the rounds of a model (see traffic_of).
enum class Shape : std::uint8_t {
  line,      ///< one rank and each other one, position after position; it alone needs the order
  ring,      ///< each position and the next one, p - 1 rounds
  chain,     ///< the same with parts of a vector
  doubling,  ///< positions at growing distances, such as 1, 2, 4, ..; O(log p) messages of each
  rounds,    ///< any other shape whose positions are served in sequence
  tree,      ///< data goes up or down it
  gathering_tree,  ///< data goes up a tree before it goes down
  tree_then_ring,  ///< parts go down a tree, then around a ring
  relay,           ///< see RelayTree
  arrivals,        ///< a tree built from the arrivals alone
};

/// One line of list.inc.
struct Algorithm {
  Collective collective;
  std::string_view name;
  Schedule (*schedule)(const Problem& problem);
  Shape shape;
  /// The default order; if the shape defines its own, "identity", or "bine" for the ranks ascending
  /// modulo p with the root at its position in a Bine tree.
  std::string_view order;
  Knowledge knowledge;
  Staging staging;
  std::string_view parameters;  ///< comma-separated names
  std::string_view useful;      ///< parameter sets, see useful_specifications; separated by spaces
  std::string_view roles;       ///< see specification_for; separated by spaces
  std::string_view summary;
  /// Reductions: the operation must commute, because blocks are not combined in the sequence of
  /// ranks. If false, any associative operation is valid.
  bool commutative = false;

  [[nodiscard]] bool takes(std::string_view parameter) const;
  /// True if positions are served or forward in sequence; false if they form a tree.
  [[nodiscard]] bool is_served_in_turn() const { return shape <= Shape::rounds; }
};

/// All algorithms, by collective, in the sequence of list.inc.
[[nodiscard]] std::span<const Algorithm> all_algorithms();

struct Alias {
  std::string_view name;
  std::string_view specification;
};
/// The names from papers (aliases.inc).
[[nodiscard]] std::span<const Alias> all_aliases();

/// An algorithm with its order, parameters and runner.
struct Specification {
  const Algorithm* algorithm = nullptr;
  OrderName order = OrderName::rotated;
  Parameters parameters;
  Runner runner = Runner::caller;

  [[nodiscard]] Knowledge knowledge() const;
  /// True if its tree is built from the arrivals alone.
  [[nodiscard]] bool follows_arrivals() const { return algorithm->shape == Shape::arrivals; }
  /// True if the schedule depends on expected arrivals.
  [[nodiscard]] bool needs_arrivals() const {
    return order == OrderName::arrival || order == OrderName::late_leaf || parameters.arrivals ||
           follows_arrivals();
  }
  /// True if all ranks need the order. In rooted linear shapes only the root does.
  [[nodiscard]] bool order_matters_everywhere() const {
    return !has_root(algorithm->collective) || algorithm->shape != Shape::line;
  }
  /// True if arrivals or the background thread take part.
  [[nodiscard]] bool uses_background() const {
    return runner == Runner::background || needs_arrivals();
  }
  /// True if the schedule depends on distances between ranks.
  [[nodiscard]] bool needs_distances() const {
    return order == OrderName::distance || order == OrderName::cycle ||
           order == OrderName::nearest_next || order == OrderName::two_partners_each ||
           order == OrderName::heaviest_first;
  }
  /// True if one order serves all roots: it turns until the root is first. There is a root.
  [[nodiscard]] bool turns_with_root() const { return order == OrderName::cycle; }
  friend bool operator==(const Specification&, const Specification&) = default;
};

/// The algorithm's schedule for the rank of `problem`. With the background runner, the steps that
/// need not wait for the rank's arrival are marked for the background thread (see in_background).
[[nodiscard]] Schedule schedule_of(const Specification& specification, const Problem& problem);

/// True if a reduction combines vectors part by part, at least long ones.
[[nodiscard]] bool cuts_vectors(const Specification& specification);

/// Reads "name[:key=value[,key=value]..]", e.g. "knomial:k=4,order=natural" or
/// "linear_sync:order=arrival,runner=background"; the name may be an alias. Bytes accept K, M, G
/// (powers of 1024). The error names the invalid text and the accepted one; its valid names include
/// `others`.
[[nodiscard]] Result<Specification> specification(Collective collective, std::string_view text,
                                                  std::span<const std::string_view> others = {});
/// The shortest text that reads back as the same specification.
[[nodiscard]] std::string to_text(const Specification& specification);

/// What selection and tuning compare among p ranks: each algorithm of the collective with its
/// defaults and with each of its useful parameter sets, except a radix k that is not below p; in
/// the sequence of list.inc, of those with the same schedules only the first. Some need arrivals or
/// the background thread.
[[nodiscard]] std::vector<Specification> useful_specifications(Collective collective, int p);

/// The first algorithm of the list with a role, with its defaults; none if the collective has none:
///  - `small`, `large`: what MPI libraries usually run for small, and for large, blocks;
///  - `fixed`: the reduction that combines contributions in the sequence of ranks, independent of
///    the vector's length, the root, arrivals and process mapping. It accepts any associative
///    operation, and a reduce and an allreduce of the same contributions have equal bits.
[[nodiscard]] std::optional<Specification> specification_for(Collective collective,
                                                             std::string_view role);

/// The specification that runs between nodes, where the collective is `inner`: the regular or
/// irregular form of the specification's own. It is the same algorithm. If that has no such form,
/// as Bruck's alltoall on uneven nodes, it is `linear` in the same order.
[[nodiscard]] Specification between_nodes(const Specification& specification, Collective inner);

/// Reads a number of bytes such as "0", "1536", "64K", "8M".
[[nodiscard]] Result<Bytes> bytes_from(std::string_view text);

}  // namespace tutti
