/// Measures batches of back-to-back calls, alternating between variants.
#include <fmt/format.h>

#include <array>

#include "bench/mpi_calls.hpp"
#include "bench/mpi_commands.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

constexpr int self_calls = 2000;  // per batch: about 0.3 ms, far above the clock's resolution
constexpr int small_calls_of_batch = 200;
constexpr double bound_ns = 150;

/// A variant of a call; without a root it ignores `root`.
struct Variant {
  std::string name;
  std::string specification;
  std::function<void(Rank root)> call;
};

/// The mean seconds of a call in each batch, by variant. The root changes from call to call, so
/// that calls cannot overlap.
std::vector<std::vector<double>> batches(const Bench& bench, Collective collective,
                                         const std::vector<Variant>& variants, int calls,
                                         int roots) {
  const int warmup = bench.options.warmup;
  std::vector<std::vector<double>> seconds(variants.size());
  for (int batch = -warmup; batch < bench.options.repetitions; ++batch) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const Variant& variant =
          variants[(i + static_cast<std::size_t>(batch + warmup)) % variants.size()];
      bench.watchdog.enter(variant.name, 2, batch);
      if (!variant.specification.empty()) {
        const auto set = set_algorithm(collective, variant.specification);
        if (!set) bench.job.fail(set.error());
      }
      for (Rank root = 0; root < roots; ++root) variant.call(root);  // makes plans
      bench.job.barrier();
      const double begin = bench.clock.now();
      for (int call = 0; call < calls; ++call) variant.call(call % roots);
      const double mean = (bench.clock.now() - begin) / calls;
      const auto index = static_cast<std::size_t>(&variant - variants.data());
      if (batch >= 0) seconds[index].push_back(mean);
    }
  }
  return seconds;
}

/// A row that compares all variants with the first one, the MPI's own.
Row row_against_first(std::string name, const std::vector<Variant>& variants,
                      std::vector<std::vector<double>> seconds) {
  Row row{std::move(name), "same", 2, sizeof(int), 0, 2, 2, {}};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Line line{variants[i].name, "", seconds[i], {}, {}, {}, {}};
    if (i > 0) line.to_native = ratio_of_medians(seconds[i], seconds[0]);
    row.lines.push_back(std::move(line));
  }
  return row;
}

void print(const Report& report, const Row& row) {
  const double native = summarize(row.lines[0].samples).median;
  report.say(fmt::format("\n# {}\n{:<34}{:>12}{:>12}{:>12}{:>10}{:>16}", row.collective, "# call",
                         "median(ns)", "min(ns)", "added(ns)", "/native", "95%"));
  for (const Line& line : row.lines) {
    const Summary summary = summarize(line.samples);
    report.say(
        fmt::format("{:<34}{:>12.1f}{:>12.1f}{:>12.1f}{:>10}{:>16}", line.name,
                    summary.median * 1e9, summary.least * 1e9, (summary.median - native) * 1e9,
                    line.to_native ? fmt::format("{:.3f}", line.to_native->value) : "-",
                    line.to_native ? fmt::format("{:.3f}..{:.3f}", line.to_native->interval.low,
                                                 line.to_native->interval.high)
                                   : "-"));
  }
}

Row forwarding(const Bench& bench) {
  static std::array<int, 2> sent;
  static std::array<int, 2> received;
  static const int count = 2;
  static const int displacement = 0;
  const auto with = [](decltype(&MPI_Gatherv) gatherv) {
    return [gatherv](Rank) {
      gatherv(sent.data(), 2, MPI_INT, received.data(), &count, &displacement, MPI_INT, 0,
              MPI_COMM_SELF);
    };
  };
  std::vector<Variant> variants = {{"the MPI's MPI_Gatherv", "", with(native_functions().Gatherv)},
                                   {"TUTTI_Gatherv, native", "native", with(TUTTI_Gatherv)}};
  if (is_intercepted())
    variants.push_back({"MPI_Gatherv, preloaded, native", "native", with(MPI_Gatherv)});
  auto seconds = batches(bench, Collective::gatherv, variants, self_calls, 1);
  return row_against_first("forwarding of 8 bytes on MPI_COMM_SELF", variants, std::move(seconds));
}

/// The cost of calls without any setting, compared with the MPI's own.
Row small_calls(const Bench& bench, Collective collective) {
  CallBuffers at(collective, std::vector(index(bench.job.p()), 2), bench.job.rank(), true);
  const std::string name(name_of(collective));
  std::vector<Variant> variants = {
      {"the MPI's " + name, "", call_of(collective, native_functions(), at)},
      {"TUTTI, auto", "auto", call_of(collective, tutti_functions(), at)}};
  if (is_intercepted()) {
    variants.push_back({"preloaded, auto", "auto", call_of(collective, mpi_functions(), at)});
  }
  const int roots = has_root(collective) ? bench.job.p() : 1;
  return row_against_first(name + " of 8 bytes, all ranks", variants,
                           batches(bench, collective, variants, small_calls_of_batch, roots));
}

}  // namespace

void run_latency(const Bench& bench, Report* report) {
  const Row forwarded = forwarding(bench);
  if (report != nullptr) {
    print(*report, forwarded);
    const double native = summarize(forwarded.lines[0].samples).median;
    for (std::size_t i = 1; i < forwarded.lines.size(); ++i) {
      const double more = (summarize(forwarded.lines[i].samples).median - native) * 1e9;
      report->say(fmt::format("# {}: {:.1f} ns added, bound {} ns: {}", forwarded.lines[i].name,
                              more, bound_ns, more < bound_ns ? "kept" : "EXCEEDED"));
    }
    report->add(forwarded, false);
  }
  for (const Collective collective : all_collectives) {
    if (bench.job.p() == 1 || is_one_sided(collective)) continue;
    const Row row = small_calls(bench, collective);
    if (report == nullptr) continue;
    print(*report, row);
    report->add(row, false);
  }
}

}  // namespace tutti::bench
