/// Measures one-sided collectives, which only the root calls.
#include "bench/mpi_rma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <ctime>
#include <numeric>
#include <random>
#include <thread>

#include "algorithms/problems.hpp"
#include "bench/mpi_functions.hpp"
#include "bench/statistics.hpp"
#include "cost/simulate.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

constexpr std::chrono::microseconds nap{20};

/// A window for the largest block, and the number of the root's operations on it.
class Windows {
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
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm_, &base_, &handle_);
    request_windows();
    error_ = TUTTI_Rma_init(comm_);
    if (error_ == MPI_SUCCESS) error_ = TUTTI_Rma_window_register(handle_, comm_, &window_);
  }
  ~Windows() {
    if (error_ == MPI_SUCCESS) TUTTI_Rma_finalize(comm_);
    MPI_Win_free(&handle_);
    MPI_Comm_free(&comm_);
  }
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;

  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// The number of blocks in the root's buffer.
  [[nodiscard]] int blocks() const {
    return block_kind(collective_) == BlockKind::ranks ? bench_.job.p() : 1;
  }

  /// Seconds from the common start until this rank has the data.
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
    const bool collects = flows_to_root(collective_);
    const char* result = collects ? data_.data() : base_;
    const auto last = static_cast<std::size_t>(bytes * (collects ? blocks() : 1)) - 1;
    const bool receives = (bench_.job.rank() == root_) == collects;
    if (receives && (result[0] != value_ || result[last] != value_)) {
      bench_.job.fail(algorithm + ": received wrong data");
    }
    return last_of(end) - first_of(begin);
  }

 private:
  /// Notifications in windows must be requested before the start.
  void request_windows() {
    for (const std::string& name : bench_.options.algorithms) {
      if (name.find("protocol=windows") == std::string::npos) continue;
      const auto set = set_algorithm(collective_, name);
      if (!set) bench_.job.fail(set.error());
    }
  }
  void fill(Bytes bytes) {
    value_ = static_cast<char>(value_ + 1);
    if (flows_to_root(collective_)) {
      std::memset(base_, value_, static_cast<std::size_t>(bytes));
    } else if (bench_.job.rank() == root_) {
      std::fill(data_.begin(), data_.end(), value_);
    }
  }
  void native(int bytes) {
    char* data = data_.data();
    switch (collective_) {
      case Collective::rma_scatter:
        MPI_Scatter(data, bytes, MPI_BYTE, base_, bytes, MPI_BYTE, root_, MPI_COMM_WORLD);
        break;
      case Collective::rma_gather:
        MPI_Gather(base_, bytes, MPI_BYTE, data, bytes, MPI_BYTE, root_, MPI_COMM_WORLD);
        break;
      case Collective::rma_reduce:
        MPI_Reduce(base_, data, bytes, MPI_BYTE, MPI_BOR, root_, MPI_COMM_WORLD);
        break;
      default:
        MPI_Bcast(bench_.job.rank() == root_ ? data : base_, bytes, MPI_BYTE, root_,
                  MPI_COMM_WORLD);
    }
  }
  int begin(int bytes, TUTTI_Rma_request* request) {
    char* data = data_.data();
    switch (collective_) {
      case Collective::rma_scatter:
        return TUTTI_Rma_scatter(data, bytes, MPI_BYTE, 0, window_, request);
      case Collective::rma_gather:
        return TUTTI_Rma_gather(data, bytes, MPI_BYTE, 0, window_, request);
      case Collective::rma_reduce:
        return TUTTI_Rma_reduce(data, bytes, MPI_BYTE, MPI_BOR, 0, window_, request);
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
  std::vector<char> data_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win handle_ = MPI_WIN_NULL;
  TUTTI_Window window_ = TUTTI_WINDOW_NULL;
  char* base_ = nullptr;
  char value_ = 0;
  long long calls_ = 0;
  int error_ = MPI_SUCCESS;
};

/// The share of a core that the process uses while its program sleeps.
double idle_share() {
  constexpr double seconds = 2;
  const auto cpu = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double before = cpu();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return (cpu() - before) / seconds;
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

/// Measures blocks of `bytes` bytes.
Row measure_row(const Bench& bench, Windows& windows, Rank root, Bytes bytes) {
  const auto& names = bench.options.algorithms;
  std::vector<std::vector<double>> seconds(names.size());
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(bench.options.seed);  // the same on all ranks
  bench.clock.synchronise(bench.job);
  for (int turn = -bench.options.warmup; turn < bench.options.repetitions; ++turn) {
    std::shuffle(order.begin(), order.end(), random);
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
  constexpr std::array names = {"linear", "chain:parts=1"};
  std::array<std::vector<double>, names.size()> seconds;
  bench.clock.synchronise(bench.job);
  for (int turn = 0; turn < std::max(bench.options.repetitions, 9); ++turn) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      bench.watchdog.enter(names[i], 8, turn);
      const auto set = set_algorithm(Collective::rma_bcast, names[i]);
      if (!set) bench.job.fail(set.error());
      seconds[i].push_back(windows.time(names[i], 8));
    }
  }
  for (auto& each : seconds) std::sort(each.begin(), each.end());
  return (quantile(seconds[1], 0.5) - quantile(seconds[0], 0.5)) / (bench.job.p() - 2);
}

}  // namespace

Result<bool> run_rma(const Bench& bench, Rank root, const Machine& machine, Report* report) {
  const auto& sizes = bench.options.totals;
  const double before = idle_share();
  Windows windows(bench, root, *std::max_element(sizes.begin(), sizes.end()));
  if (windows.error() != MPI_SUCCESS) {
    return Error{"TUTTI_Rma_init or the registration of a window failed with MPI error code " +
                 std::to_string(windows.error())};
  }
  const double idle = idle_share();
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
