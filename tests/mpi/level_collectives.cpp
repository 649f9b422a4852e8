/// All other collectives through the memory of nodes, compared with the MPI's own.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>

#include "exchange.hpp"
#include "harness.hpp"

namespace tutti::test {
namespace {

using Numbers = std::vector<int>;

/// What a rank has for the others: every number is told apart.
Numbers numbers(std::size_t count, int rank, unsigned salt) {
  Numbers made;
  made.reserve(count + 1);  // never null, which an empty receive buffer may be: no aliases
  made.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i] =
        static_cast<int>(i * 64 + static_cast<std::size_t>(rank)) + static_cast<int>(salt) * 7;
  }
  return made;
}

/// Sets a specification for as long as it lives.
class Set {
 public:
  Set(const char* collective, const char* specification) : collective_(collective) {
    TUTTI_Algorithm_set(collective, specification, nullptr, nullptr);
  }
  ~Set() { TUTTI_Algorithm_set(collective_, "auto", nullptr, nullptr); }
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;
  [[nodiscard]] bool ran(MPI_Comm comm) const {
    std::array<char, 200> text{};
    int length = static_cast<int>(text.size());
    TUTTI_Algorithm_last(comm, collective_, text.data(), &length);
    return std::string(text.data()).find("level=node") != std::string::npos;
  }

 private:
  const char* collective_;
};

/// One call, by Tutti or by the MPI, into a result that starts out as given.
using Call = std::function<void(bool tutti, Numbers& result)>;

void compare(Context& context, const std::string& what, Numbers result, const Call& call) {
  context.step(what);
  Numbers expected = result;
  call(false, expected);
  call(true, result);
  if (result != expected) context.fail("the result is not the MPI's");
}

struct Shape {
  MPI_Comm comm;
  int p;
  int rank;
  int each;  ///< numbers of a block
  unsigned salt;
  bool in_place;
};

std::size_t size(int count) { return static_cast<std::size_t>(count); }

Numbers offsets(const Numbers& counts, int gap) {
  Numbers at(counts.size());
  for (std::size_t i = 1; i < at.size(); ++i) at[i] = at[i - 1] + counts[i - 1] + gap;
  return at;
}

void allgathers(Context& context, const Shape& s) {
  const Numbers own = numbers(size(s.each), s.rank, s.salt);
  Numbers all(size(s.each * s.p), -1);
  if (s.in_place) std::copy(own.begin(), own.end(), all.begin() + s.rank * s.each);
  const void* send = s.in_place ? MPI_IN_PLACE : own.data();
  compare(context, "allgather", all, [&](bool tutti, Numbers& result) {
    (tutti ? TUTTI_Allgather : PMPI_Allgather)(send, s.each, MPI_INT, result.data(), s.each,
                                               MPI_INT, s.comm);
  });
  Numbers counts(size(s.p));
  for (int i = 0; i < s.p; ++i) counts[size(i)] = (i * 5 + static_cast<int>(s.salt)) % 4 * s.each;
  const Numbers at = offsets(counts, 2);
  const int mine = counts[size(s.rank)];
  const Numbers block = numbers(size(mine), s.rank, s.salt);
  all.assign(size(at.back() + counts.back()), -1);
  if (s.in_place) std::copy(block.begin(), block.end(), all.begin() + at[size(s.rank)]);
  send = s.in_place ? MPI_IN_PLACE : block.data();
  compare(context, "allgatherv", all, [&](bool tutti, Numbers& result) {
    (tutti ? TUTTI_Allgatherv : PMPI_Allgatherv)(send, mine, MPI_INT, result.data(), counts.data(),
                                                 at.data(), MPI_INT, s.comm);
  });
}

