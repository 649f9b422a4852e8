/// Compares algorithms on distributions of block sizes.
#include "bench/mpi_table.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "bench/mpi_commands.hpp"
#include "bench/mpi_movement.hpp"
#include "bench/mpi_reduction.hpp"
#include "cost/bounds.hpp"
#include "tutti/tutti.h"

namespace tutti::bench {

namespace {

constexpr auto native_name = "native";

using Workloads = std::vector<std::shared_ptr<Workload>>;

/// A communicator of all ranks, numbered by distance for a collective. The first call makes it and
/// is collective.
MPI_Comm reordered_world(const Bench& bench, Collective collective) {
  if (bench.reordered == MPI_COMM_NULL) {
    const std::string name(tutti::name_of(collective));
    const int code = TUTTI_Comm_reorder(MPI_COMM_WORLD, name.c_str(), &bench.reordered);
    if (code != MPI_SUCCESS) {
      bench.job.fail(std::string(reordered_name) + ": MPI error code " + std::to_string(code));
    }
  }
  return bench.reordered;
}

Result<std::unique_ptr<Workload>> workload_of(const Bench& bench, Collective collective,
                                              const Case& problem, bool reordered) {
  const MPI_Datatype type = type_of(problem);
  const Rank rank = bench.job.rank();
  if (reduces(collective)) {
    const bool floats = bench.options.floats;
    return ReductionWorkload::make(collective, problem.blocks, problem.width,
                                   floats ? MPI_FLOAT : type,
                                   floats ? Values::floats : Values::bits, problem.root, rank);
  }
  return MovementWorkload::make(
      collective, {problem.blocks, problem.width, type, problem.root, bench.options.gap},
      reordered ? reordered_world(bench, collective) : MPI_COMM_WORLD);
}

/// A workload for each contender. Contenders share it, unless a call is persistent, as it keeps its
/// buffers, or another communicator numbers the ranks differently.
Result<Workloads> workloads_of(const Bench& bench, Collective collective, const Case& problem) {
  Workloads workloads;
  std::shared_ptr<Workload> common;
  for (const std::string& name : bench.options.algorithms) {
    const bool reordered = name == reordered_name;
    if (common == nullptr || reordered) {
      Result<std::unique_ptr<Workload>> made = workload_of(bench, collective, problem, reordered);
      if (!made) return Error{made.error()};
      workloads.push_back(std::move(*made));
      if (!reordered && !bench.options.persistent) common = workloads.back();
    } else {
      workloads.push_back(common);
    }
  }
  return workloads;
}

std::vector<Contender> contenders_of(const Options& options, const Workloads& workloads) {
  std::vector<Contender> contenders;
  for (const std::string& name : options.algorithms) {
    const bool native = name == native_name || name == reordered_name;
    const Functions functions = native ? native_functions() : program_functions();
    Workload& workload = *workloads[contenders.size()];
    Contender contender{name,
                        native ? "" : name,
                        &workload,
                        functions,
                        [&workload, functions] { return workload.run(functions); },
                        {}};
    if (options.persistent && !native) {
      contender.start = [&workload] { return workload.start(); };
      contender.call = [&workload] { return workload.wait(); };
    }
    contenders.push_back(std::move(contender));
  }
  return contenders;
}

/// One of the values of each call.
std::vector<double> each(const Calls& calls, double (Calls::*value)(int) const) {
  std::vector<double> values;
  for (int i = 0; i < calls.repetitions; ++i) values.push_back((calls.*value)(i));
  return values;
}

/// Lower bounds on the times of the calls of one problem.
class Bounds {
 public:
  Bounds(const Case& problem, Collective collective, const Machine& machine)
      : call_{.collective = collective, .root = problem.root, .sizes = problem.blocks},
        machine_{.latency = std::min(machine.latency, machine.gap), .per_byte = machine.per_byte} {
    for (Bytes& size : call_.sizes) size *= problem.width;
  }

  /// The bound in seconds from the first arrival; without arrivals, for all ranks at once.
  [[nodiscard]] double of(std::vector<double> arrivals) {
    call_.arrivals = std::move(arrivals);
    return lower_bound(call_, machine_, Runner::background);
  }
  /// The median of time / bound over all calls.
  [[nodiscard]] double median_ratio(const Calls& calls) {
    std::vector<double> ratios;
    for (int i = 0; i < calls.repetitions; ++i) {
      ratios.push_back(calls.seconds(i) / of(calls.arrivals_of(i)));
    }
    return summarize(std::move(ratios)).median;
  }

