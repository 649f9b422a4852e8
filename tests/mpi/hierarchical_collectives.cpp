/// Tests all other collectives through node memory, with the MPI's own and every algorithm of the
/// list between nodes.
#include <memory>

#include "exchange.hpp"
#include "harness.hpp"
#include "movement.hpp"
#include "reduction.hpp"

namespace tutti::test {
namespace {

/// The MPI's own between nodes, then each algorithm, with 1 to 3 leaders in turn.
std::vector<std::string> hierarchical(const char* collective) {
  if (is_scan(collective)) return {};
  std::vector<std::string> all = {"hierarchical(native)", "hierarchical(native,leaders=2)"};
  for (const std::string& name : algorithms(collective)) {
    const int leaders = static_cast<int>(all.size()) % 3 + 1;
    all.push_back(with_level(name, "level=node,leaders=" + std::to_string(leaders)));
  }
  return all;
}

/// The algorithm in a specification, flat or hierarchical, or at the front of a report.
std::string name_in(const std::string& text) {
  constexpr std::string_view opening = "hierarchical(";
  const std::size_t begin = text.starts_with(opening) ? opening.size() : 0;
  return text.substr(begin, text.find_first_of(":,)", begin) - begin);
}

void check_movement(Context& context, const Movement& m, const Forced& forced) {
  context.step(to_text(m));
  context.expect_empty(run(m, false));
  context.expect_empty(forced.wrongly_ran(m.comm));
  const std::string ran = forced.last(m.comm);
  if (ran.find("hierarchical(") == std::string::npos) context.fail("ran \"" + ran + "\"");
}

/// Makes `calls` drawn calls of each kind and specification.
void move(Context& context, MPI_Comm comm, const std::vector<int>& scales, int calls) {
  int p = 0;
  PMPI_Comm_size(comm, &p);
  std::mt19937 random(17);
  unsigned turn = 0;
  for (const Motion motion : all_motions) {
    for (const std::string& specification : hierarchical(setting_of(motion))) {
      const Forced forced(setting_of(motion), specification, false);
      context.expect_empty(forced.error());
      for (int call = 0; call < calls * context.options().effort; ++call) {
        // A vector takes more to fill node memory, an alltoall less.
        const int scale = scales[++turn % scales.size()];
        const int units = has_pairs(motion)         ? scale / 4
                          : motion == Motion::bcast ? 8 * scale
                                                    : scale;
        Movement movement = draw(motion, comm, p, units, random);
        // With one rank per node there is no node memory to use.
        if (p == 1 || context.options().nodes == "1") native_fallback(movement, p);
        check_movement(context, movement, forced);
      }
    }
  }
}

/// The expected report of a reduction.
class Verdict {
 public:
  Verdict(const Reduction& reduction, const std::string& specification)
      : fits_(reduction.values->commutes || takes_any(reduction.collective, specification) ||
              name_in(specification) == "native"),
        commutes_(reduction.values->commutes),
        overlaps_(reduction.values->overlaps() || is_absolute(reduction)),
        name_(fits_ ? name_in(specification) : "native") {}

  /// May the MPI's own run it flat?
  [[nodiscard]] bool may_be_native() const {
    return name_ == "native" && (overlaps_ || !commutes_);
  }
  [[nodiscard]] std::string fault(const std::string& ran) const {
    const bool refused = ran.find(": runs flat because ") != std::string::npos;
    const bool straight = ran.find("; runs flat because every node") != std::string::npos;
    const bool through = ran.find("hierarchical(") != std::string::npos;
    bool well = name_in(ran) == name_ && refused != through;
    if (refused) well = well && (overlaps_ || !commutes_);
    if (overlaps_) well = well && (refused || straight);
    if (!fits_ && through) well = well && ran.find("does not commute") != std::string::npos;
    return well ? "" : "ran \"" + ran + "\" instead of " + name_;
  }

