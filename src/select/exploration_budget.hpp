/// What exploring has cost in one collective, and what it may still cost.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include "core/types.hpp"
#include "select/call_samples.hpp"

namespace tutti {

/// A call of a window, alike on all ranks.
struct WindowCall {
  std::optional<SizeClass> size_class;  ///< none: not compared
  /// In the mean over the ranks; where they may wait for nobody, of the longest and this one. 0:
  /// some rank has not noted it.
  Nanoseconds elapsed = 0;
  bool is_explored = false;
  Bytes bytes = 0;          ///< of all ranks
  SampledTimes times = {};  ///< unless some rank has not noted it
};

/// The account of one tuner, in nanoseconds and alike on all ranks.
///
/// Loss is what explored calls, agreements and inspecting noted calls have cost. It is paid by a
/// fraction of the time spent in the collective and by what explored calls gained. What is new or
/// not paid may lose more than the budget holds, which is an overdraft until the budget has
/// recovered. The account of all counts elapsed time, those of classes the time of the criterion,
/// so that waiting for late ranks pays for nothing there. All functions take O(1), but add_time(),
/// which takes O(size classes * calls of the window).
class ExplorationBudget {
 public:
  /// `fraction` of the time spent, above 0.
  explicit ExplorationBudget(double fraction) : fraction_(fraction) {}

  /// Adds the cost of an agreement and of the window before it. One that creates nothing is
  /// expected to cost the lesser of the latest two.
  void add_agreement(double cost);
  /// Adds the cost of an agreement that created a clock. Of this, as much as a call takes in the
  /// mean need not be paid.
  void add_clock(double cost) {
    whole_.add(cost);
    advanced_ += std::min(cost, mean_call());
  }
  /// Adds the time of a window of at least 1 call, and of the calls that nobody noted since the
  /// window before: these count with the smaller mean of the windows around them.
  void add_time(std::span<const WindowCall> calls, std::uint64_t unnoted);
  /// Adds what a call lost: beyond the mean of the MPI's own as a whole, and beyond its median in
  /// the account of the class, whose usual call is to take no longer. `is_foreseen`: it was
  /// expected to, and paid.
  void add_loss(SizeClass size_class, const CallLoss& loss, bool is_foreseen);

  /// Does the class's own time pay for what comparing what is selected with the MPI's own has taken
  /// so far?
  [[nodiscard]] bool may_compare(SizeClass size_class) const {
    return fraction_ * account(size_class).spent >= account(size_class).compared;
  }
  /// Adds what such calls are expected to take beyond what is selected. It is no loss.
  void add_comparison(SizeClass size_class, Nanoseconds time) {
    accounts_[index(size_class)].compared += static_cast<double>(time);
  }

  /// Begins to plan the next window: nothing is created, awaited or planned. Out of debt, nothing
  /// is overdrawn.
  void begin_plan();
  /// Counts what the next window is expected to lose.
  void plan(Nanoseconds loss) { planned_ += static_cast<double>(loss); }
  /// Does it hold `cost` beside what this agreement has created and the next agreements? If so, it
  /// is counted as created, else as awaited.
  bool can_afford(double cost);
  /// Something waits until the budget holds `cost` beside what is planned.
  void await(double cost);
  /// What is overdrawn is counted anew: it was paid, or another call is going to overdraw.
  void forget_overdraft() { overdraft_ = 0; }

  /// What the next window may lose.
  [[nodiscard]] double spare() const { return left() - agreements() - created_ - planned_; }
  /// What the class's own time and its gains hold beside its losses.
  [[nodiscard]] double left_of(SizeClass size_class) const;
  /// Does it hold less than the next agreements cost?
  [[nodiscard]] bool is_in_debt() const { return left() < agreements(); }
  /// What has to be paid before the next window may begin.
  [[nodiscard]] double debt() const { return agreements() + created_ - left(); }
  /// The most that waits for the budget.
  [[nodiscard]] double awaited() const { return awaited_; }
  [[nodiscard]] double overdraft() const { return overdraft_; }
  /// The agreement that ends now, which has not been charged, and that of the next window.
  [[nodiscard]] double agreements() const { return 2 * expected_cost_; }
  /// The calls whose share of time pays for `cost`.
  [[nodiscard]] std::uint64_t calls_for(double cost) const;
  /// The mean time of the latest calls that explored nothing, of all classes.
  [[nodiscard]] double mean_call() const { return whole_.mean_call; }
  /// The mean time of the latest calls of the class that explored nothing.
  [[nodiscard]] double mean_call_of(SizeClass size_class) const {
    return account(size_class).mean_call;
  }
  /// Time lost so far, without gains, and time spent in the collective.
  [[nodiscard]] double lost() const { return whole_.lost; }
  [[nodiscard]] double spent() const { return whole_.spent; }

 private:
  struct Account {
    double share = 0;      ///< of all calls
    double mean_call = 0;  ///< that explored nothing, in the latest window that held any
    double spent = 0;
    double lost = 0;  ///< by explored calls; as a whole by all that counts
    double gained = 0;
    double compared = 0;  ///< with the MPI's own: what this took beyond what is selected

    void add(double loss) { (loss > 0 ? lost : gained) += std::abs(loss); }
    [[nodiscard]] double left(double fraction) const { return fraction * spent + gained - lost; }
  };
  [[nodiscard]] const Account& account(SizeClass size_class) const {
    return accounts_[index(size_class)];
  }
  [[nodiscard]] double left() const { return whole_.left(fraction_) + advanced_; }

  double fraction_;
  Account whole_;  ///< of all classes, and of calls without one
  std::array<Account, size_classes> accounts_{};
  int windows_ = 0;
  double advanced_ = 0;       ///< lost, but need not be paid
  double latest_cost_ = 0;    ///< of the agreement before the last one
  double expected_cost_ = 0;  ///< of an agreement that creates nothing
  double created_ = 0;        ///< in the last agreement, as expected
  double awaited_ = 0;
  double planned_ = 0;  ///< what the next window is expected to lose, if it is paid
  /// What the latest calls that were new or not paid lost, or one that lost more than all these.
  double overdraft_ = 0;
};

}  // namespace tutti
