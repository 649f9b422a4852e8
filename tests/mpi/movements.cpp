/// Every algorithm of bcast, allgather(v), alltoall(v, w) and barrier, over many calls and
/// communicators.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "harness.hpp"
#include "movement.hpp"

namespace tutti::test {
namespace {

/// Additional parameters to test, by collective and algorithm.
const std::multimap<std::string, std::string>& variants() {
  static const std::multimap<std::string, std::string> all = {
      {"bcast", "knomial:k=3,order=natural"},
      {"bcast", "binomial:order=by_size"},
      {"bcast", "chain:parts=1"},
      {"bcast", "chain:parts=7"},
      {"bcast", "circulant:parts=5"},
      {"bcast", "linear_pull:flight=0"},
      {"bcast", "binomial:runner=background"},
      {"allgather", "bruck:k=3"},
      {"allgather", "gather_bcast:k=3"},
      {"allgather", "broadcasts:k=4"},
      {"allgather", "BDR"},
      {"allgather", "BSLB"},
      {"allgatherv", "ring:order=by_size"},
      {"allgatherv", "circulant:order=by_size"},
      {"allgatherv", "gather_bcast:k=3,order=by_size"},
      {"allgatherv", "sync_bcast:segment=1"},
      {"alltoall", "bruck:k=3"},
      {"alltoall", "bruck:k=9"},
      {"alltoallv", "pairwise:order=natural"},
  };
  return all;
}

std::vector<std::string> specifications(const char* collective, bool native) {
  if (native) return {"native"};
  std::vector<std::string> all = {"auto", "native"};
  const std::vector<std::string> names = algorithms(collective);
  all.insert(all.end(), names.begin(), names.end());
  const auto [first, last] = variants().equal_range(collective);
  for (auto variant = first; variant != last; ++variant) all.push_back(variant->second);
  return all;
}

void check(Context& context, Movement m, const std::string& specification) {
  int p = 0;
  PMPI_Comm_size(m.comm, &p);
  const bool native = specification == "native" || specification == "auto";
  if (native || context.options().native) native_fallback(m, p);
  context.step(specification + " " + to_text(m));
  context.expect_empty(run(m, context.options().native));
}

void sweep(Context& context, Motion motion) {
  const bool native = context.options().native;
  constexpr int scales[] = {40, 1, 700, 3, 12000};
  constexpr int count = std::size(scales);
  const OwnComm comm;
  for (const std::string& specification : specifications(setting_of(motion), native)) {
    const Forced forced(setting_of(motion), specification, native);
    context.expect_empty(forced.error());
    if (!forced.error().empty()) continue;
    std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(specification)));
    // The last call has no data.
    const int calls = std::max(comm.size(), count) * context.options().effort;
    for (int j = 0; j <= calls; ++j) {
      // Pairs are many: their blocks are smaller.
      const int scale = j == calls ? 0 : scales[j % count] / (has_pairs(motion) ? 4 : 1);
      Movement m = draw(motion, comm.get(), comm.size(), scale, random);
      m.root = root_of_call(j, comm.size(), count);
      check(context, m, specification);
      context.expect_empty(forced.wrongly_ran(comm.get()));
    }
  }
}

/// Repeated calls with other buffers use the cached plan; different calls must not.
void repeat(Context& context, Motion motion) {
  const OwnComm comm;
  std::mt19937 random(7);
  for (const std::string& specification :
       specifications(setting_of(motion), context.options().native)) {
    const Forced forced(setting_of(motion), specification, context.options().native);
    Movement m = draw(motion, comm.get(), comm.size(), 30, random);
    m.sent = m.received = layouts_of_ints().data();
    for (int j = 0; j < 8; ++j) {
      m.salt = static_cast<unsigned>(random());
      m.in_place = motion != Motion::bcast && !is_irregular(motion) && j % 4 == 1;
      m.root = j / 4 % comm.size();
      check(context, m, specification);
    }
  }
}

/// Parts of the world, single ranks, and reversed ranks, in turn.
void many_communicators(Context& context) {
  const bool native = context.options().native;
  std::vector<std::unique_ptr<OwnComm>> comms;
  comms.push_back(std::make_unique<OwnComm>());
  comms.push_back(std::make_unique<OwnComm>(context.rank() % 2, context.rank()));
  comms.push_back(std::make_unique<OwnComm>(0, -context.rank()));
  comms.push_back(std::make_unique<OwnComm>(MPI_COMM_SELF));
  std::mt19937 random(11);
  const std::map<Motion, const char*> forced_names = {
      {Motion::bcast, "binomial"}, {Motion::allgather, "bruck"},  {Motion::allgatherv, "ring"},
      {Motion::alltoall, "bruck"}, {Motion::alltoallv, "linear"}, {Motion::alltoallw, "linear"}};
  for (const Motion motion : all_motions) {
    const Forced forced(setting_of(motion), native ? "native" : forced_names.at(motion), native);
    for (int j = 0; j < 5; ++j) {
      for (const auto& comm : comms) {
        // All ranks draw equally often, whatever their part of the world.
        std::mt19937 fork(static_cast<unsigned>(random()));
        check(context, draw(motion, comm->get(), comm->size(), 20 + j, fork), "");
      }
    }
  }
}

