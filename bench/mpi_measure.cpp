/// Interleaved, checked and timed calls.
#include "bench/mpi_measure.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>

#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

std::string collective_name(const Contender& contender) {
  return std::string(tutti::name_of(contender.workload->collective()));
}

/// One rank's arrival and exit in each repetition.
using OwnTimes = std::vector<std::array<double, 2>>;

void sleep(double seconds) {
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Whether ranks give progress hints: they compute before calls, and the options ask for hints.
bool gives_hints(const Options& options) { return options.edge > 0 && computes(options); }

/// The number of a repetition's first call; `repetition` is negative while it is not timed.
std::uint64_t first_call(int repetition, const Options& options) {
  return static_cast<std::uint64_t>(repetition + options.warmup) *
         static_cast<std::uint64_t>(options.calls);
}

/// Whether Tutti selects the algorithm, flat or hierarchical, by times of the calls.
bool learns(const Contender& contender) {
  return contender.specification.find("auto") != std::string::npos;
}

/// Sleeps as long as this rank computes before a call, and gives the progress hint if Tutti runs
/// the call.
void compute(const Bench& bench, const Contender& contender, std::uint64_t call) {
  const Options& options = bench.options;
  const double seconds =
      options.compute + options.delays.of(bench.job.rank(), bench.job.p(), call, options.seed);
  const double before_hint = seconds * options.edge / 100;
  sleep(before_hint);
  if (!contender.specification.empty() && gives_hints(options)) TUTTI_Arrival_edge(MPI_COMM_WORLD);
  sleep(seconds - before_hint);
}

void fail_on(int code, const Bench& bench, const Contender& contender) {
  if (code != MPI_SUCCESS) {
    bench.job.fail(contender.name + ": MPI error code " + std::to_string(code));
  }
}

/// Makes the algorithm of a contender that of its collective, unless it is.
void select(const Bench& bench, const Contender& contender) {
  std::string& now = bench.selected[contender.workload->collective()];
  if (contender.specification.empty() || contender.specification == now) return;
  const Result<bool> set = set_algorithm(contender.workload->collective(), contender.specification);
  if (!set) bench.job.fail(set.error());
  now = contender.specification;
}

void prepare(const Bench& bench, const Contender& contender, std::uint32_t number) {
  if (bench.options.check) contender.workload->prepare(number);
}

/// The number of the last data of a repetition whose calls have their own.
std::uint32_t last_of(const Bench& bench, std::uint32_t data) {
  return data + static_cast<std::uint32_t>(bench.options.calls) - 1;
}

void check(const Bench& bench, const Contender& contender, std::uint32_t number) {
  if (!bench.options.check) return;
  if (const auto wrong = contender.workload->check(number)) {
    bench.job.fail("wrong data from " + collective_name(contender) + " by " + contender.name +
                   ", call " + std::to_string(number) + ": " + to_text(*wrong));
  }
}

/// Sleeps after a call, once all ranks have left it.
void rest(const Bench& bench) {
  if (bench.options.rest <= 0) return;
  bench.job.barrier(Patience::sleep);
  sleep(bench.options.rest);
}

/// Makes an untimed call, which is full or has no data. A persistent one is always full.
int call_untimed(const Contender& contender, bool whole) {
  if (contender.start) {
    const int code = contender.start();
    return code == MPI_SUCCESS ? contender.call() : code;
  }
  return whole ? contender.call() : contender.workload->prime(contender.functions);
}

/// Makes the calls of a repetition, whose numbers begin with `first`; returns arrival and exit. All
/// have the data of number `data`. With `has_own_data` each has the data of the next number, and
/// what all but the last one have received is checked: not in timed calls, where ranks would wait
/// for those that check.
std::array<double, 2> call_timed(const Bench& bench, const Contender& contender,
                                 std::uint64_t first, std::uint32_t data, bool has_own_data) {
  const auto calls = static_cast<std::uint32_t>(bench.options.calls);
  double in_calls = 0;
  double exit = 0;
  for (std::uint32_t call = 0; call < calls; ++call) {
    if (call > 0 && has_own_data) {
      check(bench, contender, data + call - 1);
      prepare(bench, contender, data + call);
    }
    int code = contender.start ? contender.start() : MPI_SUCCESS;
    compute(bench, contender, first + call);
    const double begin = bench.clock.now();
    if (code == MPI_SUCCESS) code = contender.call();
    exit = bench.clock.now();
    in_calls += exit - begin;
    fail_on(code, bench, contender);
  }
  return {exit - in_calls, exit};
}

/// Makes the calls of a repetition, and checks the received data; returns arrival and exit.
/// `whole` is whether the untimed call before them is a full one.
std::array<double, 2> call_checked(const Bench& bench, const Contender& contender,
                                   std::uint32_t data, int repetition, bool whole) {
  select(bench, contender);
  // A new setting makes Tutti select again in the next call, which should not be timed. So every
  // contender first makes an untimed call without data, before the barrier; if ranks compute, after
  // the barrier, because Tutti takes its end as the beginning of the computation. A contender that
  // learns from calls must see only calls of the program, so it makes a full call, or none if ranks
  // compute. A full call warms caches and brings ranks together: all contenders make one if one of
  // them learns or is persistent. They also do, and rest, if ranks rest after each call: else
  // processors that nodes share would still run what the new setting costs.
  const bool primes_late = computes(bench.options);
  if (!primes_late) {
    fail_on(call_untimed(contender, whole), bench, contender);
    rest(bench);
  }
  prepare(bench, contender, data);
  bench.job.barrier();
  if (!contender.start && primes_late && !learns(contender)) {
    contender.workload->prime(contender.functions);
  }
  const bool has_own_data = repetition < 0;
  const auto times =
      call_timed(bench, contender, first_call(repetition, bench.options), data, has_own_data);
  rest(bench);
  check(bench, contender, has_own_data ? last_of(bench, data) : data);
  return times;
}

/// Gathers the times of all ranks at rank 0.
Calls collect(const Bench& bench, const OwnTimes& times) {
  const Job& job = bench.job;
  const auto repetitions = times.size();
  const auto p = static_cast<std::size_t>(job.p());
  OwnTimes all(job.rank() == 0 ? p * repetitions : 0);
  const int doubles = static_cast<int>(2 * repetitions);
  native_functions().Gather(times.data(), doubles, MPI_DOUBLE, all.data(), doubles, MPI_DOUBLE, 0,
                            job.control());
  Calls calls{job.p(), static_cast<int>(repetitions), bench.options.calls, {}, {}, ""};
  for (const auto& [arrival, exit] : all) {
    calls.arrivals.push_back(arrival);
    calls.exits.push_back(exit);
  }
  return calls;
}

std::string what_ran(const Contender& contender) {
  if (contender.specification.empty()) return "";
  if (contender.start && contender.specification != "auto") {
    return contender.specification + ": requested";
  }
  std::array<char, 512> text{};
  int length = static_cast<int>(text.size());
  TUTTI_Algorithm_last(MPI_COMM_WORLD, collective_name(contender).c_str(), text.data(), &length);
  return text.data();
}

/// Calls `visit` with each rank's time of a repetition.
template <class Visit>
void for_each_rank(const Calls& calls, const std::vector<double>& times, int repetition,
                   Visit visit) {
  for (int rank = 0; rank < calls.p; ++rank) {
    visit(times[static_cast<std::size_t>(rank) * static_cast<std::size_t>(calls.repetitions) +
                static_cast<std::size_t>(repetition)]);
  }
}

struct Range {
  double first = 0;
  double last = 0;
};

Range range_of(const Calls& calls, const std::vector<double>& times, int repetition) {
  Range range{times[static_cast<std::size_t>(repetition)],
              times[static_cast<std::size_t>(repetition)]};
  for_each_rank(calls, times, repetition, [&](double time) {
    range.first = std::min(range.first, time);
    range.last = std::max(range.last, time);
  });
  return range;
}

/// The number of repetitions if each takes `seconds` at rank 0; equal on all ranks.
int repetitions_for(const Bench& bench, double seconds) {
  int repetitions = repetitions_within_budget(bench.options, seconds);
  native_functions().Bcast(&repetitions, 1, MPI_INT, 0, bench.job.control());
  return repetitions;
}

}  // namespace

