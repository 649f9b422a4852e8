/// Decides by settings, rules and the model, and resolves what depends on more than a collective.
#include "api/selections.hpp"

#include <sstream>
#include <utility>

#include "api/call.hpp"
#include "select/hierarchical.hpp"

namespace tutti {

namespace {

/// Reads the rules of a text that rank 0 made of some; none if it is empty. Returns an MPI error
/// code: ranks may have other versions of the library.
int read_rules(const std::string& text, Rules& rules) {
  if (text.empty()) return MPI_SUCCESS;
  Result<Rules> read = rules_from_text(text, "");
  if (!read) return MPI_ERR_INTERN;
  rules = std::move(*read);
  return MPI_SUCCESS;
}

/// Once nodes are open, counts a call unless the one who runs it does.
class CountedCall {
 public:
  CountedCall(Communicator& communicator, const HierarchicalNodes& nodes)
      : communicator_(communicator), nodes_(nodes) {}
  ~CountedCall() {
    if (!is_passed_on && nodes_.are_open()) communicator_.hierarchical().skip();
  }
  CountedCall(const CountedCall&) = delete;
  CountedCall& operator=(const CountedCall&) = delete;
  bool is_passed_on = false;

 private:
  Communicator& communicator_;
  const HierarchicalNodes& nodes_;
};

}  // namespace

int Selections::open(const std::string& requested, const std::string& rules,
                     const std::string& kept) {
  std::istringstream lines(requested);
  std::string line;
  for (const Collective collective : all_collectives) {
    if (std::getline(lines, line)) settings_[collective] = *setting(collective, line);
  }
  Rules known;
  if (const int error = read_rules(kept, known)) return error;
  tuned.start_from(std::move(known));
  Rules in_force;
  if (const int error = read_rules(rules, in_force)) return error;
  return rules_.open(std::move(in_force));
}

const Decision& Selections::decide(Collective collective, const OperationTraits& operation) {
  Decision& decision = decisions_[collective][operation.commutative][operation.whole];
  const unsigned epoch = times_overruled(collective);
  if (decision.epoch == epoch) return decision;
  decision = make(collective, operation);
  decision.epoch = epoch;
  return decision;
}

Decision Selections::make(Collective collective, const OperationTraits& operation) {
  const Setting setting = overrule_of(collective).value_or(settings_[collective]);
  Features features = nodes.features(collective);
  features.reproducible = communicator_.is_reproducible();
  features.commutative = operation.commutative;
  features.whole = operation.whole;
  const bool is_fixed = reduces(collective) && features.reproducible;
  const bool is_automatic = setting.kind == Setting::Kind::automatic;
  const bool may_use_rules = is_automatic && !is_fixed;
  Decision decision;
  if (may_use_rules && rules_.decide(features, setting, decision)) return decision;
  const Choice choice = choose(setting, features, communicator_.machine());
  decision.specification = choice.specification;
  decision.text =
      (choice.specification ? to_text(*choice.specification) : "native") + ": " + choice.reason;
  decision.is_automatic = is_automatic;
  decision.needs_commutativity = may_use_rules && rules_.depend_on_operation(collective);
  // Hierarchical reductions cut vectors and combine them by the ranks' locations.
  const bool stays_flat = is_fixed || (reduces(collective) && operation.whole);
  if (setting.asks_for_hierarchical() && !stays_flat) {
    decision.level = *setting.level;
    const bool is_native = !decision.specification;
    decision.text =
        is_native && setting.kind == Setting::Kind::forced
            ? to_text(Setting{Setting::Kind::native, {}, setting.level}) + ": " + choice.reason
            : to_text(setting) + ": requested";
    if (decision.level.leaders == 0) RuleSelection::defer_leaders(decision, collective);
  } else if (setting.asks_for_hierarchical() && operation.whole) {
    decision.text +=
        "; runs flat because a hierarchical call would split the vectors of a user-defined "
        "operation";
  } else if (setting.asks_for_hierarchical() && setting.kind == Setting::Kind::native) {
    decision.text += "; runs flat because results must be reproducible";
  }
  const bool is_open = is_automatic || !setting.level;
  const bool may_explore = !stays_flat && !is_one_sided(collective) && communicator_.p() > 1 &&
                           communicator_.agreement().settings.explore > 0;
  if (is_open && !decision.specification && may_explore) {
    decision.is_tuned = true;
    decision.is_flat = setting.level.has_value();
  }
  return decision;
}

const Decision& Selections::resolved(const Decision& decision, MpiCall& call,
                                     const Profile& profile, int& error) {
  error = MPI_SUCCESS;
  if (decision.level.hierarchical) {
    const Decision& asked = with_several_ranks(decision, error);
    if (error != MPI_SUCCESS || &asked != &decision) return asked;
  }
  if (!decision.is_deferred()) return decision;
  if (decision.is_tuned) {
    communicator_.stop_passing(call.collective);
    if (tuned.stays_native(decision, call.collective, profile)) return decision;
  }
  // Two captured addresses fit into the function object, so that this allocates nothing.
  const BlockOfCall block{common_block(call, communicator_),
                          [&call, this] { return block_bytes(call, communicator_); },
                          decision.is_tuned && may_explore(call, decision, communicator_)};
  CountedCall counted(communicator_, nodes);
  const Decision& selected = decision.is_tuned
                                 ? tuned.resolve(decision, call.collective, block, error)
                                 : rules_.resolve(*decision.table, block, error);
  counted.is_passed_on = error == MPI_SUCCESS && selected.level.hierarchical;
  communicator_.count(call, selected);
  return selected;
}

/// `asked`, which is hierarchical; if each node has one rank, its flat form. Collective at the
/// first call.
const Decision& Selections::with_several_ranks(const Decision& asked, int& error) {
  error = communicator_.open_hierarchical();
  const bool is_open = error == MPI_SUCCESS;
  if (!is_open || communicator_.hierarchical().node().nodes().most() > 1) return asked;
  Decision& flat = flat_[&asked];
  if (flat.epoch != asked.epoch) {
    flat = asked;
    flat.level = {};
    flat.table = nullptr;
    flat.text += "; runs flat because every node has a single rank";
  }
  return flat;
}

void Selections::record_candidates() {
  if (!communicator_.is_reported() || communicator_.rank() != 0) return;
  if (std::exchange(has_recorded_candidates_, true)) return;
  attempt([&] {
    tuned.record_candidates();
    rules_.record_candidates();
  });
}

}  // namespace tutti