/// Calls of other collectives, by Tutti and by the MPI, may come between.
void mixed(Context& context) {
  const bool native = context.options().native;
  const OwnComm comm;
  std::mt19937 random(13);
  for (int j = 0; j < 40 * context.options().effort; ++j) {
    const Motion motion = all_motions[random() % std::size(all_motions)];
    const auto names = specifications(setting_of(motion), native);
    const std::string& name = names[random() % names.size()];
    const Forced forced(setting_of(motion), name, native);
    check(context, draw(motion, comm.get(), comm.size(), 50, random), name);
    const Kind kind = all_kinds[random() % 4];
    const std::vector<int> units(static_cast<std::size_t>(comm.size()), 5);
    const Forced rooted(kind, "linear", native);
    check(context, draw(kind, comm.get(), j % comm.size(), units, random));
  }
}

/// Orders by arrival and trees by arrival, with and without progress hints, among calls that the
/// background thread starts by itself.
void by_arrivals(Context& context) {
  const OwnComm comm;
  constexpr std::pair<Motion, const char*> points[] = {
      {Motion::bcast, "earliest"},
      {Motion::bcast, "binomial:order=arrival"},
      {Motion::bcast, "linear:order=arrival"},
      {Motion::bcast, "BSBN"},
      {Motion::allgather, "BDR"},
      {Motion::alltoallv, "pairwise:runner=background"},
      {Motion::allgather, "ring:order=arrival"},
      {Motion::allgather, "BSLB"},
      {Motion::allgatherv, "gather_bcast:order=arrival"},
      {Motion::alltoall, "pairwise:order=arrival"},
      {Motion::alltoallv, "linear:order=arrival"}};
  std::mt19937 own(static_cast<unsigned>(context.rank()));
  const Forced scatter(Kind::scatter, "BSBN", false);
  for (const bool told : {false, true}) {
    if (told && TUTTI_Arrival_init(comm.get(), 0.5) != MPI_SUCCESS) context.fail("no arrivals");
    std::mt19937 random(3);
    for (const auto& [motion, name] : points) {
      const Forced forced(setting_of(motion), name, false);
      context.expect_empty(forced.error());
      for (int call = 0; call < 6; ++call) {
        usleep(static_cast<unsigned>(own() % 150));
        if (told && TUTTI_Arrival_edge(comm.get()) != MPI_SUCCESS) context.fail("no edge");
        usleep(static_cast<unsigned>(own() % 150));
        check(context, draw(motion, comm.get(), comm.size(), 60, random), name);
        const std::vector<int> units(static_cast<std::size_t>(comm.size()), 30);
        check(context, draw(Kind::scatter, comm.get(), 0, units, random));
      }
    }
  }
  if (TUTTI_Arrival_finalize(comm.get()) != MPI_SUCCESS) context.fail("arrivals do not end");
}

