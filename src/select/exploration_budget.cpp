/// The account of one tuner.
#include "select/exploration_budget.hpp"

#include <algorithm>
#include <cmath>

namespace tutti {

namespace {

constexpr double max_calls = 1 << 30;
/// As long as no call's time is known.
constexpr double calls_at_first = 64;
/// What a class may lose of its own time, in budgets: no more than 3 % by default.
constexpr double budgets_of_class = 3;

}  // namespace

void ExplorationBudget::add_agreement(double cost) {
  lost_ += cost;
  expected_cost_ = latest_cost_ > 0 ? std::min(latest_cost_, cost) : cost;
  latest_cost_ = cost;
}

void ExplorationBudget::add_time(std::span<const WindowCall> calls, std::uint64_t unnoted) {
  double all = 0;
  double plain = 0;
  int count = 0;
  for (const WindowCall& call : calls) {
    const auto elapsed = static_cast<double>(call.elapsed);
    all += elapsed;
    if (call.elapsed == 0 || call.is_explored) continue;
    plain += elapsed;
    ++count;
  }
  const double before = mean_call_;
  if (count > 0) mean_call_ = plain / count;
  const auto between = static_cast<double>(unnoted);
  spent_ += all + between * (before > 0 ? std::min(before, mean_call_) : mean_call_);
  add_classes(calls, between + static_cast<double>(calls.size()));
}

/// One window says little about which share of all calls a class has, so it counts for 1/8.
void ExplorationBudget::add_classes(std::span<const WindowCall> calls, double passed) {
  const double weight = std::max(1.0 / 8, 1.0 / ++windows_);
  for (SizeClass size_class = 0; size_class < size_classes; ++size_class) {
    Account& account = accounts_[static_cast<std::size_t>(size_class)];
    double plain = 0;
    int plain_calls = 0;
    int count = 0;
    for (const WindowCall& call : calls) {
      if (call.size_class != size_class) continue;
      ++count;
      if (call.is_explored) continue;
      plain += static_cast<double>(call.elapsed);
      ++plain_calls;
    }
    account.share += weight * (count / static_cast<double>(calls.size()) - account.share);
    const double before = account.mean_call;
    if (plain_calls > 0) account.mean_call = plain / plain_calls;
    const double mean = before > 0 ? std::min(before, account.mean_call) : account.mean_call;
    account.spent += passed * account.share * mean;
  }
}

void ExplorationBudget::add_loss(SizeClass size_class, Nanoseconds loss, bool is_foreseen) {
  const auto exact = static_cast<double>(loss);
  Account& account = accounts_[static_cast<std::size_t>(size_class)];
  (loss > 0 ? lost_ : gained_) += std::abs(exact);
  (loss > 0 ? account.lost : account.gained) += std::abs(exact);
  overdraft_ = is_foreseen ? std::max(overdraft_, exact) : overdraft_ + std::max(0.0, exact);
}

void ExplorationBudget::begin_plan() {
  created_ = awaited_ = planned_ = 0;
  if (!is_in_debt()) overdraft_ = 0;
}

bool ExplorationBudget::can_afford(double cost) {
  const bool can = spare() >= cost;
  if (can) {
    created_ += cost;
  } else {
    await(cost);
  }
  return can;
}

void ExplorationBudget::await(double cost) { awaited_ = std::max(awaited_, planned_ + cost); }

double ExplorationBudget::left_of(SizeClass size_class) const {
  const Account& own = account(size_class);
  return budgets_of_class * fraction_ * own.spent + own.gained - own.lost;
}

std::uint64_t ExplorationBudget::calls_for(double cost) const {
  if (cost <= 0) return 0;
  const double calls = mean_call_ > 0 ? std::ceil(cost / (fraction_ * mean_call_)) : calls_at_first;
  return static_cast<std::uint64_t>(std::min(calls, max_calls));
}

}  // namespace tutti
