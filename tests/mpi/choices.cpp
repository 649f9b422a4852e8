/// Calls among late ranks explore what the list offers them, alike on all ranks.
#include <unistd.h>

#include <array>
#include <optional>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

constexpr int calls = 60;

/// The algorithms of successive calls, in text fields of equal width.
class Log {
 public:
  void note(MPI_Comm comm, Kind kind) {
    std::array<char, 160> text{};
    int length = static_cast<int>(text.size());
    TUTTI_Algorithm_last(comm, name_of(kind), text.data(), &length);
    all_.insert(all_.end(), text.begin(), text.end());
    const auto contains = [&](std::string_view what) {
      return std::string_view(text.data()).find(what) != std::string_view::npos;
    };
    if (contains("arrival")) ++by_arrivals_;
    if (!contains("native: ")) ++others_;
  }
  /// The number of calls whose algorithm needs arrivals, explored or selected.
  [[nodiscard]] unsigned by_arrivals() const { return by_arrivals_; }
  /// The number of calls that did not run the MPI's own.
  [[nodiscard]] unsigned others() const { return others_; }

  void expect_alike(Context& context, MPI_Comm comm) {
    std::vector<char> of_rank_0 = all_;
    PMPI_Bcast(of_rank_0.data(), static_cast<int>(of_rank_0.size()), MPI_CHAR, 0, comm);
    if (of_rank_0 != all_) context.fail("this rank's choices were not rank 0's");
  }

 private:
  std::vector<char> all_;
  unsigned by_arrivals_ = 0;
  unsigned others_ = 0;
};

/// Blocks of equal size whose first and last elements identify rank and call. To check more would
/// delay the root.
class Blocks {
 public:
  Blocks(Kind kind, MPI_Comm comm, int root, int count) : kind_(kind), comm_(comm), root_(root) {
    PMPI_Comm_size(comm, &p_);
    PMPI_Comm_rank(comm, &rank_);
    own_.resize(static_cast<std::size_t>(count));
    counts_.assign(static_cast<std::size_t>(p_), count);
    for (int rank = 0; rank < p_; ++rank) displs_.push_back(rank * count);
    if (rank_ == root) all_.resize(own_.size() * static_cast<std::size_t>(p_));
  }

  void prepare(int call) {
    const bool gathers = is_gather(kind_);
    mark(own_.data(), gathers ? value(call, rank_) : -1);
    for (int rank = 0; rank < p_ && rank_ == root_; ++rank) {
      mark(at_root(rank), gathers ? -1 : value(call, rank));
    }
  }

  /// Makes the following calls starts of one persistent request.
  void persist(Context& context) {
    if (init() != MPI_SUCCESS) context.fail("an error of the request's init");
  }
  void start() {
    if (request_ != TUTTI_REQUEST_NULL) TUTTI_Start(&request_);
  }
  void release() {
    if (request_ != TUTTI_REQUEST_NULL) TUTTI_Request_free(&request_);
  }

  void exchange(Context& context, int call) {
    context.step(std::string(name_of(kind_)) + " " + std::to_string(call));
    const int error = request_ == TUTTI_REQUEST_NULL ? run() : TUTTI_Wait(&request_);
    if (error != MPI_SUCCESS) context.fail("an error");
    bool right = is_marked(own_.data(), value(call, rank_));
    for (int rank = 0; rank < p_ && rank_ == root_; ++rank) {
      right = right && is_marked(at_root(rank), value(call, rank));
    }
    if (!right) context.fail("wrong data in call " + std::to_string(call));
  }

 private:
  static int value(int call, int rank) { return 1000 * call + rank; }
  int* at_root(int rank) { return &all_[own_.size() * static_cast<std::size_t>(rank)]; }
  void mark(int* block, int value) const { block[0] = block[own_.size() - 1] = value; }
  bool is_marked(const int* block, int value) const {
    return block[0] == value && block[own_.size() - 1] == value;
  }

  int run() {
    const int count = counts_[0];
    switch (kind_) {
      case Kind::gather:
        return TUTTI_Gather(own_.data(), count, MPI_INT, all_.data(), count, MPI_INT, root_, comm_);
      case Kind::gatherv:
        return TUTTI_Gatherv(own_.data(), count, MPI_INT, all_.data(), counts_.data(),
                             displs_.data(), MPI_INT, root_, comm_);
      case Kind::scatter:
        return TUTTI_Scatter(all_.data(), count, MPI_INT, own_.data(), count, MPI_INT, root_,
                             comm_);
      default:
        return TUTTI_Scatterv(all_.data(), counts_.data(), displs_.data(), MPI_INT, own_.data(),
                              count, MPI_INT, root_, comm_);
    }
  }

  int init() {
    const int count = counts_[0];
    switch (kind_) {
      case Kind::gather:
        return TUTTI_Gather_init(own_.data(), count, MPI_INT, all_.data(), count, MPI_INT, root_,
                                 comm_, &request_);
      case Kind::gatherv:
        return TUTTI_Gatherv_init(own_.data(), count, MPI_INT, all_.data(), counts_.data(),
                                  displs_.data(), MPI_INT, root_, comm_, &request_);
      case Kind::scatter:
        return TUTTI_Scatter_init(all_.data(), count, MPI_INT, own_.data(), count, MPI_INT, root_,
                                  comm_, &request_);
      default:
        return TUTTI_Scatterv_init(all_.data(), counts_.data(), displs_.data(), MPI_INT,
                                   own_.data(), count, MPI_INT, root_, comm_, &request_);
    }
  }

  Kind kind_;
  MPI_Comm comm_;
  int root_;
  TUTTI_Request request_ = TUTTI_REQUEST_NULL;
  int p_ = 0;
  int rank_ = 0;
  std::vector<int> own_;
  std::vector<int> all_;
  std::vector<int> counts_;
  std::vector<int> displs_;
};

