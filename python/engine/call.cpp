/// Python bindings of one call of a collective: its schedules, times and selection.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "algorithms/problems.hpp"
#include "algorithms/staging.hpp"
#include "cost/bounds.hpp"
#include "cost/simulate.hpp"
#include "distances.hpp"
#include "engine.hpp"
#include "knowledge.hpp"
#include "schedules.hpp"
#include "select/selection.hpp"
#include "values.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti {

std::string flaw_of(const std::vector<double>& arrivals, int p) {
  if (arrivals.size() != static_cast<std::size_t>(p)) {
    return std::to_string(arrivals.size()) + " arrivals: expected one for each of " +
           std::to_string(p) + " ranks";
  }
  const bool finite = std::all_of(arrivals.begin(), arrivals.end(),
                                  [](double arrival) { return std::isfinite(arrival); });
  return finite ? "" : "arrivals: expected finite numbers of seconds";
}

std::string flaw_of(const Machine& machine) {
  for (const double seconds : {machine.latency, machine.per_byte, machine.overhead, machine.gap,
                               machine.polling, machine.serving}) {
    if (!std::isfinite(seconds) || seconds < 0) {
      return "machine: " + std::to_string(seconds) + " s: expected a finite time of at least 0";
    }
  }
  return machine.per_byte > 0 ? "" : "machine: per_byte 0: expected more than 0 s";
}

namespace {

/// The irregular form of a collective, as the end of an error message.
std::string irregular_form(Collective collective) {
  if (collective == Collective::reduce_scatter_block) return "; try reduce_scatter";
  const auto irregular = collective_named(std::string(name_of(collective)) + "v");
  return irregular ? "; try " + std::string(name_of(*irregular)) : "";
}

Call checked_call(const std::string& collective, std::vector<Bytes> sizes, Rank root,
                  const Machine& machine, std::vector<double> expected) {
  std::string wrong = flaw_of(machine);
  if (!wrong.empty()) throw nb::value_error(wrong.c_str());
  Call call{collective_or_raise(collective),
            root,
            std::move(sizes),
            machine.half_performance_length(),
            std::move(expected),
            1 / machine.per_byte};
  call.memory = default_staging;
  if (call.sizes.empty()) wrong = "sizes: expected at least one rank's";
  for (std::size_t i = 0; i < call.sizes.size(); ++i) {
    if (call.sizes[i] < 0) {
      wrong = "size " + std::to_string(call.sizes[i]) + " of rank " + std::to_string(i) +
              ": expected at least 0 bytes";
    } else if (!is_irregular(call.collective) && call.sizes[i] != call.sizes[0]) {
      wrong = "sizes " + std::to_string(call.sizes[0]) + " and " + std::to_string(call.sizes[i]) +
              ": " + collective + " needs equal sizes" + irregular_form(call.collective);
    }
  }
  if (wrong.empty()) wrong = fault_of_sum(call.collective, call.sizes);
  if (wrong.empty() && (root < 0 || root >= call.p())) {
    wrong = "root " + std::to_string(root) + ": expected a rank from 0 to " +
            std::to_string(call.p() - 1);
  }
  if (wrong.empty() && !has_root(call.collective)) call.root = 0;
  if (wrong.empty() && !call.arrivals.empty()) wrong = flaw_of(call.arrivals, call.p());
  if (!wrong.empty()) throw nb::value_error(wrong.c_str());
  return call;
}

/// A call with a given algorithm, with the schedules of all ranks.
class PyCall {
 public:
  PyCall(const std::string& collective, std::vector<Bytes> sizes, Rank root,
         const std::string& algorithm, const Machine& machine, std::vector<double> expected,
         const std::optional<DistanceFile>& distances)
      : call_(checked_call(collective, std::move(sizes), root, machine, std::move(expected))),
        machine_(machine),
        fabric_(fabric_for(distances, machine, call_.p())),
        specification_(with_rank_order(value_or_raise(specification(call_.collective, algorithm)))),
        problems_(specification_, call_),
        schedules_(problems_.schedules()) {}

  const std::vector<Schedule>& schedules() const { return schedules_; }

  const Schedule& schedule(Rank rank) const {
    if (rank < 0 || rank >= call_.p()) {
      const std::string text =
          "rank " + std::to_string(rank) + ": expected 0 to " + std::to_string(call_.p() - 1);
      throw nb::index_error(text.c_str());
    }
    return schedules_[static_cast<std::size_t>(rank)];
  }

