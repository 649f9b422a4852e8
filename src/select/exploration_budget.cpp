/// The account of one tuner.
#include "select/exploration_budget.hpp"

#include <algorithm>
#include <cmath>

namespace tutti {

namespace {

constexpr double max_calls = 1 << 30;
/// As long as no call's time is known.
constexpr double calls_at_first = 64;
/// What a class may lose of its own time, in budgets: no more than 4 % by default.
constexpr double budgets_of_class = 4;

/// Updates the mean time of the calls that count and explored nothing. Returns the smaller one of
/// this and the mean before.
template <class Account, class Counts, class Time>
double usual_call(Account& account, std::span<const WindowCall> calls, Counts counts,
                  Time time_of) {
  double sum = 0;
  int plain = 0;
  for (const WindowCall& call : calls) {
    if (call.is_explored || !counts(call)) continue;
    sum += static_cast<double>(time_of(call));
    ++plain;
  }
  const double before = account.mean_call;
  if (plain > 0) account.mean_call = sum / plain;
  return before > 0 ? std::min(before, account.mean_call) : account.mean_call;
}

}  // namespace

void ExplorationBudget::add_agreement(double cost) {
  whole_.add(cost);
  if (created_ > 0 && latest_cost_ > 0) return;  // what was created is not going to be needed again
  expected_cost_ = latest_cost_ > 0 ? std::min(latest_cost_, cost) : cost;
  latest_cost_ = cost;
}

/// One window says little about which share of all calls a class has, so it counts for 1/8.
void ExplorationBudget::add_time(std::span<const WindowCall> calls, std::uint64_t unnoted) {
  const auto noted = static_cast<double>(calls.size());
  const auto between = static_cast<double>(unnoted);
  double elapsed = 0;
  for (const WindowCall& call : calls) elapsed += static_cast<double>(call.elapsed);
  const auto is_noted = [](const WindowCall& call) { return call.elapsed != 0; };
  const auto whole_time = [](const WindowCall& call) { return call.elapsed; };
  const auto compared_time = [](const WindowCall& call) { return call.times.after_last; };
  whole_.spent += elapsed + between * usual_call(whole_, calls, is_noted, whole_time);
  const double weight = std::max(1.0 / 8, 1.0 / ++windows_);
  for (SizeClass size_class = 0; size_class < size_classes; ++size_class) {
    const auto is_of = [size_class](const WindowCall& call) {
      return call.size_class == size_class;
    };
    Account& account = accounts_[index(size_class)];
    const auto count = static_cast<double>(std::ranges::count_if(calls, is_of));
    account.share += weight * (count / noted - account.share);
    account.spent +=
        (between + noted) * account.share * usual_call(account, calls, is_of, compared_time);
  }
}

void ExplorationBudget::add_loss(SizeClass size_class, const CallLoss& loss, bool is_foreseen) {
  const auto exact = static_cast<double>(loss.beyond_mean);
  whole_.add(exact);
  accounts_[index(size_class)].add(static_cast<double>(loss.beyond_median));
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
  return account(size_class).left(budgets_of_class * fraction_);
}

std::uint64_t ExplorationBudget::calls_for(double cost) const {
  if (cost <= 0) return 0;
  const double mean = whole_.mean_call;
  const double calls = mean > 0 ? std::ceil(cost / (fraction_ * mean)) : calls_at_first;
  return static_cast<std::uint64_t>(std::min(calls, max_calls));
}

}  // namespace tutti
