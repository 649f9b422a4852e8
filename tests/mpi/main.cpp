/// The MPI tests: each rank runs this under mpirun.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "harness.hpp"
#include "layouts.hpp"
#include "reduction.hpp"

namespace {

void add_flat(tutti::test::Suite& suite) {
  using namespace tutti::test;
  add_communicators(suite);
  add_sweep(suite);
  add_datatypes(suite);
  add_caches(suite);
  add_errors(suite);
  add_threads(suite);
  add_arrivals(suite);
  add_persistent(suite);
  add_choices(suite);
  add_background(suite);
  add_movements(suite);
  add_bad_movements(suite);
  add_distances(suite);
  add_reductions(suite);
  add_rma(suite);
  add_rma_kinds(suite);
  add_truncation(suite);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tutti::test;
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int status = EXIT_FAILURE;
  try {
    Context context(read_options(argc, argv));
    const Watchdog watchdog(context);
    const MadeUpDistances distances;
    std::optional<MadeUpMachine> machine;
    std::optional<MadeUpRules> rules;
    Suite suite;
    if (context.options().rules) {
      rules.emplace();
      add_persistent_by_rules(suite);
    } else if (!context.options().splits) {
      add_whole_vectors(suite);
    } else if (!context.options().nodes.empty()) {
      machine.emplace();
      add_hierarchical(suite);
      add_hierarchical_collectives(suite);
      add_hierarchical_faults(suite);
      add_hierarchical_arrivals(suite);
      add_hierarchical_choices(suite);
      add_shared_results(suite);
      add_shared_results_memory(suite);
      add_leaks(suite);
      add_rma_nodes(suite);
    } else {
      add_flat(suite);
    }
    status = suite.run(context);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  free_layouts();
  Values::free_all();
  MPI_Finalize();
  return status;
}
