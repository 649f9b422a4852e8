/// Tests buffers of hierarchical calls: missing, of unusual types, and in GPU memory, which only
/// the MPI may access.
#include <tutti/tutti.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "device.hpp"
#include "faulty.hpp"
#include "run/mpi/types.hpp"

namespace {

using tutti::test::class_of;
using tutti::test::copies;
using tutti::test::Device;
using tutti::test::device;
using tutti::test::Faulty;
using tutti::test::know_device;
using tutti::test::OwnWorld;
using tutti::test::spoils;
using Numbers = std::vector<int>;

int rank = 0;
int p = 0;
long failures = 0;
std::string now;

void begin_step(const std::string& step) {
  now = step;
  waits_in(step.c_str());
}

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("rank %d: %s: %s\n", rank, now.c_str(), what.c_str());
}

/// Sets a specification for its lifetime.
class Set : tutti::NotCopied {
 public:
  Set(const char* collective, const std::string& specification) : collective_(collective) {
    const int code = TUTTI_Algorithm_set(collective, specification.c_str(), nullptr, nullptr);
    expect(code == MPI_SUCCESS, specification + " is no specification of " + collective);
  }
  ~Set() { TUTTI_Algorithm_set(collective_, "auto", nullptr, nullptr); }

 private:
  const char* collective_;
};

