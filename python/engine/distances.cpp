/// Python bindings of distances between ranks and of orders by distance.
#include "distances.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "algorithms/staging.hpp"
#include "cost/traffic.hpp"
#include "engine.hpp"
#include "select/tuning_candidates.hpp"
#include "topology/shared_links.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti {

std::optional<Fabric> fabric_for(const std::optional<DistanceFile>& distances,
                                 const Machine& machine, int p) {
  if (!distances) return std::nullopt;
  if (distances->p() != p) {
    const std::string text = "the distances are those of " + std::to_string(distances->p()) +
                             " ranks, the call has " + std::to_string(p);
    throw nb::value_error(text.c_str());
  }
  return fabric_of(*distances, machine.latency, machine.per_byte);
}

Reordering reordered_call(const Specification& specification, const Call& call,
                          const Fabric& fabric) {
  const Bytes block = *std::max_element(call.sizes.begin(), call.sizes.end());
  return reordered(traffic_of(specification, call.p(), block), fabric, block,
                   anchor_of(specification, call.root));
}

namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix rows_of(const Distances& distances) {
  Matrix rows;
  for (Rank from = 0; from < distances.size(); ++from) {
    rows.emplace_back();
    for (Rank to = 0; to < distances.size(); ++to) rows.back().push_back(distances(from, to));
  }
  return rows;
}

Reordering reordering_of(const DistanceFile& file, const std::string& collective,
                         const std::string& algorithm, Bytes block, Rank root,
                         const Machine& machine) {
  const Collective named = collective_or_raise(collective);
  const Specification spec = value_or_raise(specification(named, algorithm));
  if (root < 0 || root >= file.p() || block < 0) {
    const std::string text = "root " + std::to_string(root) + ", block " + std::to_string(block) +
                             ": expected a root from 0 to " + std::to_string(file.p() - 1) +
                             " and a block of at least 0 bytes";
    throw nb::value_error(text.c_str());
  }
  const Call call{named, root, std::vector<Bytes>(static_cast<std::size_t>(file.p()), block)};
  return reordered_call(spec, call, fabric_of(file, machine.latency, machine.per_byte));
}

/// As api/distance_orders, in one process.
std::vector<std::string> explored_orders(const DistanceFile& file, const std::string& collective,
                                         Bytes block, const Machine& machine) {
  if (block <= 0) return {};
  const Features features = {.collective = collective_or_raise(collective),
                             .p = file.p(),
                             .block = largest_of(class_of(block)),
                             .staging = default_staging};
  const Fabric fabric = fabric_of(file, machine.latency, machine.per_byte);
  RankOrders orders;
  const auto search = [&](const Specification& candidate) -> const RankOrders& {
    return orders = rank_orders_of(candidate, fabric, 0);
  };
  std::vector<std::string> found;
  for (const Specification& one :
       gaining_by_distance(candidates_by_distance(features), features.block, fabric, search)) {
    found.push_back(to_text(one));
  }
  return found;
}

}  // namespace

void bind_distances(nb::module_& module) {
  nb::class_<CandidateOrder>(module, "CandidateOrder", "An order of ranks and its modelled time.")
      .def_ro("name", &CandidateOrder::name, "The method that found the order.")
      .def_ro("ranks", &CandidateOrder::ranks, "The rank at each position.")
      .def_ro("seconds", &CandidateOrder::seconds);
  nb::class_<Reordering>(module, "Reordering", "The evaluated rank orders of an algorithm.")
      .def_ro("natural", &Reordering::natural)
      .def_ro("best", &Reordering::best,
              "The fastest order; the natural one if no other is modelled faster.")
      .def_ro("all", &Reordering::all, "All orders, by modelled time.")
      .def_prop_ro("gain", &Reordering::gain, "The natural order's time over the best one's.")
      .def_prop_ro("helps", &Reordering::helps);
  nb::class_<DistanceFile>(module, "Distances", "The measured distances between ranks.")
      .def_prop_ro("ranks", &DistanceFile::p)
      .def_ro("method", &DistanceFile::method)
      .def_ro("names", &DistanceFile::names, "The name of each rank's node; empty if unknown.")
      .def_prop_ro(
          "bytes",
          [](const DistanceFile& file) {
            std::vector<Bytes> bytes;
            for (const MeasuredDistances& measured : file.measured) bytes.push_back(measured.bytes);
            return bytes;
          },
          "The measured message sizes, one or two.")
      .def(
          "matrix",
          [](const DistanceFile& file, std::size_t which) {
            return rows_of(file.measured.at(which).distances);
          },
          "which"_a = 0, "Seconds from each rank to each other, for messages of bytes[which].")
      .def(
          "clusters",
          [](const DistanceFile& file) {
            return clusters_of(file.measured.back().distances).levels;
          },
          "Clusters of near ranks, by the largest messages: by level, finest first, the group of "
          "each rank.")
      .def("reordering", reordering_of, "collective"_a, "algorithm"_a, "block"_a, "root"_a = 0,
           "machine"_a = Machine{},
           "Evaluates orders by distance for an algorithm; block: bytes of each rank's block.")
      .def("explored", explored_orders, "collective"_a, "block"_a, "machine"_a = Machine{},
           "The orders by distance that auto explores behind the other candidates: those that the "
           "model predicts to gain enough, the fastest first. block: the mean one, in bytes.");
  module.def(
      "distances_from_text",
      [](const std::string& text) { return value_or_raise(distances_from_text(text)); }, "text"_a,
      "Reads distances from JSON; ValueError if it is invalid.");
}

}  // namespace tutti
