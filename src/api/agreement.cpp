/// The settings that rank 0 of a communicator broadcasts to all of its ranks.
#include "api/communicator.hpp"
#include "api/distance_source.hpp"
#include "api/environment.hpp"
#include "api/kept_rules.hpp"
#include "api/report.hpp"
#include "api/rule_selection.hpp"
#include "api/rule_source.hpp"
#include "api/selections.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/mpi/quirks.hpp"

namespace tutti {

namespace {

/// What rank 0 broadcasts, so that ranks with another environment do not decide otherwise.
struct Agreement {
  std::array<std::array<char, 240>, all_collectives.size()> settings{};
  std::array<char, 240> nodes{};
  Bytes node_memory = 0;
  Bytes staging = 0;
  double explore = 0;
  Machine machine;
  NodeMachine node_machine;
  std::uint64_t id = 0;
  std::uint64_t environment = 0;
  char is_reported = 0;
  char is_refused = 0;
  char wants_background = 0;
  char is_reproducible = 0;
  char splits_user_ops = 0;
  char had_distances = 0;
  std::uint64_t rules_length = 0;  ///< bytes of the text that follows
  std::uint64_t kept_length = 0;   ///< bytes of the text after that
};

/// The agreement by the environment of this process.
Agreement own_agreement() {
  const Environment& all = environment();
  Agreement agreement;
  agreement.machine = all.machine;
  agreement.node_machine = all.node_machine;
  agreement.id = new_communicator_id();
  agreement.is_reported = all.report.empty() ? 0 : 1;
  agreement.wants_background = all.background ? 1 : 0;
  agreement.is_reproducible = all.reproducible ? 1 : 0;
  agreement.splits_user_ops = all.split_user_ops ? 1 : 0;
  const bool are_files_valid = distances_error().empty() && rules_error().empty();
  agreement.is_refused = all.error.empty() && are_files_valid ? 0 : 1;
  agreement.had_distances = known_distances() != nullptr ? 1 : 0;
  for (std::size_t i = 0; i < all.settings.size(); ++i) {
    to_text(all.settings[i]).copy(agreement.settings[i].data(), agreement.settings[i].size() - 1);
  }
  all.nodes.copy(agreement.nodes.data(), agreement.nodes.size() - 1);
  agreement.node_memory = all.node_memory;
  agreement.staging = all.memory;
  agreement.explore = all.explore;
  agreement.environment = report_environment();
  return agreement;
}

/// Sets `agreement` to rank 0's. Collective.
int exchange(MPI_Comm comm, Agreement& agreement) {
  const QuietErrors quiet(comm);
  return mpi().Bcast(&agreement, sizeof agreement, mpi().byte, 0, comm);
}

/// The text of this process's rules for communicators of `p` ranks; empty if there are none.
std::string own_rules(int p) {
  if (p == 1 || known_rules().all.empty()) return "";
  const Rules rules = rules_for(known_rules(), p, mpi_version(library_version()));
  return rules.all.empty() ? "" : to_text(rules);
}

/// Sets `text`, which has the same length on all ranks, to rank 0's. Collective if it is not empty.
int exchange(MPI_Comm comm, std::string& text) {
  if (text.empty()) return MPI_SUCCESS;
  const QuietErrors quiet(comm);
  return mpi().Bcast(text.data(), static_cast<int>(text.size()), mpi().byte, 0, comm);
}

}  // namespace

int Communicator::agree() {
  Agreement agreement = rank_ == 0 ? own_agreement() : Agreement{};
  const std::string rules = rank_ == 0 ? own_rules(p_) : "";
  const std::string kept = rank_ == 0 ? kept_rules(p_) : "";
  agreement.rules_length = rules.size();
  agreement.kept_length = kept.size();
  if (const int error = exchange(comm_, agreement)) return error;
  suppress_environment_report(agreement.environment);
  if (agreement.is_refused != 0) return MPI_ERR_ARG;
  machine_ = agreement.machine;
  node_machine_ = agreement.node_machine;
  id_ = agreement.id;
  is_reported_ = agreement.is_reported != 0;
  node_settings_.memory = agreement.node_memory;
  node_settings_.staging = agreement.staging;
  exploration_budget_ = agreement.explore;
  if (const auto nodes = emulated_nodes(agreement.nodes.data())) node_settings_.emulated = *nodes;
  wants_background_ = agreement.wants_background != 0;
  is_reproducible_ = agreement.is_reproducible != 0;
  splits_user_ops_ = agreement.splits_user_ops != 0;
  had_distances_ = agreement.had_distances != 0;
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    settings_[i] = *setting(all_collectives[i], agreement.settings[i].data());
  }
  std::string texts = rules + kept;
  texts.resize(agreement.rules_length + agreement.kept_length);
  if (const int error = exchange(comm_, texts)) return error;
  if (const int error = selections().tuned.start_from(texts.substr(agreement.rules_length))) {
    return error;
  }
  texts.resize(agreement.rules_length);
  return RuleSelection::open(*this, selections().nodes, texts, rules_);
}

}  // namespace tutti
