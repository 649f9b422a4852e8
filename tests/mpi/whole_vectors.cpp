/// The program's own operations get whole vectors, unless TUTTI_SPLIT_USER_OPS is on.
#include <tutti/tutti.h>

#include <algorithm>
#include <climits>
#include <numeric>

#include "exchange.hpp"
#include "harness.hpp"
#include "reduction.hpp"

namespace tutti::test {
namespace {

/// The elements of the shortest vector that an operation got on this rank.
int shortest = INT_MAX;

void add(void* in, void* inout, int* length, MPI_Datatype*) {
  shortest = std::min(shortest, *length);
  const auto* left = static_cast<const int*>(in);
  auto* right = static_cast<int*>(inout);
  for (int i = 0; i < *length; ++i) right[i] += left[i];
}

/// Associative, but not commutative: the result is the value of the first rank.
void take_left(void* in, void* inout, int* length, MPI_Datatype*) {
  shortest = std::min(shortest, *length);
  std::copy_n(static_cast<const int*>(in), *length, static_cast<int*>(inout));
}

class OwnOperation {
 public:
  explicit OwnOperation(bool commutes) : commutes_(commutes) {
    PMPI_Op_create(commutes ? add : take_left, commutes ? 1 : 0, &op_);
  }
  ~OwnOperation() { PMPI_Op_free(&op_); }
  OwnOperation(const OwnOperation&) = delete;
  OwnOperation& operator=(const OwnOperation&) = delete;

  [[nodiscard]] MPI_Op op() const { return op_; }
  [[nodiscard]] bool commutes() const { return commutes_; }
  /// The result over ranks 0 to n - 1 of element `index`, to which each contributes its rank +
  /// index.
  [[nodiscard]] int result(int n, int index) const {
    return commutes_ ? n * (n - 1) / 2 + n * index : index;
  }