void alltoalls(Context& context, const Shape& s) {
  Numbers given = numbers(size(s.each * s.p), s.rank, s.salt);
  const void* send = s.in_place ? MPI_IN_PLACE : given.data();
  compare(context, "alltoall", s.in_place ? given : Numbers(given.size(), -1),
          [&](bool tutti, Numbers& result) {
            (tutti ? TUTTI_Alltoall : PMPI_Alltoall)(send, s.each, MPI_INT, result.data(), s.each,
                                                     MPI_INT, s.comm);
          });
  Numbers counts(size(s.p));
  const auto between = [&s](int a, int b) { return (a + b + a * b) % 3 * s.each; };
  for (int i = 0; i < s.p; ++i) counts[size(i)] = between(s.rank, i);
  const Numbers at = offsets(counts, 1);
  given = numbers(size(at.back() + counts.back()), s.rank, s.salt);
  send = s.in_place ? MPI_IN_PLACE : given.data();
  compare(context, "alltoallv", s.in_place ? given : Numbers(given.size(), -1),
          [&](bool tutti, Numbers& result) {
            (tutti ? TUTTI_Alltoallv : PMPI_Alltoallv)(send, counts.data(), at.data(), MPI_INT,
                                                       result.data(), counts.data(), at.data(),
                                                       MPI_INT, s.comm);
          });
}

void bcast_and_barrier(Context& context, const Shape& s) {
  const int root = static_cast<int>(s.salt) % s.p;
  Numbers vector(size(3 * s.each), -1);
  if (s.rank == root) vector = numbers(vector.size(), root, s.salt);
  compare(context, "bcast", vector, [&](bool tutti, Numbers& result) {
    (tutti ? TUTTI_Bcast : PMPI_Bcast)(result.data(), 3 * s.each, MPI_INT, root, s.comm);
  });
  // Every second number, so that the type has gaps.
  MPI_Datatype sparse = MPI_DATATYPE_NULL;
  PMPI_Type_vector(s.each, 1, 2, MPI_INT, &sparse);
  PMPI_Type_commit(&sparse);
  compare(context, "bcast of a sparse type", vector, [&](bool tutti, Numbers& result) {
    (tutti ? TUTTI_Bcast : PMPI_Bcast)(result.data(), 1, sparse, root, s.comm);
  });
  PMPI_Type_free(&sparse);
  TUTTI_Barrier(s.comm);
}

void keep_first(void* left, void* right, int* count, MPI_Datatype*) {
  std::copy_n(static_cast<const int*>(left), *count, static_cast<int*>(right));
}

void reductions(Context& context, const Shape& s, MPI_Op op) {
  const int count = 2 * s.each;
  const int root = static_cast<int>(s.salt) % s.p;
  const Numbers given = numbers(size(count), s.rank, s.salt);
  const void* send = s.in_place ? MPI_IN_PLACE : given.data();
  const Numbers before = s.in_place ? given : Numbers(given.size(), -1);
  compare(context, "allreduce", before, [&](bool tutti, Numbers& result) {
    (tutti ? TUTTI_Allreduce : PMPI_Allreduce)(send, result.data(), count, MPI_INT, op, s.comm);
  });
  const bool at_root = s.rank == root;
  // Not by PMPI_Reduce: MPICH 4.0 reads MPI_IN_PLACE as an address where the operation does not
  // commute.
  compare(context, "reduce", before, [&](bool tutti, Numbers& result) {
    if (tutti) {
      TUTTI_Reduce(at_root ? send : given.data(), at_root ? result.data() : nullptr, count, MPI_INT,
                   op, root, s.comm);
      return;
    }
    Numbers reduced(given.size());
    PMPI_Allreduce(given.data(), reduced.data(), count, MPI_INT, op, s.comm);
    if (at_root) result = reduced;
  });
  const Numbers all = numbers(size(count * s.p), s.rank, s.salt);
  send = s.in_place ? MPI_IN_PLACE : all.data();
  // What lies behind the result in place is not said.
  const auto scatter = [&](const std::string& what, int mine, const auto& call) {
    compare(context, what, Numbers(size(mine), -1), [&](bool tutti, Numbers& result) {
      Numbers buffer = s.in_place ? all : Numbers(all.size(), -1);
      call(tutti, buffer);
      std::copy_n(buffer.begin(), mine, result.begin());
    });
  };
  scatter("reduce_scatter_block", count, [&](bool tutti, Numbers& result) {
    (tutti ? TUTTI_Reduce_scatter_block : PMPI_Reduce_scatter_block)(send, result.data(), count,
                                                                     MPI_INT, op, s.comm);
  });
  Numbers counts(size(s.p));
  for (int i = 0; i < s.p; ++i)
    counts[size(i)] = (i + static_cast<int>(s.salt)) % 3 == 0 ? 0 : count;
  scatter("reduce_scatter", counts[size(s.rank)], [&](bool tutti, Numbers& result) {
    (tutti ? TUTTI_Reduce_scatter : PMPI_Reduce_scatter)(send, result.data(), counts.data(),
                                                         MPI_INT, op, s.comm);
  });
}

