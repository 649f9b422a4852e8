/// Python bindings of hierarchical collectives: programs, their verification, and modelled times.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "algorithms/staging.hpp"
#include "closed_forms/hierarchical_times.hpp"
#include "core/numbers.hpp"
#include "engine.hpp"
#include "select/tuning_candidates.hpp"
#include "sweep/check.hpp"
#include "sweep/sweep.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti {

namespace {

/// The mean block size, by which irregular calls are modelled.
Bytes mean_block(const Call& call) {
  Bytes sum = 0;
  for (const Bytes bytes : call.sizes) sum += bytes;
  return sum / std::max(call.p(), 1);
}

std::vector<std::vector<Rank>> ranks_of(const Nodes& nodes) {
  std::vector<std::vector<Rank>> all;
  for (int node = 0; node < nodes.count(); ++node) {
    all.emplace_back(nodes.ranks(node).begin(), nodes.ranks(node).end());
  }
  return all;
}

std::string microseconds(double seconds) {
  const double value = seconds * 1e6;
  const std::string text =
      value < 999.5 ? in_characters(value, std::chars_format::general, 3) : fixed(value, 0);
  return text + " us";
}

std::string note_of(const HierarchicalSeconds& seconds) {
  return "copies in " + microseconds(seconds.copies_in) + ", signals " +
         microseconds(seconds.signals) + ", between nodes " + microseconds(seconds.between) +
         ", copies out " + microseconds(seconds.copies_out);
}

/// Raises ValueError for a collective without a hierarchical form.
void check_form(Collective collective) {
  if (can_be_hierarchical(collective)) return;
  throw nb::value_error((std::string(name_of(collective)) + " has no hierarchical form").c_str());
}

/// A hierarchical call, with the programs of all ranks.
class PyHierarchicalProblem {
 public:
  PyHierarchicalProblem(const std::string& collective, std::vector<Bytes> sizes,
                        const std::string& nodes, Rank root, const std::string& algorithm,
                        Bytes bound, bool commutative, const Machine& machine)
      : nodes_(value_or_raise(nodes_from(nodes))), machine_(machine) {
    call_.collective = collective_or_raise(collective);
    check_form(call_.collective);
    call_.root = has_root(call_.collective) ? root : 0;
    call_.sizes = std::move(sizes);
    check_call(nodes);
    setting_ = value_or_raise(setting(call_.collective, algorithm));
    options_.commutative = commutative;
    options_.direct = true;
    options_.leaders = std::min(setting_.level.value_or(Level{}).leaders, nodes_.most());
    if (bound > 0) {
      options_.chunks = value_or_raise(agreed_chunks(call_, nodes_, options_, bound));
    }
    programs_ = value_or_raise(hierarchical_programs(call_, nodes_, options_));
  }

  [[nodiscard]] std::string program(Rank rank) const {
    if (rank < 0 || rank >= call_.p()) {
      const std::string text =
          "rank " + std::to_string(rank) + ": expected 0 to " + std::to_string(call_.p() - 1);
      throw nb::index_error(text.c_str());
    }
    return to_text(programs_[static_cast<std::size_t>(rank)]);
  }

  [[nodiscard]] std::vector<std::vector<Rank>> ranks() const { return ranks_of(nodes_); }

  [[nodiscard]] std::vector<Bytes> memory() const {
    std::vector<Bytes> all;
    for (int node = 0; node < nodes_.count(); ++node) {
      all.push_back(programs_[static_cast<std::size_t>(nodes_.rank_at(node, 0))].node_memory);
    }
    return all;
  }

  [[nodiscard]] std::vector<std::string> calls() const {
    std::vector<std::string> all;
    for (const Call& inner : inner_calls(programs_, nodes_, call_.unit)) {
      std::string text = std::string(name_of(inner.collective));
      if (setting_.kind == Setting::Kind::forced) {
        text += " by " + to_text(between_nodes(setting_.specification, inner.collective));
      }
      if (has_root(inner.collective)) text += " root " + std::to_string(inner.root);
      const bool pairs = inner.collective == Collective::alltoallv;
      text += pairs ? " pairs" : " bytes";
      for (const Bytes bytes : pairs ? inner.pairs : inner.sizes)
        text += " " + std::to_string(bytes);
      all.push_back(text);
    }
    return all;
  }

  /// The first fault of the programs on nodes or between them; empty if there is none.
  [[nodiscard]] std::string fault() const {
    ProgramVerifier programs;
    if (const auto fault = check(programs, call_, nodes_, options_, programs_, 0)) {
      return fault->text;
    }
    if (setting_.kind != Setting::Kind::forced) return "";
    for (const Call& inner : inner_calls(programs_, nodes_, call_.unit)) {
      const Specification between = between_nodes(setting_.specification, inner.collective);
      const Problems problems(between, inner);
      const std::string fault = fault_of(programs, between, inner, problems, problems.schedules());
      if (!fault.empty()) return "between nodes: " + fault;
    }
    return "";
  }

