/// The buffers that calls through nodes find: none at all, and blocks without elements.
#include <tutti/tutti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "faulty.hpp"

namespace {

using tutti::test::Faulty;
using Numbers = std::vector<int>;

int rank = 0;
int p = 0;
long failures = 0;
std::string now;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("rank %d: %s: %s\n", rank, now.c_str(), what.c_str());
}

int copies = 0;  ///< by the MPI from a rank to itself

int sendrecv(const void* sent, int send_count, MPI_Datatype send_type, int to, int send_tag,
             void* received, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  copies += to == from;
  return PMPI_Sendrecv(sent, send_count, send_type, to, send_tag, received, count, type, from, tag,
                       comm, status);
}

int unpack(const void* packed, int size, int* position, void* buffer, int count, MPI_Datatype type,
           MPI_Comm comm) {
  ++copies;
  return PMPI_Unpack(packed, size, position, buffer, count, type, comm);
}

void count_copies(tutti::MpiFunctions& all) {
  all.Sendrecv = sendrecv;
  all.Unpack = unpack;
}

/// A specification for as long as it lives.
class Set {
 public:
  Set(const char* collective, const std::string& specification) : collective_(collective) {
    const int code = TUTTI_Algorithm_set(collective, specification.c_str(), nullptr, nullptr);
    expect(code == MPI_SUCCESS, specification + " is no specification of " + collective);
  }
  ~Set() { TUTTI_Algorithm_set(collective_, "auto", nullptr, nullptr); }
  Set(const Set&) = delete;
  Set& operator=(const Set&) = delete;

 private:
  const char* collective_;
};

class Comm {
 public:
  Comm() {
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~Comm() { MPI_Comm_free(&comm_); }
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

int class_of(int code) {
  int found = MPI_SUCCESS;
  PMPI_Error_class(code, &found);
  return found;
}

/// The rank that passes null hears of it; what it should have given is zero.
void null_buffers() {
  const std::string nodes = "native:level=node";
  const Set allgather("allgather", nodes);
  const Set alltoallv("alltoallv", nodes);
  const Set bcast("bcast", nodes);
  for (int bad = 0; bad < p; ++bad) {
    const Comm comm;
    const bool mine = rank == bad;
    now = "allgather from nowhere at " + std::to_string(bad);
    const int own = rank + 1;
    Numbers all(static_cast<std::size_t>(p), -1);
    int code = TUTTI_Allgather(mine ? nullptr : &own, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
    expect(class_of(code) == (mine ? MPI_ERR_BUFFER : MPI_SUCCESS), "the error");
    for (int i = 0; i < p && !mine; ++i) {
      expect(all[static_cast<std::size_t>(i)] == (i == bad ? 0 : i + 1), "the result");
    }
    now = "alltoallv to nowhere at " + std::to_string(bad);
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
    now = "bcast from nowhere by " + std::to_string(bad);
    int value = 7;
    code = TUTTI_Bcast(mine ? nullptr : &value, 1, MPI_INT, bad, comm);
    expect(class_of(code) == (mine ? MPI_ERR_BUFFER : MPI_SUCCESS), "the error");
    code = TUTTI_Bcast(nullptr, 0, MPI_INT, bad, comm);
    expect(code == MPI_SUCCESS, "nothing from nowhere is no error");
  }
}

/// Empty blocks of MPI_Alltoallw have no type that matters: the others are used where they lie.
void empty_blocks() {
  now = "alltoallw with empty blocks";
  const Set nodes("alltoallv", "native:level=node");
  const Comm comm;
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
  const Faulty faulty(count_copies);
  const int code = TUTTI_Alltoallw(given.data(), counts.data(), at.data(), types.data(),
                                   received.data(), counts.data(), at.data(), types.data(), comm);
  expect(code == MPI_SUCCESS, "the error");
  expect(copies == 0, "blocks were copied that can be used where they lie");
  for (int i = 0; i < 2 * p; ++i) {
    const int from = i / 2;
    expect(received[static_cast<std::size_t>(i)] == (from == rank ? -1 : from), "the result");
  }
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_NODE", "1,2", 1);
  alarm(60);
  MPI_Init(&argc, &argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &p);
  null_buffers();
  empty_blocks();
  long all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && all == 0) std::puts("passed");
  return all == 0 ? 0 : 1;
}
