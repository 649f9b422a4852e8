/// Transports for tests: one delays, reorders and fails like the worst real one.
#pragma once

#include <random>
#include <vector>

#include "run/transport/transport.hpp"

namespace tutti {

/// Forwards to another transport, but reports completions late and in any sequence, and fails on
/// request.
class FaultyTransport final : public Transport {
 public:
  struct Faults {
    unsigned seed = 1;
    double delay = 0.5;  ///< probability that a poll holds back a completion
    int fail_at = -1;    ///< number of the call of begin, poll or copy that fails; -1: none
    int error = 99;      ///< error code of that failure
  };

  FaultyTransport(Transport& inner, const Faults& faults)
      : inner_(inner), faults_(faults), random_(faults.seed * 2654435769U) {}

  int begin(int slot, const Transfer& transfer) override;
  int poll(std::vector<int>& completed) override;
  int copy(const Region& from, const Region& to) override;
  void idle() override { inner_.idle(); }
  void abandon() override;

  /// The number of calls so far, to choose `fail_at`.
  [[nodiscard]] int calls() const { return calls_; }
  [[nodiscard]] bool was_abandoned() const { return abandoned_; }

 private:
  [[nodiscard]] bool fails() { return calls_++ == faults_.fail_at; }

  Transport& inner_;
  Faults faults_;
  std::minstd_rand random_;  ///< soon made; successive seeds need to be spread
  int calls_ = 0;
  bool abandoned_ = false;
  std::vector<int> held_;
};

/// Completes one message in each poll, the last one first.
class LastFirst final : public Transport {
 public:
  int begin(int slot, const Transfer&) override {
    open_.push_back(slot);
    return 0;
  }
  int poll(std::vector<int>& completed) override {
    if (open_.empty()) return 0;
    completed.push_back(open_.back());
    open_.pop_back();
    return 0;
  }
  int copy(const Region&, const Region&) override { return 0; }
  void idle() override {}
  void abandon() override {}

 private:
  std::vector<int> open_;
};

}  // namespace tutti