 private:
  Call call_;
  Machine machine_;
};

/// Lets contenders that select by themselves learn from calls of all cases.
Result<bool> settle_all(const Bench& bench, Collective collective, std::span<const Case> cases) {
  std::vector<Workloads> kept;
  std::vector<Contender> contenders;
  for (const Case& problem : cases) {
    Result<Workloads> workloads = workloads_of(bench, collective, problem);
    if (!workloads) return Error{workloads.error()};
    kept.push_back(std::move(*workloads));
    std::ranges::move(contenders_of(bench.options, kept.back()), std::back_inserter(contenders));
  }
  settle(bench, contenders);
  return true;
}

}  // namespace

std::vector<Case> cases_of(const Options& options, int p, Rank root) {
  const bool in_bytes = !options.totals.empty();
  const auto collective = collective_of(options.command);
  const bool is_whole = collective && block_kind(*collective) == BlockKind::parts;
  std::vector<Case> cases;
  for (const Distribution distribution : options.distributions) {
    for (const Bytes size : in_bytes ? options.totals : options.blocks) {
      // Every rank's block has at least one byte.
      const int width = in_bytes && !options.floats ? 1 : static_cast<int>(sizeof(int));
      const Bytes of_each = in_bytes && !is_whole ? size / p : size;
      const Bytes block = in_bytes ? std::max(Bytes{1}, of_each / width) : of_each;
      cases.push_back({distribution, block, width, root,
                       distribute(distribution, p, block, options.seed, options.rho)});
    }
  }
  return cases;
}

MPI_Datatype type_of(const Case& problem) { return problem.width == 1 ? MPI_BYTE : MPI_INT; }

Row row_of(const Case& problem, std::string collective) {
  const auto named = tutti::collective_named(collective);
  const bool is_whole = named && block_kind(*named) == BlockKind::parts;
  return {std::move(collective),
          std::string(tutti::name_of(problem.distribution)),
          problem.block,
          problem.width,
          problem.root,
          is_whole ? problem.block
                   : std::accumulate(problem.blocks.begin(), problem.blocks.end(), Bytes{0}),
          *std::max_element(problem.blocks.begin(), problem.blocks.end()),
          {}};
}

std::vector<Line> lines_of(const std::vector<Contender>& contenders,
                           const std::vector<Calls>& calls, const Case& problem,
                           const Machine* machine) {
  const auto native = std::find_if(contenders.begin(), contenders.end(),
                                   [](const Contender& c) { return c.name == native_name; });
  std::vector<Line> lines;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    Line line{contenders[i].name,
              calls[i].ran,
              each(calls[i], &Calls::seconds),
              summarize(each(calls[i], &Calls::spread)).median,
              summarize(each(calls[i], &Calls::elapsed)).mean,
              {},
              {}};
    const auto native_index = static_cast<std::size_t>(native - contenders.begin());
    if (native != contenders.end() && native_index != i) {
      line.to_native = ratio_of_medians(line.samples, each(calls[native_index], &Calls::seconds));
    }
    line.after_last_arrival = each(calls[i], &Calls::after_last_arrival);
    if (machine != nullptr) {
      line.to_bound =
          Bounds(problem, contenders[i].workload->collective(), *machine).median_ratio(calls[i]);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Result<bool> run_table(const Bench& bench, Rank root, const Machine& machine, Report* report) {
  const Options& options = bench.options;
  const Collective collective = *collective_of(options.command);
  const std::vector<Case> cases = cases_of(options, bench.job.p(), root);
  const ProgressHints hints(options);
  if (options.settling > 0) {
    const Result<bool> settled = settle_all(bench, collective, cases);
    if (!settled) return settled;
  }
  for (const Case& problem : cases) {
    const Result<Workloads> workloads = workloads_of(bench, collective, problem);
    if (!workloads) return Error{workloads.error()};
    const std::vector<Contender> contenders = contenders_of(options, *workloads);
    const std::vector<Calls> calls = measure(bench, contenders, problem.block);
    if (report == nullptr) continue;
    Row row = row_of(problem, std::string(tutti::name_of(collective)));
    // Calls in a row overlap: the bound of one call is none of theirs.
    const bool bounded = bench.job.p() > 1 && options.calls == 1;
    row.lines = lines_of(contenders, calls, problem, bounded ? &machine : nullptr);
    if (bounded) row.bound = Bounds(problem, collective, machine).of({});
    report->add(std::move(row));
  }
  return true;
}

}  // namespace tutti::bench
