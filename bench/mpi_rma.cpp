/// Measures one-sided collectives, which only the root calls.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <thread>

#include "algorithms/problems.hpp"
#include "bench/mpi_commands.hpp"
#include "bench/mpi_functions.hpp"
#include "bench/payload.hpp"
#include "bench/statistics.hpp"
#include "cost/simulate.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

constexpr std::chrono::microseconds nap{20};  // between looks for data

/// A window for the largest block, and the number of the root's operations on it.
class Windows : NotCopied {
 public:
  /// `most`: the largest total of the root.
  Windows(const Bench& bench, Rank root, Bytes most)
      : bench_(bench),
        root_(root),
        collective_(*collective_of(bench.options.command)),
        data_(static_cast<std::size_t>(std::max<Bytes>(most, 8 * blocks()))) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    const MPI_Aint bytes = std::max<MPI_Aint>((most / blocks() + 4095) / 4096 * 4096, 4096);
    is_allocated_ = succeeds("MPI_Win_allocate",
                             MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm_, &base_, &handle_));
    if (!is_allocated_) return;
    request_windows();
    is_open_ = succeeds("TUTTI_Rma_init", TUTTI_Rma_init(comm_));
    if (!is_open_) return;
    succeeds("TUTTI_Rma_window_register", TUTTI_Rma_window_register(handle_, comm_, &window_));
  }
  ~Windows() {
    if (is_open_) TUTTI_Rma_finalize(comm_);
    if (is_allocated_) MPI_Win_free(&handle_);
    MPI_Comm_free(&comm_);
  }

  /// Why there is no registered window on all ranks; empty if there is.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// The number of blocks in the root's buffer.
  [[nodiscard]] int blocks() const {
    return block_kind(collective_) == BlockKind::ranks ? bench_.job.p() : 1;
  }

  /// Seconds from the common start until the last rank has the data, which each rank checks.
  double time(const std::string& algorithm, Bytes bytes) {
    fill(bytes);
    bench_.job.barrier();
    const double begin = bench_.clock.now();
    if (algorithm == "native") {
      native(static_cast<int>(bytes));
    } else {
      one_sided(bytes);
    }
    const double end = bench_.clock.now();
    if (const auto wrong = check(bytes)) {
      bench_.job.fail(algorithm + ": received wrong data: " + to_text(*wrong));
    }
    return last_of(end) - first_of(begin);
  }

 private:
  /// Did the function return no error on any rank? Collective.
  bool succeeds(const std::string& function, int error) {
    problem_ = bench_.job.first_problem(
        error == MPI_SUCCESS ? ""
                             : function + " failed with MPI error code " + std::to_string(error));
    return problem_.empty();
  }
  /// Notifications in windows must be requested before the start.
  void request_windows() {
    for (const std::string& name : bench_.options.algorithms) {
      if (name.find("protocol=windows") == std::string::npos) continue;
      const auto set = set_algorithm(collective_, name);
      if (!set) bench_.job.fail(set.error());
    }
  }
  [[nodiscard]] std::span<std::byte> block(int number, Bytes bytes) {
    return {data_.data() + number * bytes, static_cast<std::size_t>(bytes)};
  }
  [[nodiscard]] std::span<std::byte> window(Bytes bytes) {
    return {base_, static_cast<std::size_t>(bytes)};
  }
  /// The identity of the block in this rank's window.
  [[nodiscard]] Rank own_mark() const {
    return collective_ == Collective::rma_bcast ? 0 : bench_.job.rank();
  }
  void fill(Bytes bytes) {
    ++number_;
    if (flows_to_root(collective_)) {
      bench::fill(window(bytes), own_mark(), number_);
    } else if (bench_.job.rank() == root_) {
      for (int i = 0; i < blocks(); ++i) bench::fill(block(i, bytes), i, number_);
    }
  }
  /// The first wrong byte that this rank has received.
  [[nodiscard]] std::optional<Mismatch> check(Bytes bytes) {
    const bool collects = flows_to_root(collective_);
    if ((bench_.job.rank() == root_) != collects) return std::nullopt;
    if (!collects) return bench::check(window(bytes), own_mark(), number_);
    if (reduces(collective_)) {
      return check_combined(block(0, bytes), 0, bench_.job.p(), 0, number_);
    }
    for (int i = 0; i < blocks(); ++i) {
      if (const auto wrong = bench::check(block(i, bytes), i, number_)) return wrong;
    }
    return std::nullopt;
  }
  void native(int bytes) {
    std::byte* data = data_.data();
    switch (collective_) {
      case Collective::rma_scatter:
        native_.Scatter(data, bytes, MPI_BYTE, base_, bytes, MPI_BYTE, root_, MPI_COMM_WORLD);
        break;
      case Collective::rma_gather:
        native_.Gather(base_, bytes, MPI_BYTE, data, bytes, MPI_BYTE, root_, MPI_COMM_WORLD);
        break;
      case Collective::rma_reduce:
        native_.Reduce(base_, data, bytes, MPI_BYTE, MPI_BXOR, root_, MPI_COMM_WORLD);
        break;
      default:
        native_.Bcast(bench_.job.rank() == root_ ? data : base_, bytes, MPI_BYTE, root_,
                      MPI_COMM_WORLD);
    }
  }
  int begin(int bytes, TUTTI_Rma_request* request) {
    std::byte* data = data_.data();
    switch (collective_) {
      case Collective::rma_scatter:
        return TUTTI_Rma_scatter(data, bytes, MPI_BYTE, 0, window_, request);
      case Collective::rma_gather:
        return TUTTI_Rma_gather(data, bytes, MPI_BYTE, 0, window_, request);
      case Collective::rma_reduce:
        return TUTTI_Rma_reduce(data, bytes, MPI_BYTE, MPI_BXOR, 0, window_, request);
      default:
        return TUTTI_Rma_bcast(data, bytes, MPI_BYTE, 0, window_, request);
    }
  }
  void one_sided(Bytes bytes) {
    ++calls_;
    if (bench_.job.rank() == root_) {
      TUTTI_Rma_request request = TUTTI_RMA_REQUEST_NULL;
      int error = begin(static_cast<int>(bytes), &request);
      if (error == MPI_SUCCESS) error = TUTTI_Rma_flush(&request);
      if (error != MPI_SUCCESS)
        bench_.job.fail("MPI error code in the root's call: " + std::to_string(error));
      return;
    }
    for (long long arrived = 0; arrived < calls_; std::this_thread::sleep_for(nap)) {
      TUTTI_Rma_arrived(window_, root_, &arrived);
      if (arrived >= calls_) break;
    }
  }
  [[nodiscard]] double last_of(double time) const {
    double last = 0;
    MPI_Allreduce(&time, &last, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return last;
  }
  [[nodiscard]] double first_of(double time) const {
    double first = 0;
    MPI_Allreduce(&time, &first, 1, MPI_DOUBLE, MPI_MIN, comm_);
    return first;
  }

  const Bench& bench_;
  Rank root_;
  Collective collective_;
  Functions native_ = native_functions();
  std::vector<std::byte> data_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win handle_ = MPI_WIN_NULL;
  TUTTI_Window window_ = TUTTI_WINDOW_NULL;
  std::byte* base_ = nullptr;
  std::uint32_t number_ = 0;  ///< of the call, which tells its data from those before
  long long calls_ = 0;       ///< one-sided ones
  bool is_open_ = false;
  std::string problem_;
  bool is_allocated_ = false;
};

