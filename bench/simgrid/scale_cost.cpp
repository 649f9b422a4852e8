/// What Tutti costs a rank on many ranks: memory of a process and of a communicator, and the time
/// to make a plan. All simulated ranks share one process; count_memory.cpp, which must be
/// preloaded, counts what Tutti has allocated for each. Prints one line of JSON.
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "bench/simgrid/count_memory.hpp"
#include "tutti/tutti.h"

namespace {

int rank = 0;
int p = 1;

template <class Function>
Function* preloaded(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "tutti-scale-cost: preload tutti-count-memory.so\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return reinterpret_cast<Function*>(found);
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  long total = 0;
  long resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Cost {
  double bytes = 0;    ///< of a rank in the mean
  double most = 0;     ///< of the rank that has most
  double seconds = 0;  ///< of a rank's processor
};

/// What all ranks' calls of `call` take. The barriers are the MPI's own.
Cost cost_of(const std::function<void()>& call) {
  static double began = 0;
  PMPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    preloaded<decltype(begin_counting)>("begin_counting")();
    began = processor_seconds();
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  call();
  PMPI_Barrier(MPI_COMM_WORLD);
  Cost cost;
  if (rank == 0) {
    preloaded<decltype(read_counts)>("read_counts")(&cost.bytes, &cost.most);
    cost.bytes /= p;
    cost.seconds = (processor_seconds() - began) / p;
  }
  PMPI_Barrier(MPI_COMM_WORLD);
  return cost;
}

void print(const char* name, const Cost& cost) {
  if (rank == 0) {
    std::printf(", \"%s\": {\"bytes\": %.1f, \"most\": %.1f, \"seconds\": %.9f}", name, cost.bytes,
                cost.most, cost.seconds);
    std::fflush(stdout);
  }
}

void set(const char* collective, const char* algorithm) {
  std::array<char, 512> text{};
  int length = static_cast<int>(text.size());
  if (TUTTI_Algorithm_set(collective, algorithm, text.data(), &length) != MPI_SUCCESS) {
    std::fprintf(stderr, "%s\n", text.data());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

struct Planned {
  const char* collective;
  const char* algorithm;
  std::function<void(MPI_Comm)> call;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  if (rank == 0) std::printf("{\"ranks\": %d", p);
  const double before = resident_bytes();
  print("load", cost_of([] { set("bcast", "auto"); }));
  if (rank == 0) std::printf(", \"resident\": %.1f", (resident_bytes() - before) / p);

  constexpr int block = 4;
  const auto all = static_cast<std::size_t>(p) * block;
  std::vector<int> own(block, rank);
  std::vector<int> result(rank == 0 ? all : block);
  std::vector<int> counts;
  std::vector<int> displs;
  for (int i = 0; rank == 0 && i < p; ++i) {
    counts.push_back(block);
    displs.push_back(i * block);
  }
  const std::vector<Planned> planned = {
      {"bcast", "binomial", [&](MPI_Comm c) { TUTTI_Bcast(own.data(), block, MPI_INT, 0, c); }},
      {"gather", "binomial",
       [&](MPI_Comm c) {
         TUTTI_Gather(own.data(), block, MPI_INT, result.data(), block, MPI_INT, 0, c);
       }},
      {"gatherv", "ordered_tree",
       [&](MPI_Comm c) {
         TUTTI_Gatherv(own.data(), block, MPI_INT, result.data(), counts.data(), displs.data(),
                       MPI_INT, 0, c);
       }},
      {"gatherv", "linear",
       [&](MPI_Comm c) {
         TUTTI_Gatherv(own.data(), block, MPI_INT, result.data(), counts.data(), displs.data(),
                       MPI_INT, 0, c);
       }},
      {"allreduce", "recursive_doubling",
       [&](MPI_Comm c) {
         std::vector<int> reduced(block);
         TUTTI_Allreduce(own.data(), reduced.data(), block, MPI_INT, MPI_SUM, c);
       }},
      {"barrier", "dissemination", [&](MPI_Comm c) { TUTTI_Barrier(c); }},
      {"bcast", "hierarchical(binomial)",
       [&](MPI_Comm c) { TUTTI_Bcast(own.data(), block, MPI_INT, 0, c); }},
  };
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  print("auto", cost_of([&] { TUTTI_Bcast(own.data(), block, MPI_INT, 0, dup); }));
  for (const Planned& plan : planned) {
    set(plan.collective, plan.algorithm);
    const std::string name = std::string(plan.collective) + " " + plan.algorithm;
    print((name + ", first").c_str(), cost_of([&] { plan.call(dup); }));
    print((name + ", again").c_str(), cost_of([&] { plan.call(dup); }));
    set(plan.collective, "auto");
  }
  MPI_Comm_free(&dup);
  if (rank == 0) std::printf("}\n");
  MPI_Finalize();
  return 0;
}