 private:
  bool commutes_;
  MPI_Op op_ = MPI_OP_NULL;
};

/// Makes one call, and sets `shortest`. The text is the fault of the result.
std::string call(const std::string& collective, const OwnComm& comm, const OwnOperation& operation,
                 int count, bool native) {
  const int p = comm.size();
  const bool scatters = collective.starts_with("reduce_scatter");
  std::vector<int> send(static_cast<std::size_t>(count) * static_cast<std::size_t>(p));
  std::iota(send.begin(), send.end(), comm.rank());
  std::vector<int> receive(send.size(), -1);
  const std::vector<int> counts(static_cast<std::size_t>(p), count);
  const MPI_Op op = operation.op();
  int code = MPI_SUCCESS;
  shortest = INT_MAX;
  if (collective == "reduce") {
    code = (native ? PMPI_Reduce : TUTTI_Reduce)(send.data(), receive.data(), count, MPI_INT, op,
                                                 p - 1, comm.get());
  } else if (collective == "allreduce") {
    code = (native ? PMPI_Allreduce : TUTTI_Allreduce)(send.data(), receive.data(), count, MPI_INT,
                                                       op, comm.get());
  } else if (is_scan(collective)) {
    const auto scan = collective == "scan" ? (native ? PMPI_Scan : TUTTI_Scan)
                                           : (native ? PMPI_Exscan : TUTTI_Exscan);
    code = scan(send.data(), receive.data(), count, MPI_INT, op, comm.get());
  } else if (collective == "reduce_scatter") {
    code = (native ? PMPI_Reduce_scatter : TUTTI_Reduce_scatter)(
        send.data(), receive.data(), counts.data(), MPI_INT, op, comm.get());
  } else {
    code = (native ? PMPI_Reduce_scatter_block : TUTTI_Reduce_scatter_block)(
        send.data(), receive.data(), count, MPI_INT, op, comm.get());
  }
  if (code != MPI_SUCCESS) return "returns " + error_text(code);
  if (collective == "reduce" && comm.rank() != p - 1) return "";
  const int ranks = !is_scan(collective) ? p : comm.rank() + (collective == "scan" ? 1 : 0);
  if (ranks == 0) return "";
  for (int i = 0; i < count; ++i) {
    const int expected = operation.result(ranks, i + (scatters ? comm.rank() * count : 0));
    if (receive[static_cast<std::size_t>(i)] != expected) return "element " + std::to_string(i);
  }
  return "";
}

/// Every algorithm, flat and, with several nodes, hierarchical.
std::vector<std::string> specifications(const char* collective, bool nodes) {
  std::vector<std::string> all = algorithms(collective);
  if (std::string(collective) == "reduce") all.emplace_back("chain:parts=3");
  if (!nodes) return all;
  for (std::string& name : all) name = with_level(name, "level=node,leaders=2");
  all.emplace_back("hierarchical(native)");
  return all;
}

/// The MPI's own algorithms may split vectors.
void check_whole(Context& context, const char* collective, const OwnComm& comm,
                 const std::string& specification, bool commutes) {
  const OwnOperation operation(commutes);
  const bool nodes = !context.options().nodes.empty() && !is_scan(collective);
  for (const int count : {1, 64, 40000}) {
    context.step(specification + " of " + collective + ", " + std::to_string(count) +
                 (commutes ? "" : ", in sequence"));
    context.expect_empty(call(collective, comm, operation, count, true));
    const int by_native = shortest;
    const Forced forced(collective, specification, false);
    context.expect_empty(forced.error());
    context.expect_empty(call(collective, comm, operation, count, false));
    const std::string ran = forced.last(comm.get());
    const bool scatters = std::string(collective).starts_with("reduce_scatter");
    const int vector = scatters ? count * comm.size() : count;
    const bool is_native = ran.starts_with("native:");
    if (shortest < (is_native ? std::min(by_native, vector) : vector)) {
      context.fail("called with " + std::to_string(shortest) + " of " + std::to_string(vector));
    }
    const bool is_other = !ran.starts_with(specification.substr(0, specification.find(':')));
    const bool is_said = ran.find("operation") != std::string::npos;
    if (ran.starts_with("hierarchical(") || is_said != (nodes || is_other)) {
      context.fail("ran \"" + ran + "\"");
    }
  }
}

void always(Context& context, const char* collective) {
  const OwnComm comm;
  if (comm.size() == 1) return context.skip("needs 2 ranks");
  for (const std::string& specification :
       specifications(collective, !context.options().nodes.empty() && !is_scan(collective))) {
    for (const bool commutes : {true, false}) {
      check_whole(context, collective, comm, specification, commutes);
    }
  }
}

/// Predefined operations may get parts of vectors.
void but_not_mpis(Context& context) {
  const OwnComm comm;
  const bool nodes = !context.options().nodes.empty();
  const std::string specification = nodes ? "hierarchical(ring,leaders=1)" : "ring";
  const Forced forced("allreduce", specification, false);
  std::vector<int> send(64, comm.rank());
  std::vector<int> receive(64, -1);
  const OwnOperation operation(true);
  context.expect_empty(call("allreduce", comm, operation, 64, false));
  TUTTI_Allreduce(send.data(), receive.data(), 64, MPI_INT, MPI_SUM, comm.get());
  if (receive[63] != comm.size() * (comm.size() - 1) / 2) context.fail("sum");
  const std::string ran = forced.last(comm.get());
  if (!ran.starts_with(specification + ": requested")) {
    context.fail("ran \"" + ran + "\"");
  }
}

void in_shared_results(Context& context) {
  const OwnComm comm;
  const OwnOperation operation(true);
  constexpr int count = 5000;
  std::vector<int> send(count);
  std::iota(send.begin(), send.end(), comm.rank());
  void* result = nullptr;
  shortest = INT_MAX;
  const int code = TUTTI_Allreduce_shared(send.data(), count, MPI_INT, operation.op(), comm.get(),
                                          TUTTI_SHARED_READ_ONLY, &result);
  if (code != MPI_SUCCESS) return context.fail("returns " + error_text(code));
  const auto* sums = static_cast<const int*>(result);
  for (int i = 0; i < count; ++i) {
    if (sums[i] != operation.result(comm.size(), i)) context.fail("sum " + std::to_string(i));
  }
  if (shortest < count) context.fail("called with " + std::to_string(shortest));
  TUTTI_Shared_free(result);
}

}  // namespace

void add_whole_vectors(Suite& suite) {
  for (const char* collective : all_reductions) {
    suite.add(std::string("whole vectors: ") + collective,
              [collective](Context& context) { always(context, collective); });
  }
  suite.add("whole vectors: not for MPI's operations", but_not_mpis);
  suite.add_tutti_only("whole vectors: shared results", in_shared_results);
}

void check_parts(Context& context) {
  const OwnComm comm;
  if (comm.size() == 1) return context.skip("needs 2 ranks");
  const bool nodes = !context.options().nodes.empty();
  const OwnOperation operation(true);
  const Forced forced("allreduce", nodes ? "hierarchical(native)" : "ring", false);
  context.expect_empty(call("allreduce", comm, operation, 64, false));
  // A rank that is alone on its node has no vector to split.
  const int cut_here = shortest < 64 ? 1 : 0;
  int is_cut = 0;
  PMPI_Allreduce(&cut_here, &is_cut, 1, MPI_INT, MPI_MAX, comm.get());
  const bool has_company =
      forced.last(comm.get()).find("every node has a single rank") == std::string::npos;
  if (has_company && is_cut == 0) context.fail("the vector was not cut");
}

void check_reused_operations(Context& context) {
  const bool native = context.options().native;
  const OwnComm comm;
  for (const char* name : {"ring", "recursive_doubling", "auto"}) {
    const Forced forced("allreduce", name, native);
    context.expect_empty(forced.error());
    for (int round = 0; round < 6; ++round) {
      const OwnOperation operation(round % 2 == 0);
      context.step(std::string(name) + ", round " + std::to_string(round));
      context.expect_empty(call("allreduce", comm, operation, 64, native));
      const std::string ran = forced.last(comm.get());
      const bool is_ring = ran.starts_with("ring");
      if (!native && std::string(name) == "ring" && is_ring != operation.commutes()) {
        context.fail("ran \"" + ran + "\"");
      }
    }
  }
}

}  // namespace tutti::test