/// The share of a core that the process uses while its program sleeps.
double idle_share(const Bench& bench) {
  constexpr int pieces = 4;
  constexpr std::chrono::milliseconds piece{500};  // shorter than any --timeout
  const auto cpu = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const auto sleep = [&] {
    bench.watchdog.enter("idle", 0, 0);
    std::this_thread::sleep_for(piece);
  };
  sleep();
  const double before = cpu();
  for (int i = 0; i < pieces; ++i) sleep();
  return (cpu() - before) / std::chrono::duration<double>(pieces * piece).count();
}

/// None for `native` and `auto`, which name no algorithm.
std::optional<Predicted> predicted(const Bench& bench, const std::string& name, Rank root,
                                   Bytes bytes, const Machine& machine) {
  const Collective collective = *collective_of(bench.options.command);
  const auto algorithm = specification(collective, name);
  if (!algorithm) return {};
  const Call call{collective, root,
                  std::vector<Bytes>(static_cast<std::size_t>(bench.job.p()), bytes)};
  const std::vector<Schedule> schedules = Problems(*algorithm, call).schedules();
  const auto seconds = [&](PriceModel model) {
    return *price(schedules, machine, model, {}, algorithm->parameters.protocol);
  };
  return Predicted{seconds(PriceModel::logp), seconds(PriceModel::loggp)};
}