 private:
  bool fits_;
  bool commutes_;
  bool overlaps_;
  std::string name_;
};

void check_reduction(Context& context, Reduction reduction, const std::string& specification,
                     const Forced& forced) {
  const Verdict verdict(reduction, specification);
  const bool is_odd = reduction.values->is_odd || is_absolute(reduction);
  if (verdict.may_be_native() && is_odd) return;
  reduction.keeps_rest = !verdict.may_be_native();
  context.step(specification + " " + to_text(reduction));
  context.expect_empty(run(reduction));
  context.expect_empty(verdict.fault(forced.last(reduction.comm)));
}

/// Runs every kind of value by every specification; roots, counts and buffers alternate.
void reduce(Context& context, MPI_Comm comm, const std::vector<int>& counts) {
  int p = 0;
  PMPI_Comm_size(comm, &p);
  int turn = 0;
  for (const char* collective : all_reductions) {
    for (const std::string& specification : hierarchical(collective)) {
      const Forced forced(collective, specification, false);
      context.expect_empty(forced.error());
      for (const Values& values : Values::all()) {
        const int count = counts[static_cast<std::size_t>(turn) % counts.size()];
        Reduction reduction{collective, comm, turn % p, counts_of(collective, count, p), &values};
        reduction.in_place = turn % 3 == 1;
        reduction.large = turn % 4 >= 2;
        reduction.bottom = turn % 7 < 4;
        check_reduction(context, reduction, specification, forced);
        ++turn;
      }
    }
  }
}

/// Runs vectors in many chunks: contiguous numbers, types with gaps, operations that do not
/// commute.
void reduce_in_chunks(Context& context) {
  const OwnComm comm;
  int turn = 0;
  for (const char* collective : all_reductions) {
    for (const std::string& specification : hierarchical(collective)) {
      const Forced forced(collective, specification, false);
      constexpr std::size_t kinds[] = {0, 4, 2};
      const Values& values = Values::all()[kinds[turn % 3]];
      Reduction reduction{collective, comm.get(), turn % comm.size(), {}, &values};
      reduction.counts =
          counts_of(collective, collective == all_reductions[3] ? 400 : 4000, comm.size());
      reduction.in_place = turn++ % 2 == 1;
      check_reduction(context, reduction, specification, forced);
    }
  }
}

/// Runs with orders between nodes by fictitious distances, by arrivals and by sizes.
void in_order(Context& context) {
  const OwnComm comm;
  constexpr std::pair<const char*, const char*> points[] = {
      {"allreduce", "hierarchical(ring:order=distance,leaders=2)"},
      {"allreduce", "hierarchical(halving_doubling:order=arrival)"},
      {"reduce", "hierarchical(binomial:order=arrival,leaders=2)"},
      {"reduce", "hierarchical(knomial:order=distance,k=3)"},
      {"reduce", "hierarchical(binomial:order=cycle)"},
      {"reduce_scatter", "hierarchical(circulant:order=by_size)"},
      {"reduce_scatter", "hierarchical(ring:order=distance,leaders=3)"},
      {"reduce_scatter_block", "hierarchical(pairwise:order=arrival)"}};
  for (const auto& [collective, specification] : points) {
    const Forced forced(collective, specification, false);
    context.expect_empty(forced.error());
    for (int root = 0; root < comm.size(); root += 3) {
      Reduction reduction{collective, comm.get(), root, {}, &Values::all()[0]};
      reduction.counts = counts_of(collective, 40, comm.size());
      check_reduction(context, reduction, specification, forced);
    }
  }
}

/// A communicator in which ranks of a node are not consecutive.
std::unique_ptr<OwnComm> dealt(const Context& context) {
  return std::make_unique<OwnComm>(0, context.rank() * 7 % 11 * context.size() + context.rank());
}

void other_communicators(Context& context) {
  const auto mixed = dealt(context);
  const OwnComm half(context.rank() % 2, context.rank());
  for (const MPI_Comm comm : {mixed->get(), MPI_COMM_SELF, half.get()}) {
    move(context, comm, {5, 30}, 1);
    reduce(context, comm, {5});
  }
}

}  // namespace

void add_hierarchical_collectives(Suite& suite) {
  suite.add_tutti_only("levels, movements", [](Context& context) {
    const OwnComm comm;
    move(context, comm.get(), {40, 0, 1, 700, 3}, 4);
  });
  // More data than the node memory of --nodes.
  suite.add_tutti_only("levels, movements in chunks", [](Context& context) {
    const OwnComm comm;
    move(context, comm.get(), {3000}, 1);
  });
  suite.add("levels, barriers",
            [](Context& context) { check_barriers(context, "level=node,leaders=2"); });
  suite.add("levels, mixed types",
            [](Context& context) { check_mixed_types(context, "level=node,leaders=2"); });
  suite.add_tutti_only("levels, reductions", [](Context& context) {
    const OwnComm comm;
    reduce(context, comm.get(), {5, 0, 1, 64, 17});
  });
  suite.add_tutti_only("levels, own operations get parts", check_parts);
  suite.add_tutti_only("levels, reductions in chunks", reduce_in_chunks);
  suite.add_tutti_only("levels, reductions in orders", in_order);
  suite.add_tutti_only("levels, other communicators", other_communicators);
}

}  // namespace tutti::test