constexpr std::array reducing = {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block"};

/// Sums, and an operation that does not commute: it keeps the left one of two numbers.
void reducing_tour(Context& context, MPI_Comm comm, const std::vector<int>& sizes) {
  int p = 0;
  int rank = 0;
  PMPI_Comm_size(comm, &p);
  PMPI_Comm_rank(comm, &rank);
  MPI_Op first = MPI_OP_NULL;
  PMPI_Op_create(keep_first, 0, &first);
  unsigned salt = 0;
  for (const char* specification : {"native:level=node", "native:level=node,leaders=2"}) {
    std::vector<std::unique_ptr<Set>> set;
    for (const char* name : reducing) set.push_back(std::make_unique<Set>(name, specification));
    for (const int each : sizes) {
      for (const bool in_place : {false, true}) {
        reductions(context, {comm, p, rank, each, ++salt, in_place}, MPI_SUM);
        reductions(context, {comm, p, rank, each, ++salt, in_place}, first);
      }
    }
    for (const auto& one : set) {
      if (!one->ran(comm)) context.fail("the level was not used");
    }
  }
  PMPI_Op_free(&first);
}

/// The two numbers of a pair, the second of which lies behind a gap and before another.
constexpr int second = 2;
constexpr int extent = 4;

void add_pairs(void* left, void* right, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) {
    for (const int at : {i * extent, i * extent + second}) {
      static_cast<int*>(right)[at] += static_cast<const int*>(left)[at];
    }
  }
}

/// Sums of elements with gaps, where the program has numbers of its own.
void derived(Context& context, const Shape& s, MPI_Datatype pair, MPI_Op op) {
  const int root = static_cast<int>(s.salt) % s.p;
  const Numbers given = numbers(size(extent * s.each * s.p), s.rank, s.salt);
  const void* send = s.in_place ? MPI_IN_PLACE : given.data();
  const Numbers before = s.in_place ? given : Numbers(given.size(), -1);
  compare(context, "allreduce of pairs", before, [&](bool tutti, Numbers& result) {
    (tutti ? TUTTI_Allreduce : PMPI_Allreduce)(send, result.data(), s.each, pair, op, s.comm);
  });
  compare(context, "reduce of pairs", before, [&](bool tutti, Numbers& result) {
    const bool at_root = s.rank == root;
    if (tutti) {
      TUTTI_Reduce(at_root ? send : given.data(), at_root ? result.data() : nullptr, s.each, pair,
                   op, root, s.comm);
      return;
    }
    Numbers reduced = result;  // not by PMPI_Reduce, see above
    PMPI_Allreduce(given.data(), reduced.data(), s.each, pair, op, s.comm);
    if (at_root) result = reduced;
  });
  if (s.in_place) return;  // what lies behind the result is not said
  const Numbers counts(size(s.p), s.each);
  compare(context, "reduce_scatter of pairs", before, [&](bool tutti, Numbers& result) {
    (tutti ? TUTTI_Reduce_scatter : PMPI_Reduce_scatter)(send, result.data(), counts.data(), pair,
                                                         op, s.comm);
  });
}