  std::string algorithm() const { return to_text(specification_); }
  std::string knowledge() const { return std::string(name_of(specification_.knowledge())); }
  KnowledgePrice price_of_knowledge() const { return knowledge_price(specification_, call_); }
  std::string collective() const { return std::string(name_of(call_.collective)); }
  Rank root() const { return call_.root; }
  int p() const { return call_.p(); }
  bool inward() const { return flows_to_root(call_.collective); }
  std::vector<Message> messages() const { return value_or_raise(tutti::messages(schedules_)); }

  std::vector<Rank> order() const {
    std::vector<Rank> ranks;
    for (Position v = 0; v < call_.p(); ++v) ranks.push_back(problems_.order().rank_at(v));
    return ranks;
  }

  std::vector<Rank> promoted() const {
    return problems_.tree() ? problems_.tree()->promoted() : std::vector<Rank>();
  }

  Timeline simulate(const std::vector<double>& arrivals) const {
    check_arrivals(arrivals);
    const Links* const links = fabric_ ? &fabric_->links : nullptr;
    return value_or_raise(tutti::simulate(schedules_, machine_, arrivals, links));
  }

  double price(const std::string& model, const std::vector<double>& arrivals) const {
    check_arrivals(arrivals);
    constexpr std::array<const char*, 4> names = {"hockney", "overlapped", "logp", "loggp"};
    const auto found = std::find(names.begin(), names.end(), model);
    if (found == names.end()) {
      throw nb::value_error(
          ("model " + model + ": expected hockney, overlapped, logp or loggp").c_str());
    }
    const auto named = static_cast<PriceModel>(found - names.begin());
    return value_or_raise(
        tutti::price(schedules_, machine_, named, arrivals, specification_.parameters.protocol));
  }

  double lower_bound(const std::vector<double>& arrivals, bool background) const {
    check_arrivals(arrivals);
    Call call = call_;
    call.arrivals = arrivals;
    return tutti::lower_bound(call, fabric_ ? fastest_link() : machine_,
                              background ? Runner::background : Runner::caller);
  }

 private:
  /// The minimum latency and the minimum time per byte of all pairs: no message is faster.
  [[nodiscard]] Machine fastest_link() const {
    Machine fastest = machine_;
    for (Rank from = 0; from < call_.p(); ++from) {
      for (Rank to = 0; to < call_.p(); ++to) {
        if (from == to) continue;
        const bool first = from == 0 && to == 1;
        const double latency = fabric_->links.latency(from, to);
        const double per_byte = fabric_->links.per_byte(from, to);
        fastest.latency = first ? latency : std::min(fastest.latency, latency);
        fastest.per_byte = first ? per_byte : std::min(fastest.per_byte, per_byte);
      }
    }
    return fastest;
  }

  /// Sets the call's rank order if the specification has an order by distance.
  Specification with_rank_order(Specification specification) {
    if (specification.needs_distances()) {
      if (!fabric_) {
        const auto order = std::string(name_of(specification.order));
        throw nb::value_error(("order=" + order + " needs a file of distances").c_str());
      }
      call_.rank_order = reordered_call(specification, call_, *fabric_).best.ranks;
    }
    return specification;
  }

  void check_arrivals(const std::vector<double>& arrivals) const {
    if (arrivals.empty()) return;
    const std::string wrong = flaw_of(arrivals, call_.p());
    if (!wrong.empty()) throw nb::value_error(wrong.c_str());
  }

  Call call_;
  Machine machine_;
  std::optional<Fabric> fabric_;
  Specification specification_;
  Problems problems_;
  std::vector<Schedule> schedules_;
};

Choice choice_for(const std::string& collective, const std::string& text, int ranks,
                  std::optional<Bytes> block, const Machine& machine) {
  const Collective named = collective_or_raise(collective);
  return choose(value_or_raise(setting(named, text)), Features{named, ranks, block.value_or(0)},
                machine);
}

void bind_timeline(nb::module_& module) {
  nb::class_<TimedMessage>(module, "Transfer", "A message in simulated time, in seconds.")
      .def_ro("source", &TimedMessage::from)
      .def_ro("target", &TimedMessage::to)
      .def_ro("bytes", &TimedMessage::bytes)
      .def_ro("start", &TimedMessage::start)
      .def_ro("end", &TimedMessage::end);
  nb::class_<Timeline>(module, "Timeline", "The timeline of a simulated call, in seconds.")
      .def_ro("arrivals", &Timeline::arrivals)
      .def_ro("exits", &Timeline::exits)
      .def_ro("busy", &Timeline::busy)
      .def_ro("transfers", &Timeline::transfers)
      .def_prop_ro("run_time", &Timeline::run_time, "Last exit minus first arrival.")
      .def_prop_ro("elapsed", &Timeline::elapsed, "Mean over ranks of exit minus arrival.")
      .def_prop_ro("spread", &Timeline::spread, "Last arrival minus first arrival.");
}

}  // namespace

