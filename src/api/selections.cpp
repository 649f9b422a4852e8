/// Decides by settings and rules, and resolves what depends on more than a collective.
#include "api/selections.hpp"

#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>

#include "api/call.hpp"
#include "run/mpi/owned_comm.hpp"

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

/// Once nodes are open, counts a call at its end, unless it runs through node memory.
class CountedCall : NotCopied {
 public:
  explicit CountedCall(Communicator& communicator) : communicator_(communicator) {}
  ~CountedCall() {
    const bool counts = !is_hierarchical && communicator_.selections().nodes.are_open();
    if (counts) communicator_.hierarchical().skip();
  }
  bool is_hierarchical = false;  ///< it counts itself

 private:
  Communicator& communicator_;
};

/// That of a call whose ranks all know all blocks. O(p).
std::int64_t irregularity_of_call(const MpiCall& call, int p) {
  // Counts of a type without data may differ between ranks, where the MPI permits that.
  MPI_Count size = 0;
  if (mpi().Type_size_x(call.receive.type, &size) != MPI_SUCCESS || size == 0) return 1;
  const RankBlocks& blocks = call.receive.blocks;
  MPI_Count largest = 0;
  for (Rank rank = 0; rank < p; ++rank) largest = std::max(largest, blocks.count(rank));
  return irregularity_of(largest, blocks.total(p), p);
}

}  // namespace

int Selections::open(const std::string& requested, const std::string& rules,
                     const std::string& kept) {
  std::istringstream lines(requested);
  std::string line;
  for (const Collective collective : all_collectives) {
    if (!std::getline(lines, line)) break;
    const Result<Setting> read = setting(collective, line);
    if (!read) return MPI_ERR_INTERN;  // ranks may have other versions of the library
    settings_[collective] = *read;
  }
  Rules known;
  if (const int error = read_rules(kept, known)) return error;
  tuned.start_from(std::move(known));
  if (const int error = read_rules(rules, rules_)) return error;
  return std::ranges::any_of(rules_.all, &Rule::needs_nodes) ? nodes.guess() : MPI_SUCCESS;
}

const Decision& Selections::decide(Collective collective, bool commutative, bool whole) {
  Decision& decision = decisions_[collective][commutative][whole];
  const unsigned epoch = times_overruled(collective);
  if (decision.epoch == epoch) return decision;
  decision = make(collective, commutative, whole);
  decision.epoch = epoch;
  return decision;
}

const Decision& Selections::decide(MpiCall& call, int& error) {
  error = MPI_SUCCESS;
  const Decision& usual = decide(call.collective);
  if (!reduces(call.collective)) return usual;
  // All calls count for the tuner, so that a rank with an invalid operation stays in step.
  const bool is_final = usual.is_native() && usual.table == nullptr;
  if (is_final && !usual.needs_commutativity) return usual;
  const Decision& decided = decide_operation(usual, call, error);
  // A rank with invalid arguments may decide otherwise; later calls are to have equal tags.
  if (error == MPI_SUCCESS && !decided.is_deferred()) communicator_.count(call, decided);
  return decided;
}

/// Another decision than the usual one if that does not suit operations that do not commute, or
/// the program's own. Collective.
const Decision& Selections::decide_operation(const Decision& usual, MpiCall& call, int& error) {
  const bool whole = communicator_.takes_whole(call.op);
  const bool commutes_only = usual.specification && usual.specification->algorithm->commutative;
  if (!commutes_only && !usual.needs_commutativity) {
    return whole ? decide(call.collective, true, whole) : usual;
  }
  if (usual.needs_commutativity) {
    bool is_ready = false;
    error = nodes.open_flat(is_ready);
    if (error != MPI_SUCCESS) return usual;
    // Without a communicator no rank may ask the MPI. Its own operations commute.
    if (!is_ready) return is_programs_own(call.op) ? decide(call.collective, false, whole) : usual;
  }
  error = communicator_.open_private();
  if (error != MPI_SUCCESS) return usual;
  // MPI_Op_commutative would end the program on an invalid handle.
  const bool known =
      looks_valid(call, communicator_) && communicator_.private_comm().learn_types(call);
  const bool commutative = !known || commutes(call.op);
  return commutative && !whole ? usual : decide(call.collective, commutative, whole);
}

Decision Selections::make(Collective collective, bool commutative, bool whole) {
  const Setting setting = overrule_of(collective).value_or(settings_[collective]);
  // What is requested runs without them as well as it can.
  const bool is_requested = setting.kind != Setting::Kind::automatic;
  Features features = nodes.features(collective);
  features.reproducible = communicator_.is_reproducible();
  features.commutative = commutative;
  features.whole = whole;
  features.has_distances = is_requested || communicator_.agreed().had_distances;
  features.has_background = is_requested || communicator_.wants_background();
  Decision decision = decision_for(setting, rules_, features, communicator_.machine(),
                                   std::bind_front(&Selections::add_case, this));
  decision.is_tuned = decision.is_tuned && communicator_.agreed().settings.explore > 0;
  return decision;
}