/// The rank that passes null gets the error; it contributes zeros.
void null_buffers() {
  const std::string nodes = "hierarchical(native)";
  const Set allgather("allgather", nodes);
  const Set alltoallv("alltoallv", nodes);
  const Set bcast("bcast", nodes);
  for (int bad = 0; bad < p; ++bad) {
    const OwnWorld comm;
    const bool mine = rank == bad;
    begin_step("allgather from nowhere at " + std::to_string(bad));
    const int own = rank + 1;
    Numbers all(static_cast<std::size_t>(p), -1);
    int code = TUTTI_Allgather(mine ? nullptr : &own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    expect(class_of(code) == (mine ? MPI_ERR_BUFFER : MPI_SUCCESS), "the error");
    for (int i = 0; i < p && !mine; ++i) {
      expect(all[static_cast<std::size_t>(i)] == (i == bad ? 0 : i + 1), "the result");
    }
    begin_step("alltoallv to nowhere at " + std::to_string(bad));
    const Numbers counts(static_cast<std::size_t>(p), 1);
    Numbers at(static_cast<std::size_t>(p));
    std::iota(at.begin(), at.end(), 0);
    const Numbers given(static_cast<std::size_t>(p), own);
    all.assign(static_cast<std::size_t>(p), -1);
    code = TUTTI_Alltoallv(given.data(), counts.data(), at.data(), MPI_INT,
                           mine ? nullptr : all.data(), counts.data(), at.data(), MPI_INT, comm);
    expect(class_of(code) == (mine ? MPI_ERR_BUFFER : MPI_SUCCESS), "the error");
    for (int i = 0; i < p && !mine; ++i) {
      expect(all[static_cast<std::size_t>(i)] == i + 1, "the result");
    }
    begin_step("bcast from nowhere by " + std::to_string(bad));
    int value = 7;
    code = TUTTI_Bcast(mine ? nullptr : &value, 1, MPI_INT, bad, comm);
    expect(class_of(code) == (mine ? MPI_ERR_BUFFER : MPI_SUCCESS), "the error");
    code = TUTTI_Bcast(nullptr, 0, MPI_INT, bad, comm);
    expect(code == MPI_SUCCESS, "nothing from nowhere is no error");
  }
}

/// Types of empty blocks of MPI_Alltoallw do not matter: the other blocks are used in place.
void empty_blocks() {
  begin_step("alltoallw with empty blocks");
  const Set nodes("alltoallv", "hierarchical(native)");
  const OwnWorld comm;
  const auto n = static_cast<std::size_t>(p);
  Numbers counts(n, 2);
  counts[static_cast<std::size_t>(rank)] = 0;
  Numbers at(n);
  for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<int>(i * 2 * sizeof(int));
  std::vector<MPI_Datatype> types(n, MPI_INT);
  types[static_cast<std::size_t>(rank)] = MPI_DATATYPE_NULL;
  const Numbers given(2 * n, rank);
  Numbers received(2 * n, -1);
  copies = 0;
  const Faulty faulty(know_device);
  const int code = TUTTI_Alltoallw(given.data(), counts.data(), at.data(), types.data(),
                                   received.data(), counts.data(), at.data(), types.data(), comm);
  expect(code == MPI_SUCCESS, "the error");
  expect(copies == 0, "blocks were copied that can be used where they lie");
  for (int i = 0; i < 2 * p; ++i) {
    const int from = i / 2;
    expect(received[static_cast<std::size_t>(i)] == (from == rank ? -1 : from), "the result");
  }
}

/// A buffer on the device if `on`, else in host memory.
class Buffer {
 public:
  Buffer(bool on, std::size_t offset, Numbers numbers)
      : on_(on), offset_(offset), host_(std::move(numbers)) {
    if (on_) std::memcpy(device.shadow + offset_, host_.data(), host_.size() * sizeof(int));
  }
  [[nodiscard]] int* get() {
    return on_ ? reinterpret_cast<int*>(device.address + offset_) : host_.data();
  }
  [[nodiscard]] Numbers numbers() const {
    Numbers read = host_;
    if (on_) std::memcpy(read.data(), device.shadow + offset_, host_.size() * sizeof(int));
    return read;
  }

 private:
  bool on_;
  std::size_t offset_;
  Numbers host_;
};

/// Makes one call by Tutti and by the MPI, with `given` and `result` numbers, and compares the
/// results. Each buffer is on the device in turn, at all ranks or at every other one.
using Call = std::function<int(bool tutti, const void* given, void* result, MPI_Comm comm)>;

void compare(const std::string& what, std::size_t given, std::size_t result, const Call& call,
             MPI_Comm comm) {
  Numbers numbers(given);
  for (std::size_t i = 0; i < given; ++i) numbers[i] = static_cast<int>(i) * 10 + rank;
  Numbers expected(result, -1);
  call(false, numbers.data(), expected.data(), comm);
  // Several rounds, because repeated calls run another way.
  for (int round = 0; round < 6; ++round) {
    begin_step(what + ", round " + std::to_string(round));
    const bool here = round < 2 || rank % 2 == round % 2;
    Buffer from(here && round != 2, 0, numbers);
    Buffer to(here && round != 3, Device::bytes / 2, Numbers(result, -1));
    const Faulty faulty(know_device);
    const int code = call(true, from.get(), to.get(), comm);
    expect(code == MPI_SUCCESS, "the error");
    expect(to.numbers() == expected, "the result");
  }
}

/// Compares all collectives, by the specification of their kind.
void on_device(const std::string& movement, const std::string& reduction) {
  const OwnWorld comm;
  constexpr int each = 5;
  const auto n = static_cast<std::size_t>(p);
  const Numbers counts(n, each);
  Numbers at(n);
  for (std::size_t i = 0; i < n; ++i) at[n - 1 - i] = static_cast<int>(i) * each;  // scattered
  const auto run = [&](const char* name, const std::string& specification, std::size_t given,
                       std::size_t result, const Call& call) {
    const Set set(name, specification);
    compare(std::string(name) + " by " + specification, given, result, call, comm);
  };
  run("allgather", movement, each, n * each,
      [&](bool tutti, const void* given, void* result, MPI_Comm on) {
        return (tutti ? TUTTI_Allgather : PMPI_Allgather)(given, each, MPI_INT, result, each,
                                                          MPI_INT, on);
      });
  run("alltoallv", movement, n * each, n * each,
      [&](bool tutti, const void* given, void* result, MPI_Comm on) {
        return (tutti ? TUTTI_Alltoallv : PMPI_Alltoallv)(given, counts.data(), at.data(), MPI_INT,
                                                          result, counts.data(), at.data(), MPI_INT,
                                                          on);
      });
  run("gather", movement, each, n * each,
      [&](bool tutti, const void* given, void* result, MPI_Comm on) {
        void* const all = rank == 1 ? result : nullptr;
        return (tutti ? TUTTI_Gather : PMPI_Gather)(given, each, MPI_INT, all, each, MPI_INT, 1,
                                                    on);
      });
  run("allreduce", reduction, each, each,
      [&](bool tutti, const void* given, void* result, MPI_Comm on) {
        return (tutti ? TUTTI_Allreduce : PMPI_Allreduce)(given, result, each, MPI_INT, MPI_SUM,
                                                          on);
      });
  run("reduce_scatter", reduction, n * each, each,
      [&](bool tutti, const void* given, void* result, MPI_Comm on) {
        return (tutti ? TUTTI_Reduce_scatter : PMPI_Reduce_scatter)(given, result, counts.data(),
                                                                    MPI_INT, MPI_SUM, on);
      });
  run("reduce", reduction == "ring" ? "binomial" : reduction, each, each,
      [&](bool tutti, const void* given, void* result, MPI_Comm on) {
        void* const sum = rank == 1 ? result : nullptr;
        return (tutti ? TUTTI_Reduce : PMPI_Reduce)(given, sum, each, MPI_INT, MPI_SUM, 1, on);
      });
}

/// Elements of some ints, in an unusual place.
struct Layout {
  const char* name;
  int first;   ///< ints from the address of an element to its first one
  int stride;  ///< ints from one element to the next
  int ints;    ///< of an element
  int count;   ///< elements of a block
};
constexpr std::array<Layout, 4> layouts = {{{"with a gap", 1, 3, 1, 2},
                                            {"with a negative lower bound", -2, 3, 1, 2},
                                            {"with a negative extent", 0, -2, 1, 2},
                                            {"with extent 0", 0, 0, 2, 1}}};
const Layout* layout = nullptr;

/// Ints from the address of a vector to one of its ints.
int place_of(int number) {
  return number / layout->ints * layout->stride + layout->first + number % layout->ints;
}

void add(void* from, void* to, int* elements, MPI_Datatype*) {
  for (int i = 0; i < *elements * layout->ints; ++i) {
    static_cast<int*>(to)[place_of(i)] += static_cast<const int*>(from)[place_of(i)];
  }
}

/// One call of a layout, whose buffers are compared whole. If `bad` is this rank, it cannot copy:
/// it alone gets an error, and its data do not count.
void reduce_laid_out(bool scatters, bool in_place, int bad, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) {
  constexpr int base = 32;
  const Numbers counts(static_cast<std::size_t>(p), layout->count);
  const int skipped = scatters ? rank * layout->count * layout->stride : 0;
  Numbers numbers(64);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i) * 10 + rank;
  Buffer from(true, 0, numbers);
  Buffer to(true, Device::bytes / 2, in_place ? numbers : Numbers(64, -1));
  Numbers expected = to.numbers();
  for (int i = 0; i < layout->count * layout->ints; ++i) {
    const int place = base + place_of(i);
    expected[static_cast<std::size_t>(place)] = (place + skipped) * 10 * p + p * (p - 1) / 2;
  }
  spoils = rank == bad;
  const Faulty faulty(know_device);
  const void* const given = in_place ? MPI_IN_PLACE : from.get() + base;
  int* const result = to.get() + base;
  const int code = scatters ? TUTTI_Reduce_scatter(given, result, counts.data(), type, op, comm)
                            : TUTTI_Allreduce(given, result, layout->count, type, op, comm);
  spoils = false;
  expect((code != MPI_SUCCESS) == (rank == bad), "the error");
  if (bad < 0) expect(to.numbers() == expected, "the result");
}

