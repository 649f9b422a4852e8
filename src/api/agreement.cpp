/// The settings that rank 0 of a communicator broadcasts to all of its ranks.
#include <type_traits>

#include "api/communicator.hpp"
#include "api/known.hpp"
#include "api/report.hpp"
#include "api/selections.hpp"
#include "run/mpi/exchange.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

namespace {

/// What rank 0 broadcasts first, so that ranks with another environment do not decide otherwise.
struct Broadcast {
  AgreedSettings agreement;
  std::uint64_t environment = 0;  ///< see report_environment
  bool is_refused = false;
  std::array<std::size_t, 4> lengths{};  ///< of the texts that follow
};
static_assert(std::is_trivially_copyable_v<Broadcast>);

/// Requested algorithms, one a line; empty if none is. Then emulated nodes, rules and kept rules.
using Texts = std::array<std::string, 4>;

std::string requests() {
  std::string text;
  bool any = false;
  for (const Setting& setting : environment().settings) {
    text += to_text(setting) + "\n";
    any = any || setting.kind != Setting::Kind::automatic || setting.level;
  }
  return any ? text : "";
}

/// This process's rules for communicators of `p` ranks; empty if there are none.
std::string own_rules(int p) {
  if (p == 1 || known_rules().rules.all.empty()) return "";
  Rules rules = rules_for(known_rules().rules, p, platform());
  // Only reports count by these, and to read them takes every communicator as long as all else.
  if (environment().report.empty()) {
    for (Rule& rule : rules.all) rule.evidence.sizes.clear();
  }
  return rules.all.empty() ? "" : to_text(rules);
}

Broadcast own_broadcast(const Texts& texts) {
  const Environment& all = environment();
  const bool are_files_valid = distances_error().empty() && known_rules().error.empty();
  Broadcast own = {{all, new_communicator_id(), !all.report.empty(), known_distances() != nullptr},
                   report_environment(),
                   !all.error.empty() || !are_files_valid,
                   {}};
  for (std::size_t i = 0; i < texts.size(); ++i) own.lengths[i] = texts[i].size();
  return own;
}

}  // namespace

int Communicator::agree() {
  const QuietErrors quiet(comm_);
  Texts texts;
  Broadcast agreed;
  if (rank_ == 0) {
    texts = {requests(), environment().nodes, own_rules(p_), kept_rules(p_)};
    agreed = own_broadcast(texts);
  }
  if (const int error = take_from_first(agreed, comm_)) return error;
  suppress_environment_report(agreed.environment);
  if (agreed.is_refused) return MPI_ERR_ARG;
  agreement_ = agreed.agreement;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i].resize(agreed.lengths[i]);
    const auto length = static_cast<int>(texts[i].size());
    if (length == 0) continue;
    if (const int error = mpi().Bcast(texts[i].data(), length, mpi().byte, 0, comm_)) return error;
  }
  const auto& [requested, nodes, rules, kept] = texts;
  node_settings_.memory = agreement_.settings.node_memory;
  if (!nodes.empty()) {
    const auto read = emulated_nodes(nodes);
    if (!read) return MPI_ERR_INTERN;  // ranks may have other versions of the library
    node_settings_.emulated = *read;
  }
  return selections_->open(requested, rules, kept);
}

}  // namespace tutti