CallSize Selections::size_of(const Decision& decision, const MpiCall& call, bool needs_own) const {
  const bool has_own = needs_own && !is_block_common(call.collective);
  return {common_block(call, communicator_), has_own ? block_bytes(call, communicator_) : 0,
          decision.is_tuned && may_explore(call, decision, communicator_)};
}

bool Selections::may_pass(const Decision& usual, Collective collective, const CallSize& size,
                          unsigned later) const {
  if (usual.is_tuned) return tuned.runs_native_later(later, collective, size);
  return usual.table->runs_native(size.block.value_or(0));
}

const std::string& Selections::text_of(Collective collective, const CallSize& size) {
  const Decision& usual = decisions_[collective][1][0];
  if (usual.is_tuned) return tuned.text_of(collective, size);
  const SizeTable& table = *usual.table;
  const std::int64_t irregularity = table.spans[table.latest].irregularity;
  const std::size_t at = size.block ? table.find(*size.block, irregularity) : table.latest;
  return table.spans[at].decision.text;
}

const Decision& Selections::resolved(const Decision& decision, MpiCall& call,
                                     const Profile& profile, int& error) {
  error = MPI_SUCCESS;
  if (decision.level.hierarchical) {
    const Decision& asked = with_several_ranks(decision, error);
    if (error != MPI_SUCCESS) return asked;
    if (&asked != &decision) {
      communicator_.count(call, asked);
      return asked;
    }
  }
  if (!decision.is_deferred()) return decision;
  if (decision.is_tuned) {
    communicator_.stop_passing(call.collective);
    if (tuned.stays_native(decision, call.collective, profile)) return decision;
  }
  const bool needs_own = decision.is_tuned && tuned.may_note(call.collective);
  const CallSize size = size_of(decision, call, needs_own);
  CountedCall counted(communicator_);
  const Decision& selected = decision.is_tuned
                                 ? tuned.resolve(decision, call.collective, size, error)
                                 : look_up(*decision.table, call, size, error);
  counted.is_hierarchical = error == MPI_SUCCESS && selected.level.hierarchical;
  communicator_.count(call, selected);
  return selected;
}

/// `asked`, which is hierarchical; if each node has one rank, its flat form. Collective at the
/// first call.
const Decision& Selections::with_several_ranks(const Decision& asked, int& error) {
  error = communicator_.open_hierarchical();
  if (error != MPI_SUCCESS) return asked;
  return communicator_.hierarchical().node().nodes().most() > 1 ? asked : *asked.if_flat;
}

const Decision& Selections::look_up(SizeTable& table, const MpiCall& call, const CallSize& size,
                                    int& error) {
  error = prepare(table, call.collective);
  const bool needs_irregularity =
      size.block && table.spans.front().irregularity != NumberRange::inf;
  const std::size_t own = table.index_of(
      size.block, needs_irregularity ? irregularity_of_call(call, communicator_.p()) : 1);
  auto index = static_cast<int>(own);
  if (error == MPI_SUCCESS && nodes.are_open()) {
    error = communicator_.hierarchical().broadcast_selection(
        size.block.has_value() || table.spans.size() == 1, index);
  }
  return table.spans[index < 0 ? table.native_or(own) : static_cast<std::size_t>(index)].decision;
}

int Selections::prepare(SizeTable& table, Collective collective) {
  if (table.is_ready) return MPI_SUCCESS;
  for (SizeTable::Span& span : table.spans) {
    if (const int error = open_for(collective, span.decision)) return error;
  }
  table.is_ready = true;
  return MPI_SUCCESS;
}

/// Creates what a decision needs; if some rank cannot, makes it native.
int Selections::open_for(Collective collective, Decision& decision) {
  if (decision.is_native()) return MPI_SUCCESS;
  const QuietErrors quiet(communicator_.handle());
  if (decision.level.hierarchical) {
    if (const int error = nodes.guess()) return error;
    decision.level.leaders = std::min(decision.level.leaders, nodes.guessed().most());
  }
  if (decision.level.hierarchical && nodes.guessed().most() == 1) {
    decision = decision.flattened();
    if (decision.is_native()) return MPI_SUCCESS;
  }
  bool is_ready = false;
  if (const int error = nodes.open_for(collective, 0, decision.level, is_ready)) return error;
  if (is_ready) return MPI_SUCCESS;
  decision.text = decision.level.hierarchical
                      ? "native: rules: node memory or its communicators cannot be opened"
                      : "native: rules: no communicator is left for Tutti";
  decision.specification.reset();
  decision.level = {};
  decision.measured = {};
  return MPI_SUCCESS;
}

}  // namespace tutti