/// The host's copies of vectors have the layout of their elements.
void layouts_on_device() {
  const Set allreduce("allreduce", "recursive_doubling");
  const Set reduce_scatter("reduce_scatter", "ring");
  for (const Layout& each : layouts) {
    layout = &each;
    const OwnWorld comm;
    const MPI_Aint first = each.first * static_cast<MPI_Aint>(sizeof(int));
    const MPI_Aint extent = each.stride * static_cast<MPI_Aint>(sizeof(int));
    MPI_Datatype packed{};
    MPI_Datatype type{};
    MPI_Op op{};
    PMPI_Type_create_hindexed(1, &each.ints, &first, MPI_INT, &packed);
    PMPI_Type_create_resized(packed, std::min<MPI_Aint>(first, 0), extent, &type);
    PMPI_Type_commit(&type);
    PMPI_Op_create(add, 1, &op);
    for (const bool in_place : {false, true}) {
      for (const bool scatters : {false, true}) {
        if (scatters && each.stride == 0) continue;
        for (int bad = p - 1; bad >= -1; --bad) {
          begin_step(std::string(scatters ? "reduce_scatter" : "allreduce") +
                     (in_place ? " in place" : "") + " of elements " + each.name +
                     (bad < 0 ? "" : ", without copies at " + std::to_string(bad)));
          reduce_laid_out(scatters, in_place, bad, type, op, comm);
        }
      }
    }
    PMPI_Op_free(&op);
    PMPI_Type_free(&type);
    PMPI_Type_free(&packed);
  }
}

/// Rank 0 has a contribution in place, but no result.
void exscan_on_device() {
  const Set exscan("exscan", "linear");
  const OwnWorld comm;
  begin_step("exscan in place");
  copies = 0;
  Buffer both(true, 0, Numbers(5, rank + 1));
  const Faulty faulty(know_device);
  const int code = TUTTI_Exscan(MPI_IN_PLACE, both.get(), 5, MPI_INT, MPI_SUM, comm);
  expect(code == MPI_SUCCESS, "the error");
  const bool is_copied = rank > 0 || copies > 0;
  expect(is_copied, "the contribution is not in host memory");
  expect(both.numbers() == Numbers(5, rank == 0 ? 1 : rank * (rank + 1) / 2), "the result");
}

/// No element of more than an int may count at once lies on another one.
void huge_counts() {
  begin_step("huge counts");
  const MPI_Count count = (MPI_Count{1} << 31) + 5;
  tutti::IndexedType type;
  expect(type.make(MPI_CHAR, {{8, count}}) == MPI_SUCCESS, "an indexed type of 2 Gi elements");
  MPI_Count lower = 0, extent = 0;
  PMPI_Type_get_extent_x(type.handle(), &lower, &extent);
  expect(lower == 8 && extent == count, "the extent of an indexed type of 2 Gi elements");
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_NODE", "1,2", 1);
  setenv("TUTTI_SPLIT_USER_OPS", "on", 1);
  MPI_Init(&argc, &argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &p);
  watch(rank, 60);
  null_buffers();
  empty_blocks();
  huge_counts();
  tutti::test::make_device();
  on_device("hierarchical(native)", "hierarchical(native)");
  on_device("linear", "ring");
  layouts_on_device();
  exscan_on_device();
  long all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && all == 0) std::puts("passed");
  return all == 0 ? 0 : 1;
}
