/// Keeps the settings that overrule the environment's.
#include "api/overrules.hpp"

#include <atomic>
#include <mutex>

#include "api/communicator.hpp"
#include "api/environment.hpp"
#include "run/process.hpp"

namespace tutti {

namespace {

struct Overrules {
  std::mutex mutex;
  PerCollective<std::optional<Setting>> settings;
  PerCollective<std::atomic<unsigned>> epochs{};  ///< see times_overruled
};

}  // namespace

void overrule(Collective collective, const Setting& setting) {
  auto& all = of_process<Overrules>();
  const std::lock_guard lock(all.mutex);
  // An equal setting is no change, which would lose what was learned. Ranks set the same, so
  // they compare alike.
  if (all.settings[collective] == setting) return;
  all.settings[collective] = setting;
  ++all.epochs[collective];
  Communicator::note_change();
}

std::optional<Setting> overrule_of(Collective collective) {
  auto& all = of_process<Overrules>();
  const std::lock_guard lock(all.mutex);
  return all.settings[collective];
}

unsigned times_overruled(Collective collective) {
  return of_process<Overrules>().epochs[collective].load(std::memory_order_acquire);
}

Setting setting_in_force(Collective collective) {
  return overrule_of(collective).value_or(environment().settings[collective]);
}

}  // namespace tutti
