# Compiles small files with the same headers together, which takes a fraction of the time.

# Groups the sources of a target that match the expression, under a name; only with TUTTI_UNITY.
# Call it in the target's directory.
function(tutti_compile_together target group expression)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "${expression}")
  if(NOT TUTTI_UNITY OR NOT sources)
    return()
  endif()
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${group})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# tutti_compile_flavour_together(target): the sources that each MPI compiles for itself.
function(tutti_compile_flavour_together target)
  tutti_compile_together(${target} calls "/src/api/[a-l]")
  tutti_compile_together(${target} entries "/src/api/[m-z]")
  tutti_compile_together(${target} nodes "/src/run/(hierarchical|node|rma)/")
  tutti_compile_together(${target} plain "/src/run/(call|communicator|mpi|transport)/")
endfunction()

# tutti_compile_bench_together(target): what each MPI compiles of tutti-bench, all with the same
# large headers.
function(tutti_compile_bench_together target)
  tutti_compile_together(${target} bench_job "/bench/mpi_[a-l]")
  tutti_compile_together(${target} bench_measure "/bench/(mpi_m[e-z]|mpi_[p-z]|watchdog)")
endfunction()
