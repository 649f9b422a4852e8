/// The executor over threads: every algorithm moves every byte, whatever the transport does.
#include "run/plan/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <thread>

#include "algorithms/problems.hpp"
#include "lowering/hierarchical.hpp"
#include "run/plan/planner.hpp"
#include "unit/run/faulty_transport.hpp"
#include "unit/run/thread_transport.hpp"

namespace tutti {
namespace {

using Block = std::vector<std::byte>;

std::byte payload(Rank rank, Bytes index) {
  return static_cast<std::byte>((rank * 131 + index * 7 + 1) & 0xff);
}

/// Blocks of one rank's own, and at the root those of all, each in memory of its own.
class PlainBuffers final : public Buffers {
 public:
  PlainBuffers(bool gathers, Block& own, const std::vector<Bytes>& sizes, Block& all,
               const Plan& plan)
      : root_area_(gathers ? Area::receive : Area::send),
        own_(own),
        sizes_(sizes),
        all_(all),
        order_(plan.order) {
    Bytes at = 0;
    for (const Bytes size : sizes) displacements_.push_back(std::exchange(at, at + size));
    scratch_.resize(static_cast<std::size_t>(plan.program.scratch));
  }

  int find(const BufferRef& place, Region& region) override {
    if (place.bytes == 0) return 0;
    if (place.area != root_area_) {
      std::byte* base = place.area == Area::staging ? scratch_.data() : own_.data();
      region = {base + place.offset, place.bytes, 0};
      return 0;
    }
    Stretches& stretches = made_.emplace_back();
    place.blocks.for_each_run([&](BlockRange run) {
      for (auto v = static_cast<Position>(run.begin); v < run.end; ++v) {
        const auto rank = static_cast<std::size_t>(order_.rank_at(v));
        stretches.emplace_back(all_.data() + displacements_[rank], sizes_[rank]);
      }
    });
    if (!place.whole) stretches = {{stretches[0].first + place.offset, place.bytes}};
    region = {nullptr, place.bytes, reinterpret_cast<std::uint64_t>(&stretches)};
    return 0;
  }

 private:
  Area root_area_;
  Block& own_;
  const std::vector<Bytes>& sizes_;
  Block& all_;
  const Order& order_;
  std::vector<Bytes> displacements_;
  Block scratch_;
  std::deque<Stretches> made_;
};

/// One call by p threads. Each rank plans for itself with what it may know.
class ThreadedCall {
 public:
  ThreadedCall(const Specification& spec, const Call& call) : spec_(spec), call_(call) {
    for (Rank rank = 0; rank < call.p(); ++rank) {
      Block block;
      for (Bytes i = 0; i < size(rank); ++i) block.push_back(payload(rank, i));
      whole_.insert(whole_.end(), block.begin(), block.end());
      const bool is_late = spec.runner == Runner::background;
      own_.push_back(gathers() && !is_late ? block : Block(block.size()));
      sent_.push_back(std::move(block));
    }
    const bool is_ready = !gathers() && spec.runner == Runner::caller;
    all_ = is_ready ? whole_ : Block(whole_.size());
  }