/// Arrivals in which one rank is late, with or without progress hints.
struct Pattern {
  int root;
  int count;
  int late_rank;
  unsigned delay;  ///< of the late rank, in microseconds
  bool has_progress_hints;
  bool persists = false;
  int silent_rank = -1;           ///< gives no progress hints
  const char* between = nullptr;  ///< the setting of further calls, one after each start
};

Log run_calls(Context& context, Kind kind, const Pattern& pattern) {
  const OwnComm comm;
  TUTTI_Arrival_init(comm.get(), 1);
  Log log;
  Blocks blocks(kind, comm.get(), pattern.root, pattern.count);
  if (pattern.persists) blocks.persist(context);
  Blocks further(kind, comm.get(), pattern.root, 1);
  std::optional<Forced> forced;
  if (pattern.between != nullptr) forced.emplace(context, name_of(kind), pattern.between);
  for (int call = 0; call < calls; ++call) {
    blocks.prepare(call);
    blocks.start();
    usleep(context.rank() == pattern.late_rank ? pattern.delay : 500);
    const bool is_silent = context.rank() == pattern.silent_rank;
    if (pattern.has_progress_hints && !is_silent) TUTTI_Arrival_edge(comm.get());
    blocks.exchange(context, call);
    log.note(comm.get(), kind);
    if (!forced) continue;
    further.prepare(call);
    further.exchange(context, call);
  }
  blocks.release();
  log.expect_alike(context, comm.get());
  return log;
}

/// Fails if no call runs anything but the MPI's own. On a busy machine arrivals are noisy, so each
/// attempt doubles the delay and the blocks.
void expect_others(Context& context, Kind kind, Pattern pattern) {
  const bool may_gain = context.size() >= 4;
  if (!may_gain) pattern.delay = 1000;  // checks only that all ranks choose alike
  for (int attempt = 0; attempt < 5; ++attempt, pattern.delay *= 2, pattern.count *= 2) {
    if (run_calls(context, kind, pattern).others() > 0 || !may_gain) return;
  }
  context.fail("all calls ran the MPI's own");
}

/// Large blocks must not wait for that of the late rank, which is neither the last rank nor a leaf
/// of the binomial tree.
void explores(Context& context, Kind kind) {
  const int p = context.size();
  for (const int root : {0, p - 1}) {
    expect_others(context, kind, {root, 1 << 18, (root + 2) % p, 10000, true});
  }
}

/// A persistent request selects at each start, if rank 0 has a thread that answers.
void explores_at_start(Context& context, Kind kind, const char* between) {
  Pattern pattern = {0, 1 << 18, 2 % context.size(), 10000, true, true};
  pattern.between = between;
  int level = 0;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) {
    expect_others(context, kind, pattern);
  } else {
    run_calls(context, kind, pattern);
  }
}

/// Small blocks hardly gain, whichever rank is late; all ranks must choose alike.
void agrees_on_small_blocks(Context& context, Kind kind) {
  run_calls(context, kind, {0, 1, 1 % context.size(), 5000, true});
}

/// No call follows arrivals if no rank gives progress hints, or one rank never does.
void stays_where_nothing_is_known(Context& context, Kind kind) {
  const int late_rank = 1 % context.size();
  for (const Pattern& pattern : {Pattern{0, 1 << 16, late_rank, 2000, false},
                                 Pattern{0, 1 << 16, late_rank, 2000, true, false, late_rank}}) {
    const Log log = run_calls(context, kind, pattern);
    if (log.by_arrivals() > 0) context.fail("a call followed arrivals without estimates");
  }
}

/// Alternates all collectives, which have separate profiles, with changing late ranks and roots.
void changes_its_mind(Context& context) {
  const OwnComm comm;
  TUTTI_Arrival_init(comm.get(), 0.5);
  std::mt19937 random(9);
  Log log;
  for (int call = 0; call < 4 * calls; ++call) {
    usleep(context.rank() == call / calls % context.size() ? 1500 : 50);
    // Each rank skips one progress hint in 7.
    if ((call + context.rank()) % 7 != 0) TUTTI_Arrival_edge(comm.get());
    const Kind kind = all_kinds[call % 4];
    const int root = call / 8 % context.size();
    const std::vector<int> units(static_cast<std::size_t>(context.size()), 2000);
    Exchange exchange = draw(kind, comm.get(), root, units, random);
    native_fallback(exchange);
    check(context, exchange);
    log.note(comm.get(), kind);
    if (call == 3 * calls) {
      TUTTI_Arrival_finalize(comm.get());
      TUTTI_Arrival_init(comm.get(), 0.5);
    }
  }
  log.expect_alike(context, comm.get());
}

}  // namespace

void add_choices(Suite& suite) {
  for (const Kind kind : all_kinds) {
    const std::string name = name_of(kind);
    suite.add_tutti_only("choice: a late rank, " + name,
                         [kind](Context& context) { explores(context, kind); });
    suite.add_tutti_only("choice: a late rank, persistent " + name,
                         [kind](Context& context) { explores_at_start(context, kind, nullptr); });
    suite.add_tutti_only("choice: small blocks, " + name,
                         [kind](Context& context) { agrees_on_small_blocks(context, kind); });
  }
  suite.add_tutti_only(
      "choice: a late rank, persistent gather among calls of another setting",
      [](Context& context) { explores_at_start(context, Kind::gather, "auto:hierarchy=flat"); });
  suite.add_tutti_only("choice: no estimates", [](Context& context) {
    for (const Kind kind : all_kinds) stays_where_nothing_is_known(context, kind);
  });
  suite.add_tutti_only("choice: other ranks late", changes_its_mind);
}

}  // namespace tutti::test