  /// The modelled times of the flat algorithms of MPI libraries, for the mean block and the mean
  /// number of ranks on a node, rounded down, and of the programs; by time.
  [[nodiscard]] std::vector<Candidate> proposals() const {
    const NodeShape mean = {nodes_.count(), nodes_.p() / nodes_.count()};
    std::vector<Candidate> all;
    for (const auto& [shape, seconds] :
         flat_times(call_.collective, mean, static_cast<double>(mean_block(call_)), machine_)) {
      all.push_back({"flat " + std::string(shape), seconds, "ignores nodes"});
    }
    const HierarchicalSeconds seconds = program_seconds(programs_, nodes_, machine_);
    const Level level{true, programs_.front().lanes};
    all.push_back(
        {to_text(Setting{Setting::Kind::native, {}, level}), seconds.total(), note_of(seconds)});
    std::ranges::stable_sort(all, {}, &Candidate::seconds);
    return all;
  }
  [[nodiscard]] int leaders() const { return options_.leaders; }
  [[nodiscard]] int chunks() const { return options_.chunks; }
  [[nodiscard]] std::string algorithm() const { return to_text(setting_); }

 private:
  void check_call(const std::string& nodes) const {
    std::string wrong = flaw_of(machine_);
    if (nodes_.p() != call_.p()) {
      wrong = "nodes " + nodes + " have " + std::to_string(nodes_.p()) + " ranks, the call has " +
              std::to_string(call_.p());
    } else if (call_.root < 0 || call_.root >= call_.p()) {
      wrong = "root " + std::to_string(call_.root) + ": expected a rank from 0 to " +
              std::to_string(call_.p() - 1);
    }
    for (const Bytes bytes : call_.sizes) {
      if (bytes < 0) wrong = "size " + std::to_string(bytes) + ": expected at least 0 bytes";
      if (!is_irregular(call_.collective) && bytes != call_.sizes[0]) {
        wrong = "sizes: " + std::string(name_of(call_.collective)) + " needs equal sizes";
      }
    }
    if (wrong.empty()) wrong = fault_of_sum(call_.collective, call_.sizes);
    if (!wrong.empty()) throw nb::value_error(wrong.c_str());
  }

  Nodes nodes_;
  Machine machine_;
  Call call_;
  Setting setting_;
  HierarchicalOptions options_;
  std::vector<Program> programs_;
};

std::vector<std::string> explored(const std::string& collective, int ranks, Bytes block,
                                  int ranks_per_node, const Machine& machine,
                                  std::vector<double> arrivals, bool background) {
  std::string wrong = flaw_of(machine);
  if (ranks < 1 || block < 0 || ranks_per_node < 1) {
    wrong = "ranks " + std::to_string(ranks) + ", block " + std::to_string(block) +
            ", ranks_per_node " + std::to_string(ranks_per_node) +
            ": expected at least 1 rank, also on a node, and a block of at least 0";
  } else if (!arrivals.empty() && wrong.empty()) {
    wrong = flaw_of(arrivals, ranks);
  }
  if (!wrong.empty()) throw nb::value_error(wrong.c_str());
  Features features = {.collective = collective_or_raise(collective),
                       .p = ranks,
                       .block = block,
                       .ranks_per_node = ranks_per_node,
                       .has_background = background,
                       .staging = default_staging};
  features.knows_arrivals =
      is_gather_or_scatter(features.collective) && (!arrivals.empty() || background);
  if (features.knows_arrivals) features.arrivals = std::move(arrivals);
  std::vector<std::string> names;
  for (const Setting& one : tuning_candidates(features, machine)) {
    names.push_back(to_text(one));
  }
  return names;
}

std::vector<std::string> useful(const std::string& collective, int ranks, int ranks_per_node,
                                bool arrivals, bool background, bool distances) {
  const Collective named = collective_or_raise(collective);
  std::vector<std::string> names;
  for (const Specification& one : useful_specifications(named, ranks)) {
    const bool has_arrivals = arrivals || !one.needs_arrivals();
    const bool has_thread = background || one.runner == Runner::caller;
    const bool has_distances = distances || !one.needs_distances();
    if (has_arrivals && has_thread && has_distances) names.push_back(to_text(one));
  }
  for (const Setting& one : hierarchical_candidates(named, ranks_per_node)) {
    names.push_back(to_text(one));
  }
  return names;
}

/// Modelled seconds of one call, flat and hierarchical.
struct HierarchicalEstimate {
  std::map<std::string, double> flat;
  HierarchicalSeconds level;
  HierarchicalSeconds one_leader;
};

HierarchicalEstimate estimate(const std::string& collective, int nodes, int ranks, Bytes block,
                              const Machine& machine) {
  const Collective named = collective_or_raise(collective);
  check_form(named);
  if (nodes < 1 || ranks < 1 || block < 0 || nodes > (1 << 24) / ranks) {
    throw nb::value_error("expected at least 1 node and 1 rank each, and at most 16,777,216 ranks");
  }
  if (const std::string wrong = flaw_of(machine); !wrong.empty()) {
    throw nb::value_error(wrong.c_str());
  }
  const NodeShape shape{nodes, ranks};
  HierarchicalEstimate estimate;
  for (const auto& [flat, seconds] :
       flat_times(named, shape, static_cast<double>(block), machine)) {
    estimate.flat[std::string(flat)] = seconds;
  }
  const int leaders = best_leaders(named, shape, block, machine);
  estimate.level = hierarchical_seconds(named, shape, block, leaders, machine);
  estimate.one_leader = hierarchical_seconds(named, shape, block, 1, machine);
  return estimate;
}

void bind_times(nb::module_& module) {
  nb::class_<HierarchicalSeconds>(module, "HierarchicalSeconds",
                                  "The parts of the time of a hierarchical call.")
      .def_ro("copies_in", &HierarchicalSeconds::copies_in)
      .def_ro("signals", &HierarchicalSeconds::signals)
      .def_ro("between", &HierarchicalSeconds::between)
      .def_ro("copies_out", &HierarchicalSeconds::copies_out)
      .def_prop_ro("total", &HierarchicalSeconds::total);
  nb::class_<HierarchicalEstimate>(module, "HierarchicalEstimate",
                                   "Modelled seconds of a call, flat and hierarchical.")
      .def_ro("flat", &HierarchicalEstimate::flat, "The flat algorithms, by shape.")
      .def_ro("level", &HierarchicalEstimate::level,
              "The hierarchical algorithm with the best number of leaders.")
      .def_ro("one_leader", &HierarchicalEstimate::one_leader);
  module.def("hierarchical_estimate", estimate, "collective"_a, "nodes"_a, "ranks"_a, "block"_a,
             "machine"_a = Machine{},
             "Modelled times for `nodes` nodes of `ranks` ranks each; block in bytes.");
}

}  // namespace

