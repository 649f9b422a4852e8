/// Bad arguments of bcast, allgather(v) and alltoall(v, w) return the MPI's own error, and later
/// calls work.
#include <array>

#include "harness.hpp"
#include "movement.hpp"

namespace tutti::test {
namespace {

enum class Fault { none, send_count, send_type, receive_count, receive_type, root };
constexpr std::array<const char*, 6> fault_names = {"none",          "send count",   "send type",
                                                    "receive count", "receive type", "root"};

/// The arguments of a call with a few ints; a case may make one of them wrong.
struct Spoilt {
  explicit Spoilt(int p) : blocks(static_cast<std::size_t>(p), 1), displs(blocks), bytes(blocks) {
    for (int i = 0; i < p; ++i) {
      displs[static_cast<std::size_t>(i)] = i;
      bytes[static_cast<std::size_t>(i)] = i * 4;
    }
    sent.assign(static_cast<std::size_t>(p), 7);
    received.assign(static_cast<std::size_t>(p), -1);
  }

  int call(Motion motion, Fault fault, MPI_Comm comm, bool native) {
    const int sc = fault == Fault::send_count ? -3 : 1;
    const int rc = fault == Fault::receive_count ? -3 : 1;
    const MPI_Datatype st = fault == Fault::send_type ? MPI_DATATYPE_NULL : MPI_INT;
    const MPI_Datatype rt = fault == Fault::receive_type ? MPI_DATATYPE_NULL : MPI_INT;
    const std::vector<int> scs(blocks.size(), sc);
    const std::vector<int> rcs(blocks.size(), rc);
    const std::vector<MPI_Datatype> sts(blocks.size(), st);
    const std::vector<MPI_Datatype> rts(blocks.size(), rt);
    const int root = fault == Fault::root ? 1000 : 0;
    switch (motion) {
      case Motion::bcast:
        return (native ? PMPI_Bcast : TUTTI_Bcast)(sent.data(), rc, rt, root, comm);
      case Motion::allgather:
        return (native ? PMPI_Allgather : TUTTI_Allgather)(sent.data(), sc, st, received.data(), rc,
                                                           rt, comm);
      case Motion::allgatherv:
        return (native ? PMPI_Allgatherv : TUTTI_Allgatherv)(sent.data(), sc, st, received.data(),
                                                             rcs.data(), displs.data(), rt, comm);
      case Motion::alltoall:
        return (native ? PMPI_Alltoall : TUTTI_Alltoall)(sent.data(), sc, st, received.data(), rc,
                                                         rt, comm);
      case Motion::alltoallv:
        return (native ? PMPI_Alltoallv : TUTTI_Alltoallv)(sent.data(), scs.data(), displs.data(),
                                                           st, received.data(), rcs.data(),
                                                           displs.data(), rt, comm);
      case Motion::alltoallw:
        return (native ? PMPI_Alltoallw : TUTTI_Alltoallw)(sent.data(), scs.data(), bytes.data(),
                                                           sts.data(), received.data(), rcs.data(),
                                                           bytes.data(), rts.data(), comm);
    }
    return MPI_ERR_INTERN;
  }

  std::vector<int> blocks;
  std::vector<int> displs;
  std::vector<int> bytes;
  std::vector<int> sent;
  std::vector<int> received;
};

bool can_happen(Motion motion, Fault fault) {
  if (fault == Fault::root) return motion == Motion::bcast;
  // Open MPI does not check these arguments, and copies.
  if (fault == Fault::receive_count && motion == Motion::allgatherv) return false;
  return motion != Motion::bcast || fault == Fault::receive_count || fault == Fault::receive_type;
}

/// A good call after a bad one.
void expect_good(Context& context, Motion motion, MPI_Comm comm, int p) {
  std::mt19937 random(5);
  for (int j = 0; j < 3; ++j) {
    Movement m = draw(motion, comm, p, 9, random);
    m.sent = m.received = layouts_of_ints().data();
    context.expect_empty(run(m, false));
  }
}

void everywhere(Context& context, Motion motion) {
  const OwnComm comm;
  for (const std::string& name : {std::string("native"), std::string("linear")}) {
    const Forced forced(setting_of(motion), name, false);
    for (const Fault fault : {Fault::send_count, Fault::send_type, Fault::receive_count,
                              Fault::receive_type, Fault::root}) {
      if (!can_happen(motion, fault)) continue;
      context.step(name + " with a bad " + fault_names[static_cast<std::size_t>(fault)]);
      Spoilt arguments(comm.size());
      const int expected = class_of(arguments.call(motion, fault, comm.get(), true));
      const int found = class_of(arguments.call(motion, fault, comm.get(), false));
      if (found != expected) {
        context.fail("returns " + error_text(found) + " instead of " + error_text(expected));
      }
      expect_good(context, motion, comm.get(), comm.size());
    }
  }
}

}  // namespace

void add_bad_movements(Suite& suite) {
  for (const Motion motion : all_motions) {
    suite.add_tutti_only(std::string("bad arguments, ") + name_of(motion),
                         [motion](Context& context) { everywhere(context, motion); });
  }
}

}  // namespace tutti::test