void derived_tour(Context& context, MPI_Comm comm, const std::vector<int>& sizes) {
  int p = 0;
  int rank = 0;
  PMPI_Comm_size(comm, &p);
  PMPI_Comm_rank(comm, &rank);
  MPI_Op sum = MPI_OP_NULL;
  PMPI_Op_create(add_pairs, 1, &sum);
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  PMPI_Type_vector(2, 1, second, MPI_INT, &two);
  PMPI_Type_create_resized(two, 0, extent * static_cast<MPI_Aint>(sizeof(int)), &pair);
  PMPI_Type_commit(&pair);
  unsigned salt = 0;
  std::vector<std::unique_ptr<Set>> set;
  for (const char* name : {"reduce", "allreduce", "reduce_scatter"}) {
    set.push_back(std::make_unique<Set>(name, "native:level=node,leaders=2"));
  }
  for (const int each : sizes) {
    for (const bool in_place : {false, true}) {
      derived(context, {comm, p, rank, each, ++salt, in_place}, pair, sum);
    }
  }
  for (const auto& one : set) {
    if (!one->ran(comm)) context.fail("the level was not used");
  }
  PMPI_Type_free(&pair);
  PMPI_Type_free(&two);
  PMPI_Op_free(&sum);
}

constexpr std::array collectives = {"allgather", "allgatherv", "alltoall",
                                    "alltoallv", "bcast",      "barrier"};

void tour(Context& context, MPI_Comm comm, const std::vector<int>& sizes) {
  int p = 0;
  int rank = 0;
  PMPI_Comm_size(comm, &p);
  PMPI_Comm_rank(comm, &rank);
  unsigned salt = 0;
  for (const char* specification :
       {"native:level=node", "native:level=node,leaders=2", "linear:level=node,leaders=3"}) {
    std::vector<std::unique_ptr<Set>> set;
    for (const char* name : collectives) set.push_back(std::make_unique<Set>(name, specification));
    for (const int each : sizes) {
      for (const bool in_place : {false, true}) {
        const Shape shape{comm, p, rank, each, ++salt, in_place};
        allgathers(context, shape);
        alltoalls(context, shape);
        bcast_and_barrier(context, shape);
      }
    }
    for (const auto& one : set) {
      if (!one->ran(comm)) context.fail("the level was not used");
    }
  }
}

}  // namespace

void add_level_collectives(Suite& suite) {
  suite.add("levels, other collectives", [](Context& context) {
    const OwnComm comm;
    tour(context, comm.get(), {0, 1, 33, 600});
  });
  suite.add("levels, reductions", [](Context& context) {
    const OwnComm comm;
    reducing_tour(context, comm.get(), {0, 1, 33, 6000});
    const OwnComm dealt(0, context.rank() * 7 % 11 * context.size() + context.rank());
    reducing_tour(context, dealt.get(), {5});
  });
  suite.add("levels, reductions of derived types", [](Context& context) {
    const OwnComm comm;
    derived_tour(context, comm.get(), {0, 1, 33, 3000});
  });
  // Beyond the node memory of --nodes.
  suite.add("levels, other collectives in chunks", [](Context& context) {
    const OwnComm comm;
    tour(context, comm.get(), {9000});
  });
  suite.add("levels, other collectives, other mappings", [](Context& context) {
    const OwnComm dealt(0, context.rank() * 7 % 11 * context.size() + context.rank());
    tour(context, dealt.get(), {5});
    tour(context, MPI_COMM_SELF, {5});
    const OwnComm half(context.rank() % 2, context.rank());
    tour(context, half.get(), {5});
  });
}

}  // namespace tutti::test