void bind_hierarchical(nb::module_& module) {
  bind_times(module);
  nb::class_<PyHierarchicalProblem>(module, "HierarchicalProblem",
                                    "A hierarchical call, with the programs of all ranks.")
      .def(
          nb::init<const std::string&, std::vector<Bytes>, const std::string&, Rank,
                   const std::string&, Bytes, bool, const Machine&>(),
          "collective"_a, "sizes"_a, "nodes"_a, "root"_a = 0,
          "algorithm"_a = "hierarchical(native)", "bound"_a = 0, "commutative"_a = true,
          "machine"_a = Machine{},
          "nodes: such as 1,4,2 or 8x6, optionally with :round_robin or :shuffled. bound: limit of "
          "node memory in bytes, 0 for none.")
      .def_prop_ro("algorithm", &PyHierarchicalProblem::algorithm)
      .def_prop_ro("leaders", &PyHierarchicalProblem::leaders)
      .def_prop_ro("chunks", &PyHierarchicalProblem::chunks)
      .def_prop_ro("ranks", &PyHierarchicalProblem::ranks, "The ranks of each node.")
      .def_prop_ro("memory", &PyHierarchicalProblem::memory,
                   "The bytes of node memory on each node.")
      .def("program", &PyHierarchicalProblem::program, "rank"_a,
           "The operations of a rank as text.")
      .def("calls", &PyHierarchicalProblem::calls, "The collectives between nodes, lane by lane.")
      .def("fault", &PyHierarchicalProblem::fault,
           "The first fault of the programs; empty if they are correct.")
      .def("proposals", &PyHierarchicalProblem::proposals,
           "Modelled times, flat and through node memory; fastest first.");
  module.def("explored", explored, "collective"_a, "ranks"_a, "block"_a, "ranks_per_node"_a = 1,
             "machine"_a = Machine{}, "arrivals"_a = std::vector<double>(), "background"_a = false,
             "The candidates that auto explores on the program's own calls, in this sequence, "
             "native first. block: the mean one, in bytes. Ranks of gathers and scatters "
             "exchange arrivals if some are expected (by rank, in seconds) or if every rank has a "
             "background thread.");
  module.def("useful", useful, "collective"_a, "ranks"_a, "ranks_per_node"_a = 1,
             "arrivals"_a = false, "background"_a = false, "distances"_a = false,
             "The algorithms of the list with their useful parameters, also those that need "
             "arrivals, background threads or distances if these are there; then node memory.");
  module.def(
      "node_ranks",
      [](const std::string& nodes) { return ranks_of(value_or_raise(nodes_from(nodes))); },
      "nodes"_a, "The ranks of each node of a shape such as 1,4,2 or 8x6:round_robin.");
  module.def(
      "sweep_hierarchical",
      [](const std::string& collective, int max_ranks, const std::string& nodes) {
        const Collective named = collective_or_raise(collective);
        if (nodes.empty()) {
          const nb::gil_scoped_release unlocked;
          return sweep_hierarchical(named, max_ranks);
        }
        return sweep_hierarchical(named, value_or_raise(nodes_from(nodes)));
      },
      "collective"_a, "max_ranks"_a = 5, "nodes"_a = "",
      "Verifies hierarchical programs on the shape `nodes`, or on all shapes of up to max_ranks "
      "ranks "
      "and some larger ones.");
}

}  // namespace tutti