double Calls::seconds(int repetition) const {
  return (range_of(*this, exits, repetition).last - range_of(*this, arrivals, repetition).first) /
         of_repetition;
}

double Calls::elapsed(int repetition) const {
  double sum = 0;
  for_each_rank(*this, exits, repetition, [&](double time) { sum += time; });
  for_each_rank(*this, arrivals, repetition, [&](double time) { sum -= time; });
  return sum / p / of_repetition;
}

double Calls::spread(int repetition) const {
  const Range range = range_of(*this, arrivals, repetition);
  return (range.last - range.first) / of_repetition;
}

double Calls::after_last_arrival(int repetition) const {
  return seconds(repetition) - spread(repetition);
}

std::vector<double> Calls::arrivals_of(int repetition) const {
  const double first = range_of(*this, arrivals, repetition).first;
  std::vector<double> since_first;
  for_each_rank(*this, arrivals, repetition,
                [&](double time) { since_first.push_back((time - first) / of_repetition); });
  return since_first;
}

void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
}

Result<bool> set_algorithm(Collective collective, const std::string& specification) {
  std::array<char, 1024> message{};
  int length = static_cast<int>(message.size());
  const std::string name(tutti::name_of(collective));
  const int code =
      TUTTI_Algorithm_set(name.c_str(), specification.c_str(), message.data(), &length);
  if (code == MPI_SUCCESS) return true;
  return Error{std::string(message.data())};
}

