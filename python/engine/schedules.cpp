/// Python bindings of the steps of schedules.
#include "schedules.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "schedule/graph.hpp"

namespace nb = nanobind;

namespace tutti {

namespace {

using Range = std::pair<BlockIndex, BlockIndex>;

Range range_of(BlockRange range) { return {range.begin, range.end}; }

std::vector<Range> holes_of(const Step& step) {
  std::vector<Range> holes;
  for (const BlockRange& hole : step.blocks.holes) holes.push_back(range_of(hole));
  return holes;
}

}  // namespace

void bind_steps(nb::module_& module) {
  nb::class_<Step>(module, "Step", "One step of a rank's schedule.")
      .def_prop_ro("kind", [](const Step& step) { return std::string(name_of(step.kind)); })
      .def_ro("peer", &Step::peer)
      .def_prop_ro(
          "blocks", [](const Step& step) { return range_of(step.blocks.range); },
          "The first block, and the one after the last.")
      .def_prop_ro("holes", holes_of, "Ranges of blocks within it that the step leaves out.")
      .def_ro("bytes", &Step::bytes)
      .def_ro("offset", &Step::offset, "Of the bytes in the packed blocks.")
      .def_ro("first", &Step::first, "Of the steps that a wait waits for.")
      .def_ro("last", &Step::last, "The step after the last one that a wait waits for.")
      .def_ro("after", &Step::after, "An earlier step that must complete first; -1: none.")
      .def_ro("slots", &Step::slots, "The limit of steps in flight; 0: none.")
      .def_prop_ro(
          "background", [](const Step& step) { return step.runner == Runner::background; },
          "True if the background thread runs the step.");
}

std::vector<std::vector<NeededStep>> message_steps(const std::vector<Schedule>& call) {
  const std::vector<Schedule> schedules = as_messages(call);
  StepGraph graph;
  if (graph.build(schedules) != StepGraph::none) throw nb::value_error("a step has no partner");
  std::vector<std::vector<NeededStep>> all(schedules.size());
  for (Rank rank = 0; rank < graph.p(); ++rank) {
    std::vector<NeededStep>& steps = all[static_cast<std::size_t>(rank)];
    for (StepId id = 0; id < graph.steps(rank); ++id) {
      steps.emplace_back(graph.step(graph.node(rank, id)), std::vector<StepId>());
    }
    for (StepId id = 0; id < graph.steps(rank); ++id) {
      graph.for_each_reader(graph.node(rank, id), [&](StepGraph::Node reader) {
        steps[static_cast<std::size_t>(graph.step_of(reader))].second.push_back(id);
      });
    }
  }
  return all;
}

}  // namespace tutti
