/// Compares padded and irregular gathers.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>

#include "bench/mpi_commands.hpp"
#include "bench/mpi_movement.hpp"
#include "bench/mpi_table.hpp"

namespace tutti::bench {

namespace {

const std::vector<Guideline>& guidelines() {
  static const std::vector<Guideline> list = {
      {1, "native", "native gather", "native gatherv", true},
      {2, "native", "native gatherv", "allreduce + native gather", false},
      {1, "tutti", "tutti gather", "tutti gatherv", true},
      {2, "tutti", "tutti gatherv", "allreduce + tutti gather", false},
  };
  return list;
}

/// Agrees on the largest block, then gathers padded blocks.
int padded_gather(Workload& padded, const Functions& functions, int count) {
  int largest = 0;
  const int code = functions.Allreduce(&count, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return code != MPI_SUCCESS ? code : padded.run(functions);
}

std::vector<Contender> contenders_of(Workload& padded, Workload& irregular, int count) {
  const auto gather = [&padded](const Functions& f) {
    return [&padded, f] { return padded.run(f); };
  };
  const auto reduced = [&padded, count](const Functions& f) {
    return [&padded, count, f] { return padded_gather(padded, f, count); };
  };
  const auto gatherv = [&irregular](const Functions& f) {
    return [&irregular, f] { return irregular.run(f); };
  };
  const Functions native = native_functions();
  const Functions tutti = tutti_functions();
  return {{"native gather", "", &padded, native, gather(native)},
          {"allreduce + native gather", "", &padded, native, reduced(native)},
          {"native gatherv", "", &irregular, native, gatherv(native)},
          {"tutti gather", "auto", &padded, tutti, gather(tutti)},
          {"allreduce + tutti gather", "auto", &padded, tutti, reduced(tutti)},
          {"tutti gatherv", "auto", &irregular, tutti, gatherv(tutti)},
          {"tutti gatherv, traff", "traff", &irregular, tutti, gatherv(tutti)}};
}

/// A problem's calls of padded and of irregular blocks.
struct Workloads {
  std::unique_ptr<Workload> padded, irregular;
  std::vector<Contender> contenders;
};

Result<Workloads> workloads_of(const Case& problem, Rank rank) {
  const Bytes largest = *std::max_element(problem.blocks.begin(), problem.blocks.end());
  const std::vector<Bytes> equal(problem.blocks.size(), largest);
  const MPI_Datatype type = type_of(problem);
  auto padded = MovementWorkload::make(
      Collective::gather, {equal, problem.width, type, problem.root, 0}, MPI_COMM_WORLD);
  if (!padded) return Error{padded.error()};
  auto irregular = MovementWorkload::make(
      Collective::gatherv, {problem.blocks, problem.width, type, problem.root, 0}, MPI_COMM_WORLD);
  if (!irregular) return Error{irregular.error()};
  const int count = static_cast<int>(problem.blocks[static_cast<std::size_t>(rank)]);
  std::vector<Contender> contenders = contenders_of(**padded, **irregular, count);
  return Workloads{std::move(*padded), std::move(*irregular), std::move(contenders)};
}

/// Lets Tutti learn from calls of all problems.
Result<bool> settle_all(const Bench& bench, std::span<const Case> cases) {
  std::vector<Workloads> kept;
  std::vector<Contender> contenders;
  for (const Case& problem : cases) {
    Result<Workloads> workloads = workloads_of(problem, bench.job.rank());
    if (!workloads) return Error{workloads.error()};
    kept.push_back(std::move(*workloads));
    std::ranges::copy(kept.back().contenders, std::back_inserter(contenders));
  }
  settle(bench, contenders);
  return true;
}

const Line& line_named(const Row& row, const std::string& name) {
  return *std::find_if(row.lines.begin(), row.lines.end(),
                       [&](const Line& line) { return line.name == name; });
}

/// The time of the left side over that of the right side.
Ratio excess(const Row& row, const Guideline& guideline) {
  return ratio_of_medians(line_named(row, guideline.left).samples,
                          line_named(row, guideline.right).samples);
}

bool applies(const Row& row, const Guideline& guideline) {
  return !guideline.equal_blocks_only || row.distribution == "same";
}

std::string heading() {
  std::string text = fmt::format("{:<12}{:>9}{:>11}{:>11}", "# Problem", "block", "m", "m'");
  for (const char* name : {"MPI_Gather", "Guideline (2)", "MPI_Gatherv", "TUTTI_Gather",
                           "Tutti's (2)", "TUTTI_Gatherv", "traff"}) {
    text += fmt::format("{:>22}", name);
  }
  text += fmt::format("\n{:<43}", "# medians and minima, us");
  for (int column = 0; column < 7; ++column) text += fmt::format("{:>12}{:>10}", "median", "min");
  return text;
}

std::string table_line(const Row& row, int p) {
  std::string text = fmt::format("{:<12}{:>9}{:>11}{:>11}", row.distribution, row.block, row.total,
                                 row.largest * p);
  for (const Line& line : row.lines) {
    const bool broken =
        std::any_of(guidelines().begin(), guidelines().end(), [&](const Guideline& guideline) {
          return guideline.left == line.name && applies(row, guideline) &&
                 excess(row, guideline).above_one();
        });
    const Summary summary = summarize(line.samples);
    text += fmt::format("{:>11.2f}{}{:>10.2f}", summary.median * 1e6, broken ? '!' : ' ',
                        summary.least * 1e6);
  }
  return text;
}

std::string violations(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    for (const Guideline& guideline : guidelines()) {
      if (!applies(row, guideline)) continue;
      const Ratio ratio = excess(row, guideline);
      if (!ratio.above_one()) continue;
      text += fmt::format(
          "\n# guideline ({}) violated by {}: {} {}: {} takes {:.2f} ({:.2f}..{:.2f}) "
          "times {}",
          guideline.number, guideline.library, row.distribution, row.block, guideline.left,
          ratio.value, ratio.interval.low, ratio.interval.high, guideline.right);
    }
  }
  return text.empty() ? "\n# no guideline violated" : text;
}

}  // namespace

Result<bool> run_guidelines(const Bench& bench, Rank root, Report* report) {
  const int p = bench.job.p();
  const std::vector<Case> cases = cases_of(bench.options, p, root);
  if (bench.options.settling > 0) {
    const Result<bool> settled = settle_all(bench, cases);
    if (!settled) return settled;
  }
  std::vector<Row> rows;
  if (report != nullptr) report->say("\n" + heading());
  for (const Case& problem : cases) {
    const Result<Workloads> workloads = workloads_of(problem, bench.job.rank());
    if (!workloads) return Error{workloads.error()};
    const std::vector<Calls> calls = measure(bench, workloads->contenders, problem.block);
    if (report == nullptr) continue;
    Row row = row_of(problem, "guidelines");
    row.lines = lines_of(workloads->contenders, calls, problem, nullptr);
    report->say(table_line(row, p));
    rows.push_back(row);
    report->add(std::move(row), false);
  }
  if (report == nullptr) return true;
  report->say(violations(rows));
  report->add(guidelines());
  return true;
}

}  // namespace tutti::bench
