/// What a rank's plan takes among many ranks: processor time and memory of its schedule and
/// program, for each algorithm of the list. Prints a line of JSON for each.
///
///     tutti-plan-cost RANKS
///
/// Needs no MPI. A rank has what protocols would give it for irregular sizes, untimed.
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/problems.hpp"
#include "lowering/lower.hpp"
#include "run/plan/planner.hpp"

namespace {

std::size_t live = 0;
std::size_t peak = 0;

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  live += malloc_usable_size(memory);
  peak = std::max(peak, live);
  return memory;
}

void operator delete(void* memory) noexcept {
  live -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept { operator delete(memory); }

namespace tutti {
namespace {

constexpr Bytes block = 8;
constexpr int usual_repetitions = 5;
/// Per doubling of the ranks. Once a rank has more messages, further ranks are measured once.
constexpr int max_messages = 8;
constexpr int max_ranks = 1 << 20;

struct Cost {
  std::size_t messages = 0;
  std::size_t operations = 0;
  double seconds = 0;       ///< of the processor
  std::size_t program = 0;  ///< bytes of the program
  std::size_t needed = 0;   ///< bytes at most while it is made
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The sizes of the caller's arguments, as CallProblem has them.
CallSizes sizes_of(Collective collective, int p) {
  CallSizes sizes;
  if (is_gather_or_scatter(collective)) sizes.own = block;
  const std::vector<Bytes> all(index(p), block);
  if (block_kind(collective) == BlockKind::parts) {
    sizes.each = block * p;
  } else if (!is_irregular(collective)) {
    sizes.each = collective == Collective::barrier ? 0 : block;
  } else if (block_kind(collective) == BlockKind::pairs) {
    sizes.sent = sizes.received = all;
  } else {
    sizes.by_rank = all;
  }
  return sizes;
}

/// Makes a rank's plan, by what the rank knows.
class Maker {
 public:
  Maker(const Specification& specification, int p)
      : specification_(specification), p_(p), sizes_(sizes_of(collective(), p)) {
    if (is_gather_or_scatter(collective()) && is_irregular(collective())) {
      given_ = std::make_unique<Problems>(
          specification, Call{collective(), 0, std::vector<Bytes>(index(p), block)});
    }
  }

  /// Calls `measured` with a function that makes the plan, and returns its program.
  template <class Measured>
  void make(Rank rank, Measured measured) {
    if (given_) {
      const Problem problem = given_->at(rank);
      measured([&] { return lower(schedule_of(specification_, problem), problem, block, {}); });
      return;
    }
    CallProblem problem;
    problem.specification = &specification_;
    problem.p = p_;
    problem.rank = rank;
    problem.sizes = &sizes_;
    problem.unit = block;
    measured([&] {
      Planner planner;  // nothing of what is planned here communicates
      const Plan* plan = nullptr;
      if (planner.prepare(problem, plan) != 0) std::abort();
      return plan->program;
    });
  }

 private:
  [[nodiscard]] Collective collective() const { return specification_.algorithm->collective; }

  Specification specification_;
  int p_;
  CallSizes sizes_;
  std::unique_ptr<Problems> given_;
};

Cost cost_of(Maker& maker, Rank rank, int repetitions) {
  Cost cost;
  maker.make(rank, [&](const auto& plan) {
    std::vector<double> seconds;
    for (int i = 0; i < repetitions; ++i) {
      const std::size_t before = peak = live;
      const double began = processor_seconds();
      const Program program = plan();
      seconds.push_back(processor_seconds() - began);
      cost.needed = peak - before;
      cost.program = live - before;
      cost.operations = program.operations.size();
      cost.messages = static_cast<std::size_t>(
          std::ranges::count_if(program.operations, [](const Operation& one) {
            return one.kind == OperationKind::send || one.kind == OperationKind::recv;
          }));
    }
    std::ranges::sort(seconds);
    cost.seconds = seconds[seconds.size() / 2];
  });
  return cost;
}

/// The most that any of these ranks needs: the root and its neighbours in trees, the last, and one
/// in the midst.
Cost most(const Specification& specification, int p) {
  Maker maker(specification, p);
  Cost all;
  for (const Rank rank : std::set<Rank>{0, 1, p / 3, p / 2, p - 1}) {
    const bool has_many =
        all.messages > static_cast<std::size_t>(max_messages * std::bit_width(index(p)));
    const Cost one = cost_of(maker, rank, has_many ? 1 : usual_repetitions);
    all.messages = std::max(all.messages, one.messages);
    all.operations = std::max(all.operations, one.operations);
    all.seconds = std::max(all.seconds, one.seconds);
    all.program = std::max(all.program, one.program);
    all.needed = std::max(all.needed, one.needed);
  }
  return all;
}

void print(const Algorithm& algorithm, int p) {
  const Cost cost = most(*specification(algorithm.collective, algorithm.name), p);
  std::printf(
      "{\"collective\": \"%s\", \"algorithm\": \"%s\", \"ranks\": %d, \"messages\": %zu, "
      "\"operations\": %zu, \"seconds\": %.9f, \"program\": %zu, \"needed\": %zu}\n",
      std::string(name_of(algorithm.collective)).c_str(), std::string(algorithm.name).c_str(), p,
      cost.messages, cost.operations, cost.seconds, cost.program, cost.needed);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  const std::string_view text = argc > 1 ? argv[1] : "";
  int p = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), p);
  const bool is_number = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (argc != 2 || !is_number || p < 2 || p > tutti::max_ranks) {
    std::fprintf(stderr, "usage: tutti-plan-cost RANKS, of 2 to %d\n", tutti::max_ranks);
    return 2;
  }
  for (const tutti::Algorithm& algorithm : tutti::all_algorithms()) {
    if (!tutti::is_one_sided(algorithm.collective)) tutti::print(algorithm, p);
  }
  return 0;
}