ProgressHints::ProgressHints(const Options& options) : are_given_(gives_hints(options)) {
  if (are_given_) TUTTI_Arrival_init(MPI_COMM_WORLD, options.edge / 100.0);
}

ProgressHints::~ProgressHints() {
  if (are_given_) TUTTI_Arrival_finalize(MPI_COMM_WORLD);
}

void settle(const Bench& bench, std::span<const Contender> contenders) {
  std::vector<std::size_t> order;
  for (std::size_t index = 0; index < contenders.size(); ++index) {
    if (learns(contenders[index])) order.push_back(index);
  }
  std::mt19937_64 random(bench.options.seed);
  std::uint32_t data = 1;
  for (int call = 0; call < bench.options.settling; ++call) {
    shuffle(order, random);
    for (const std::size_t index : order) {
      const Contender& contender = contenders[index];
      bench.watchdog.enter(contender.name, 0, call - bench.options.settling);
      select(bench, contender);
      prepare(bench, contender, data);
      bench.job.barrier();
      call_timed(bench, contender, first_call(call, bench.options), data, true);
      rest(bench);
      check(bench, contender, last_of(bench, data));
      data = last_of(bench, data) + 1;
    }
  }
}

std::vector<Calls> measure(const Bench& bench, std::span<const Contender> contenders, Bytes block) {
  const int warmup = bench.options.warmup;
  std::vector<OwnTimes> times(contenders.size());
  std::vector<Calls> calls(contenders.size());
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(bench.options.seed);
  std::uint32_t data = 1;
  const bool whole =
      bench.options.rest > 0 || std::ranges::any_of(contenders, [](const Contender& contender) {
        return learns(contender) || contender.start;
      });
  bench.clock.synchronise(bench.job);
  int repetitions = bench.options.repetitions;
  const double began = bench.clock.now();
  for (int repetition = -warmup; repetition < repetitions; ++repetition) {
    if (repetition == std::max(0, 1 - warmup)) {
      repetitions = repetitions_for(bench, (bench.clock.now() - began) / (repetition + warmup));
    }
    shuffle(order, random);
    for (const std::size_t index : order) {
      const Contender& contender = contenders[index];
      bench.watchdog.enter(contender.name, block, repetition);
      const auto time = call_checked(bench, contender, data, repetition, whole);
      data = last_of(bench, data) + 1;
      if (repetition >= 0) times[index].push_back(time);
      if (repetition + 1 == repetitions) calls[index].ran = what_ran(contender);
    }
  }
  const Drift drift = bench.clock.synchronise(bench.job);
  for (std::size_t index = 0; index < contenders.size(); ++index) {
    for (auto& time : times[index]) {
      for (double& now : time) now = drift.corrected(now);
    }
    std::string ran = std::move(calls[index].ran);
    calls[index] = collect(bench, times[index]);
    calls[index].ran = std::move(ran);
  }
  return calls;
}

}  // namespace tutti::bench