  /// Runs all ranks; `faults` by rank. The errors by rank.
  std::vector<int> run(const std::vector<FaultyTransport::Faults>& faults) {
    ThreadNetwork network(call_.p());
    std::vector<int> errors(static_cast<std::size_t>(call_.p()), 0);
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < call_.p(); ++rank) {
      threads.emplace_back([&, rank] {
        ThreadTransport inner(network, rank);
        FaultyTransport transport(inner, faults[static_cast<std::size_t>(rank)]);
        errors[static_cast<std::size_t>(rank)] = run_rank(rank, transport);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return errors;
  }

  int run_rank(Rank rank, Transport& transport) {
    CallProblem problem;
    problem.specification = &spec_;
    problem.p = call_.p();
    problem.rank = rank;
    problem.root = call_.root;
    problem.traits.packs_blocks = call_.p() % 2 == 1;  // both ways among the cases
    CallSizes sizes;
    const bool irregular = is_irregular(call_.collective);
    sizes.own = size(rank);
    sizes.each = irregular ? 0 : sizes.own;
    for (Rank of = 0; irregular && rank == call_.root && of < call_.p(); ++of) {
      sizes.by_rank.push_back(size(of));
    }
    problem.sizes = &sizes;
    Executor executor;
    Planner planner(
        {.half_performance_length = call_.half_performance_length},
        [&](Protocol protocol) { return executor.run(std::move(protocol), transport); });
    const Plan* plan = nullptr;
    if (const int error = planner.prepare(problem, plan)) return error;
    PlainBuffers buffers(gathers(), own_[static_cast<std::size_t>(rank)], call_.sizes, all_, *plan);
    if (spec_.runner == Runner::caller) return executor.run(plan->program, buffers, transport);
    executor.begin(plan->program, buffers, transport);
    return run_by_two_threads(rank, executor);
  }

  /// The background runs what it may until the rank arrives, which takes it a while.
  int run_by_two_threads(Rank rank, Executor& executor) {
    std::mutex mutex;
    std::atomic<bool> arrived = false;
    int error = 0;
    std::thread background([&] {
      while (!arrived) {
        const std::lock_guard lock(mutex);
        bool moved = false;
        if (!arrived && error == 0) error = executor.progress(moved);
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds((rank * 7919) % 300));
    arrived = true;
    {
      const std::lock_guard lock(mutex);
      // Its data is ready no sooner than now: whoever has read it before has read something else.
      if (gathers()) own_[static_cast<std::size_t>(rank)] = sent_[static_cast<std::size_t>(rank)];
      if (!gathers() && rank == call_.root) all_ = whole_;
      if (error == 0) error = executor.finish();
    }
    background.join();
    return error;
  }

  void expect_result() const {
    EXPECT_EQ(all_, whole_);  // of a scatter: what the root sends has not changed
    if (gathers()) {
      EXPECT_EQ(own_, sent_);
      return;
    }
    for (Rank rank = 0; rank < call_.p(); ++rank) {
      for (Bytes i = 0; i < size(rank); ++i) {
        ASSERT_EQ(own_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i)],
                  payload(rank, i))
            << "rank " << rank << " byte " << i;
      }
    }
  }

 private:
  [[nodiscard]] bool gathers() const { return is_gather(call_.collective); }
  [[nodiscard]] Bytes size(Rank rank) const { return call_.sizes[static_cast<std::size_t>(rank)]; }

  Specification spec_;
  Call call_;
  std::vector<Block> own_;
  std::vector<Block> sent_;
  Block all_;
  Block whole_;
};

std::vector<FaultyTransport::Faults> delays(int p, unsigned seed) {
  std::vector<FaultyTransport::Faults> faults(static_cast<std::size_t>(p));
  for (auto& fault : faults) fault.seed = seed++;
  return faults;
}

Call call_of(Collective collective, int p, Rank root) {
  Call call{collective, root, {}, 2};
  for (Rank rank = 0; rank < p; ++rank) {
    call.sizes.push_back(is_irregular(collective) ? (rank * rank * 5) % 37 : 9);
  }
  return call;
}

/// One call by p threads with delays; everyone must have what it should.
void run_delayed(Collective collective, const std::string& text, int p, Rank root) {
  SCOPED_TRACE(std::string(name_of(collective)) + " " + text + " p " + std::to_string(p) +
               " root " + std::to_string(root));
  ThreadedCall call(*specification(collective, text), call_of(collective, p, root));
  const auto errors = call.run(delays(p, static_cast<unsigned>(p * 100 + root)));
  for (const int error : errors) EXPECT_EQ(error, 0);
  call.expect_result();
}

TEST(Executor, MovesEveryByteWithEveryAlgorithmUnderDelaysAndReordering) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (!is_gather_or_scatter(algorithm.collective)) continue;
    for (const int p : {1, 2, 3, 6, 7}) {
      for (Rank root = 0; root < p; ++root) {
        run_delayed(algorithm.collective, std::string(algorithm.name), p, root);
      }
    }
  }
}

TEST(Executor, LeavesTheCallersDataAloneUntilItArrives) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (!is_gather_or_scatter(algorithm.collective) || !algorithm.takes("runner")) continue;
    for (const int p : {1, 2, 6}) {
      for (const Rank root : {0, p - 1}) {
        run_delayed(algorithm.collective, std::string(algorithm.name) + ":runner=background", p,
                    root);
      }
    }
  }
}

TEST(Executor, ReturnsTheTransportsErrorAndAbandonsWhatIsOpen) {
  // Rank 1 of a linear gather of two fails when it has begun its message; the root is not run.
  ThreadedCall call(*specification(Collective::gather, "linear"),
                    call_of(Collective::gather, 2, 0));
  ThreadNetwork network(2);
  ThreadTransport inner(network, 1);
  FaultyTransport transport(inner, {1, 0.0, 1, 42});
  EXPECT_EQ(call.run_rank(1, transport), 42);
  EXPECT_EQ(transport.calls(), 2);
  EXPECT_TRUE(transport.was_abandoned());
  EXPECT_EQ(inner.waits_for(), "");
}

class NoBuffers final : public Buffers {
 public:
  int find(const BufferRef&, Region&) override { return 0; }
};