void bind_call(nb::module_& module) {
  bind_timeline(module);
  bind_steps(module);
  nb::class_<Message>(module, "Message", "A send and its matching receive.")
      .def_ro("source", &Message::from)
      .def_ro("target", &Message::to)
      .def_ro("bytes", &Message::bytes)
      .def_ro("round", &Message::round);
  nb::class_<KnowledgePrice>(module, "KnowledgePrice",
                             "The messages of the protocol that acquires knowledge.")
      .def_ro("steps", &KnowledgePrice::steps, "The longest chain of dependent messages.")
      .def_ro("messages", &KnowledgePrice::messages)
      .def_ro("words", &KnowledgePrice::words, "The total number of words of 8 bytes.");
  nb::class_<Candidate>(module, "Candidate", "An algorithm that selection has compared.")
      .def_ro("name", &Candidate::name)
      .def_ro("seconds", &Candidate::seconds)
      .def_ro("note", &Candidate::note);
  nb::class_<Choice>(module, "Choice", "The selected algorithm, and why.")
      .def_prop_ro("algorithm", [](const Choice& choice) { return to_text(choice.setting); })
      .def_prop_ro(
          "specification",
          [](const Choice& choice) {
            const bool is_forced = choice.setting.kind == Setting::Kind::forced;
            return is_forced ? to_text(choice.setting.specification) : "native";
          },
          "Of the flat algorithm, or of what runs between nodes.")
      .def_ro("reason", &Choice::reason)
      .def_ro("candidates", &Choice::candidates);
  nb::class_<PyCall>(module, "Call", "One call of a collective, with the schedules of all ranks.")
      .def(nb::init<const std::string&, std::vector<Bytes>, Rank, const std::string&,
                    const Machine&, std::vector<double>, const std::optional<DistanceFile>&>(),
           "collective"_a, "sizes"_a, "root"_a = 0, "algorithm"_a = "ordered_tree",
           "machine"_a = Machine{}, "expected"_a = std::vector<double>(),
           "distances"_a = nb::none(),
           "expected: predicted arrivals in seconds, for orders by arrival. distances: for orders "
           "by distance, and for the times of simulated messages.")
      .def_prop_ro("collective", &PyCall::collective)
      .def_prop_ro("root", &PyCall::root)
      .def_prop_ro("ranks", &PyCall::p)
      .def_prop_ro("inward", &PyCall::inward, "True if all data flows to the root.")
      .def_prop_ro("algorithm", &PyCall::algorithm, "The shortest text of the specification.")
      .def_prop_ro("knowledge", &PyCall::knowledge,
                   "The knowledge that ranks need beyond their arguments.")
      .def("knowledge_price", &PyCall::price_of_knowledge,
           "The messages of the protocol that acquires it.")
      .def_prop_ro("order", &PyCall::order, "The rank at each position.")
      .def_prop_ro("promoted", &PyCall::promoted,
                   "The roots of subtrees that promotion has made children of the root.")
      .def(
          "schedule", [](const PyCall& call, Rank rank) { return to_text(call.schedule(rank)); },
          "rank"_a, "The steps of a rank as text.")
      .def(
          "steps", [](const PyCall& call, Rank rank) { return call.schedule(rank).steps; },
          "rank"_a, "The steps of a rank.")
      .def(
          "message_steps", [](const PyCall& call) { return message_steps(call.schedules()); },
          "By rank, its steps and for each the earlier steps whose data it reads. One-sided steps "
          "become messages.")
      .def("messages", &PyCall::messages, "All messages, by round.")
      .def("simulate", &PyCall::simulate, "arrivals"_a = std::vector<double>(),
           "Replays the data's messages. arrivals: seconds by rank. In gathers and scatters a rank "
           "has one port, in other collectives one for each direction.")
      .def("price", &PyCall::price, "model"_a = "loggp", "arrivals"_a = std::vector<double>(),
           "Seconds until the last rank has completed its schedule under a model: hockney, "
           "overlapped, logp or loggp.")
      .def("lower_bound", &PyCall::lower_bound, "arrivals"_a = std::vector<double>(),
           "background"_a = false,
           "The earliest end of any algorithm, in seconds from time 0. With background, ranks may "
           "receive before they arrive.");
  module.def("choose", choice_for, "collective"_a, "setting"_a, "ranks"_a,
             "block"_a = std::optional<Bytes>(), "machine"_a = Machine{},
             "Tutti's selection under a setting, from facts that all ranks know.");
}

}  // namespace tutti