/// A counter that all ranks see.
class SharedCounter {
 public:
  explicit SharedCounter(MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    void* memory = nullptr;
    PMPI_Win_allocate_shared(rank == 0 ? sizeof(std::atomic<long>) : 0, 1, MPI_INFO_NULL, comm,
                             &memory, &window_);
    MPI_Aint size = 0;
    int unit = 0;
    PMPI_Win_shared_query(window_, 0, &size, &unit, &memory);
    value_ = static_cast<std::atomic<long>*>(memory);
    if (rank == 0) value_->store(0);
    PMPI_Barrier(comm);
  }
  ~SharedCounter() { PMPI_Win_free(&window_); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;

  std::atomic<long>& value() { return *value_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::atomic<long>* value_ = nullptr;
};

/// One side of an MPI_Alltoallw whose blocks have types of different sizes and extents.
struct MixedSide {
  std::vector<const Layout*> layouts;
  std::vector<int> counts;
  std::vector<int> places;  ///< in bytes
  std::vector<MPI_Datatype> types;
  int end = 0;  ///< after the last block
};

/// The units depend on both ranks of a block, some are 0, the type on the side as well.
MixedSide mixed_side(int rank, int p, bool sends) {
  MixedSide side;
  for (int other = 0; other < p; ++other) {
    const int from = sends ? rank : other;
    const int to = sends ? other : rank;
    const auto& family = (from + to) % 2 == 0 ? layouts_of_ints() : layouts_of_records();
    const auto turn = static_cast<std::size_t>(from + 2 * to + (sends ? 0 : 1));
    const Layout& layout = family[turn % family.size()];
    const int count = (from + 2 * to) % 4 * layout.per_unit();
    const int place = side.end - static_cast<int>(layout.lowest());
    const auto bytes = static_cast<int>(count * layout.extent() + layout.highest());
    side.layouts.push_back(&layout);
    side.counts.push_back(count);
    side.places.push_back(place);
    side.types.push_back(layout.type());
    side.end = (place + bytes) / 8 * 8 + 8;
  }
  return side;
}

std::string run_mixed(MPI_Comm comm, unsigned salt, bool native) {
  int rank = 0;
  int p = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &p);
  const MixedSide sent = mixed_side(rank, p, true);
  const MixedSide received = mixed_side(rank, p, false);
  Image from(0, sent.end);
  Image to(0, received.end);
  for (int other = 0; other < p; ++other) {
    const auto at = static_cast<std::size_t>(other);
    from.put(*sent.layouts[at], sent.places[at], static_cast<std::size_t>(sent.counts[at]),
             rank * p + other, salt, true);
    to.put(*received.layouts[at], received.places[at],
           static_cast<std::size_t>(received.counts[at]), other * p + rank, salt, false);
  }
  const int code = (native ? PMPI_Alltoallw : TUTTI_Alltoallw)(
      from.address(), sent.counts.data(), sent.places.data(), sent.types.data(), to.address(),
      received.counts.data(), received.places.data(), received.types.data(), comm);
  return (code == MPI_SUCCESS ? "" : "returns " + error_text(code) + "; ") +
         compare("the send buffer", from) + compare("the receive buffer", to);
}

}  // namespace

void check_mixed_types(Context& context, const std::string& level) {
  const bool native = context.options().native;
  const OwnComm comm;
  // On one rank Open MPI 4.1 interprets displacements as extents.
  if (comm.size() == 1) return context.skip("needs 2 ranks");
  for (const std::string& each : specifications("alltoallv", native)) {
    const std::string name = with_level(each, level);
    const Forced forced("alltoallv", name, native);
    context.expect_empty(forced.error());
    for (unsigned call = 1; call < 4; ++call) {
      context.step("alltoallw of different types by " + name);
      context.expect_empty(run_mixed(comm.get(), call, native));
    }
    context.expect_empty(forced.wrongly_ran(comm.get()));
  }
}

void check_barriers(Context& context, const std::string& level) {
  const bool native = context.options().native;
  const OwnComm comm;
  SharedCounter entered(comm.get());
  long before = 0;
  std::vector<std::string> names = specifications("barrier", native);
  if (!native) names.insert(names.end(), {"knomial:k=4", "dissemination:k=3"});
  for (const std::string& each : names) {
    const std::string name = with_level(each, level);
    const Forced forced("barrier", name, native);
    context.step("barrier " + name);
    context.expect_empty(forced.error());
    for (int j = 0; j < comm.size(); ++j) {
      if (comm.rank() == j) usleep(2000);  // a rank that does not wait shows here
      entered.value().fetch_add(1);
      const int code = native ? PMPI_Barrier(comm.get()) : TUTTI_Barrier(comm.get());
      before += comm.size();
      if (code != MPI_SUCCESS) context.fail(name + " returns " + error_text(code));
      if (entered.value().load() < before) context.fail(name + " lets a rank go too early");
    }
    context.expect_empty(forced.wrongly_ran(comm.get()));
  }
  PMPI_Barrier(comm.get());
}

void add_movements(Suite& suite) {
  for (const Motion motion : all_motions) {
    const std::string name = name_of(motion);
    suite.add("sweep " + name, [motion](Context& context) { sweep(context, motion); });
    suite.add("repeat " + name, [motion](Context& context) { repeat(context, motion); });
  }
  suite.add("movements: many communicators", many_communicators);
  suite.add("movements: mixed with others", mixed);
  suite.add_tutti_only("movements: by arrivals", by_arrivals);
  suite.add("movements: mixed types", [](Context& context) { check_mixed_types(context, ""); });
  suite.add("barrier", [](Context& context) { check_barriers(context, ""); });
}

}  // namespace tutti::test
