/// The registry of algorithms.
#include "algorithms/algorithms.hpp"

#include <algorithm>
#include <array>

#include "core/words.hpp"
#include "lowering/background.hpp"

namespace tutti {

#define TUTTI_ALGORITHM(collective, name, function, ...) Schedule function(const Problem& problem);
#include "algorithms/list.inc"
#undef TUTTI_ALGORITHM

namespace {

/// What a line of list.inc needs.
struct Needs {
  Knowledge knowledge;
  bool commutative = false;
};
namespace needs {
constexpr Needs nothing = {Knowledge::nothing};
constexpr Needs subtree_sizes = {Knowledge::subtree_sizes};
constexpr Needs tree_neighbours = {Knowledge::tree_neighbours};
constexpr Needs all_sizes = {Knowledge::all_sizes};
constexpr Needs any = {Knowledge::nothing};
constexpr Needs commutative = {Knowledge::nothing, true};
}  // namespace needs

constexpr std::array lines = {
#define TUTTI_ALGORITHM(collective, name, function, shape, order, needed, staging, parameters,   \
                        useful, roles, summary)                                                  \
  Algorithm{Collective::collective,                                                              \
            #name,                                                                               \
            function,                                                                            \
            Shape::shape,                                                                        \
            #order,                                                                              \
            is_irregular(Collective::collective) ? needs::needed.knowledge : Knowledge::nothing, \
            Staging::staging,                                                                    \
            parameters,                                                                          \
            useful,                                                                              \
            roles,                                                                               \
            summary,                                                                             \
            needs::needed.commutative},
#include "algorithms/list.inc"
#undef TUTTI_ALGORITHM
};

/// The lines by collective.
constexpr auto list = [] {
  auto sorted = lines;
  auto to = sorted.begin();
  for (const Collective collective : all_collectives) {
    const auto is_own = [&](const Algorithm& line) { return line.collective == collective; };
    to = std::ranges::copy_if(lines, to, is_own).out;
  }
  return sorted;
}();

constexpr Alias aliases[] = {
#define TUTTI_ALIAS(name, specification) {name, specification},
#include "algorithms/aliases.inc"
#undef TUTTI_ALIAS
};

}  // namespace

std::string_view name_of(Knowledge knowledge) {
  constexpr std::array<std::string_view, 4> names = {"nothing", "subtree_sizes", "tree_neighbours",
                                                     "all_sizes"};
  return names[static_cast<std::size_t>(knowledge)];
}

namespace {

bool has_word(std::string_view words, std::string_view separator, std::string_view word) {
  return !word.empty() && std::ranges::count(split(words, separator), word) > 0;
}

/// Do both make the same schedules? A k-nomial tree with k = 2 is a binomial one.
bool are_same(Specification one, const Specification& other) {
  if (one.algorithm->schedule != other.algorithm->schedule) return false;
  one.algorithm = other.algorithm;
  return one == other;
}

}  // namespace

bool Algorithm::takes(std::string_view parameter) const {
  return has_word(parameters, ",", parameter);
}

std::optional<Specification> specification_for(Collective collective, std::string_view role) {
  for (const Algorithm& algorithm : list) {
    if (algorithm.collective == collective && has_word(algorithm.roles, " ", role)) {
      return *specification(collective, algorithm.name);
    }
  }
  return std::nullopt;
}

std::vector<Specification> useful_specifications(Collective collective, int p) {
  std::vector<Specification> all;
  const auto add = [&all](const Specification& one) {
    if (std::ranges::none_of(all, [&](const auto& other) { return are_same(one, other); }))
      all.push_back(one);
  };
  for (const Algorithm& algorithm : list) {
    if (algorithm.collective != collective) continue;
    add(*specification(collective, algorithm.name));
    for (const std::string_view set : split(algorithm.useful, " ")) {
      if (set.empty()) continue;
      const std::string text = std::string(algorithm.name) + ":" + std::string(set);
      const Specification useful = *specification(collective, text);
      if (useful.parameters.k == Parameters().k || useful.parameters.k < p) add(useful);
    }
  }
  return all;
}

std::span<const Algorithm> all_algorithms() { return list; }
std::span<const Alias> all_aliases() { return aliases; }

Knowledge Specification::knowledge() const {
  const bool sorted_tree =
      algorithm->knowledge == Knowledge::subtree_sizes && order == OrderName::by_size;
  return sorted_tree ? Knowledge::all_sizes : algorithm->knowledge;
}

Schedule schedule_of(const Specification& specification, const Problem& problem) {
  Schedule schedule = specification.algorithm->schedule(problem);
  if (specification.runner == Runner::caller) return schedule;
  return in_background(std::move(schedule), problem.position());
}

/// Reads the answer off a schedule of two ranks. A reduce_scatter combines each block by itself.
bool cuts_vectors(const Specification& specification) {
  const Collective collective = specification.algorithm->collective;
  if (block_kind(collective) != BlockKind::parts) return true;
  const Problem problem{.collective = collective,
                        .p = 2,
                        .order = Order::identity(2),
                        .sizes = Sizes::parts(Bytes{1} << 30, 1, 1),
                        .parameters = specification.parameters};
  return specification.algorithm->schedule(problem).parts > 1;
}

Specification between_nodes(const Specification& specification, Collective inner) {
  if (inner == specification.algorithm->collective) return specification;
  const Result<Specification> named = tutti::specification(inner, specification.algorithm->name);
  if (named) {
    Specification between = specification;
    between.algorithm = named->algorithm;
    return between;
  }
  Specification between = *tutti::specification(inner, "linear");
  between.order = specification.order;
  between.runner = specification.runner;
  return between;
}

}  // namespace tutti