TEST(Executor, FailsWhereverTheTransportFails) {
  // The root of a linear gather of three: whichever begin, copy or poll fails, its error returns.
  ThreadedCall call(*specification(Collective::gather, "linear"),
                    call_of(Collective::gather, 3, 0));
  const auto run = [&call](int fail_at, int& calls) {
    LastFirst inner;
    FaultyTransport transport(inner, {1, 0.0, fail_at, 7});
    const int error = call.run_rank(0, transport);
    calls = transport.calls();
    return error;
  };
  int calls = 0;
  ASSERT_EQ(run(-1, calls), 0);
  ASSERT_GE(calls, 2 + 1 + 2);
  for (int fail_at = 0; fail_at < calls; ++fail_at) {
    int unused = 0;
    EXPECT_EQ(run(fail_at, unused), 7) << "call " << fail_at;
  }
}

/// Messages that need other messages, then rounds that wait for all messages before.
TEST(Executor, ExaminesEachOperationAndNeedOnce) {
  constexpr int messages = 1000;
  Program program;
  const auto add = [&](OperationKind kind, int peer) -> Operation& {
    Operation& operation = program.operations.emplace_back();
    operation.kind = kind;
    operation.peer = peer;
    operation.first_need = operation.last_need = static_cast<int>(program.needs.size());
    return operation;
  };
  for (int i = 0; i < messages; ++i) add(OperationKind::recv, i);
  for (int i = 0; i < messages; ++i) {
    Operation& send = add(OperationKind::send, i);
    program.needs.push_back(i);
    ++send.last_need;
    send.slots = i % 2 == 0 ? 2 : 0;
  }
  for (int i = 0; i < messages; ++i) {
    add(OperationKind::send, i);
    const auto before = static_cast<int>(program.operations.size());
    add(OperationKind::wait, no_rank).last = before;
  }
  LastFirst transport;
  NoBuffers buffers;
  Executor executor;
  EXPECT_EQ(executor.run(program, buffers, transport), 0);
  const auto all = program.operations.size() + program.needs.size();
  EXPECT_LE(executor.examined(), static_cast<std::int64_t>(3 * all));
}

/// Records what runs, and fails in the first await.
class NodeRecord final : public Buffers {
 public:
  static constexpr int failure = 7;
  int find(const BufferRef&, Region&) override { return -1; }
  bool copy(const BufferRef& from, const BufferRef&) override {
    ran.push_back("copy from " + std::string(name_of(from.area)));
    return true;
  }
  int run(const Operation& operation) override {
    const bool first = ran.size() < 2;
    ran.push_back(std::string(name_of(operation.kind)) + " " + std::to_string(operation.sequence));
    return first && operation.kind == OperationKind::await ? failure : 0;
  }
  std::vector<std::string> ran;
};

Program program_on_node() {
  Program program;
  program.operations = {{.kind = OperationKind::await, .sequence = 0},
                        {.kind = OperationKind::copy, .from = {.area = Area::send}},
                        {.kind = OperationKind::signal, .sequence = 1},
                        {.kind = OperationKind::await, .sequence = 1},
                        {.kind = OperationKind::call},
                        {.kind = OperationKind::signal, .sequence = 2}};
  run_in_sequence(program);
  return program;
}

const std::vector<std::string> ran_on_node = {
    "await 0", "copy from the send buffer", "signal 1", "await 1", "call 0", "signal 2"};

// An error must not make the other ranks of a node wait for a signal.
TEST(Executor, RunsAllOperationsOnNodeMemoryInSequenceAfterAnError) {
  LastFirst transport;
  NodeRecord buffers;
  EXPECT_EQ(Executor().run(program_on_node(), buffers, transport), NodeRecord::failure);
  EXPECT_EQ(buffers.ran, ran_on_node);
}

TEST(Executor, RunsTheCallersOperationsInPartsOnceItHasArrived) {
  const Program program = program_on_node();
  LastFirst transport;
  NodeRecord buffers;
  Executor executor;
  bool moved = false;
  executor.begin(program, buffers, transport);
  EXPECT_EQ(executor.progress(moved), 0);
  EXPECT_TRUE(buffers.ran.empty());
  executor.begin(program, buffers, transport, true);
  EXPECT_EQ(executor.progress(moved), 0);
  EXPECT_TRUE(moved && executor.is_done());
  EXPECT_EQ(executor.damage(), NodeRecord::failure);
  EXPECT_EQ(buffers.ran, ran_on_node);
}

TEST(ThreadTransport, SaysWhatARankWaitsFor) {
  ThreadNetwork network(2);
  ThreadTransport transport(network, 0);
  std::byte byte{};
  transport.begin(0, {false, 1, 1024, {&byte, 1, 0}});
  EXPECT_EQ(transport.waits_for(), "recv from 1 tag 1024");
}

}  // namespace
}  // namespace tutti