/// The times of blocks of `bytes` bytes by each algorithm, which take turns in a random order.
std::vector<std::vector<double>> measured(const Bench& bench, Windows& windows,
                                          const std::vector<std::string>& names, Bytes bytes,
                                          int repetitions) {
  std::vector<std::vector<double>> seconds(names.size());
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(bench.options.seed);  // the same on all ranks
  bench.clock.synchronise(bench.job);
  for (int turn = -bench.options.warmup; turn < repetitions; ++turn) {
    shuffle(order, random);
    for (const std::size_t i : order) {
      bench.watchdog.enter(names[i], bytes, turn);
      if (names[i] != "native") {
        const auto set = set_algorithm(*collective_of(bench.options.command), names[i]);
        if (!set) bench.job.fail(set.error());
      }
      const double time = windows.time(names[i], bytes);
      if (turn >= 0) seconds[i].push_back(time);
    }
  }
  return seconds;
}

/// Measures blocks of `bytes` bytes.
Row measure_row(const Bench& bench, Windows& windows, Rank root, Bytes bytes) {
  const auto& names = bench.options.algorithms;
  const auto seconds = measured(bench, windows, names, bytes, bench.options.repetitions);
  Row row{std::string(name_of(bench.options.command)),
          "same",
          bytes,
          1,
          root,
          bytes * windows.blocks(),
          bytes,
          {}};
  const auto native = std::find(names.begin(), names.end(), "native");
  for (std::size_t i = 0; i < names.size(); ++i) {
    Line line{names[i], "", seconds[i], {}, {}, {}, {}};
    if (native != names.end() && names[i] != "native") {
      const auto at = static_cast<std::size_t>(native - names.begin());
      line.to_native = ratio_of_medians(seconds[i], seconds[at]);
    }
    row.lines.push_back(std::move(line));
  }
  return row;
}

/// The time that a tree level adds for 8 bytes: a chain has p - 2 more than a linear broadcast.
double hierarchical_seconds(const Bench& bench, Windows& windows) {
  auto seconds = measured(bench, windows, {"linear", "chain:parts=1"}, 8,
                          std::max(bench.options.repetitions, 9));
  for (auto& each : seconds) std::sort(each.begin(), each.end());
  return (quantile(seconds[1], 0.5) - quantile(seconds[0], 0.5)) / (bench.job.p() - 2);
}

}  // namespace

Result<bool> run_rma(const Bench& bench, Rank root, const Machine& machine, Report* report) {
  const auto& sizes = bench.options.totals;
  const double before = idle_share(bench);
  bench.watchdog.enter("windows", 0, 0);
  Windows windows(bench, root, *std::max_element(sizes.begin(), sizes.end()));
  if (!windows.problem().empty()) return Error{windows.problem()};
  const double idle = idle_share(bench);
  prctl(PR_SET_TIMERSLACK, 1UL);  // otherwise naps are 50 us longer
  int progresses = 0;
  TUTTI_Rma_progress(windows.comm(), &progresses);
  Machine priced = machine;
  if (progresses == 0) priced.serving = priced.polling;
  for (const Bytes total : sizes) {
    const Bytes bytes = std::max<Bytes>(total / windows.blocks(), 1);
    Row row = measure_row(bench, windows, root, bytes);
    if (report == nullptr) continue;
    for (Line& line : row.lines) {
      line.predicted = predicted(bench, line.name, root, bytes, priced);
    }
    report->add(std::move(row));
  }
  const bool has_hierarchical = bench.options.command == Command::rma_bcast && bench.job.p() > 2;
  const double level = has_hierarchical ? hierarchical_seconds(bench, windows) : 0;
  if (report == nullptr) return true;
  report->note("poll", fmt::format("ranks that receive look for data every {} us", nap.count()));
  if (has_hierarchical) {
    report->note("level", fmt::format("{:.1f} us for each tree level with 8 bytes (median of a "
                                      "chain minus that of linear, over p - 2)",
                                      level * 1e6));
  }
  report->note(
      "idle", fmt::format("{:.2f} % of a core on rank 0 with a window registered, {:.2f} % without",
                          idle * 100, before * 100));
  report->note("puts reach a rank that computes",
               progresses != 0 ? "in the MPI itself" : "in Tutti's thread only");
  return true;
}

}  // namespace tutti::bench
