# The flavour for SimGrid, whose MPI (SMPI) runs all ranks in one process and in simulated time.
#
# simgrid/ has what differs from other MPIs. TUTTI_SIMGRID is auto, on or off.
set(TUTTI_SIMGRID auto CACHE STRING "Build for SimGrid: auto, on or off")
set(TUTTI_SIMGRID_BUILT OFF CACHE INTERNAL "Whether this tree builds for SimGrid")
if(TUTTI_SIMGRID STREQUAL "off" OR TUTTI_MPI STREQUAL "none" OR SKBUILD)
  return()
endif()
find_path(TUTTI_SIMGRID_INCLUDE simgrid/actor.h)
find_path(TUTTI_SMPI_INCLUDE mpi.h HINTS ${TUTTI_SIMGRID_INCLUDE}/smpi NO_DEFAULT_PATH)
find_library(TUTTI_SIMGRID_LIBRARY simgrid)
find_program(TUTTI_SMPIRUN smpirun)
if(NOT TUTTI_SIMGRID_INCLUDE OR NOT TUTTI_SMPI_INCLUDE OR NOT TUTTI_SIMGRID_LIBRARY OR NOT TUTTI_SMPIRUN)
  if(TUTTI_SIMGRID STREQUAL "on")
    message(FATAL_ERROR "TUTTI_SIMGRID=on, but SimGrid with SMPI was not found (Debian: libsimgrid-dev)")
  endif()
  return()
endif()
message(STATUS "SimGrid: ${TUTTI_SIMGRID_LIBRARY}")
set(TUTTI_SIMGRID_BUILT ON CACHE INTERNAL "Whether this tree builds for SimGrid")

add_library(mpi_simgrid INTERFACE)
target_include_directories(mpi_simgrid SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/simgrid/include
  ${TUTTI_SMPI_INCLUDE} ${TUTTI_SIMGRID_INCLUDE})
target_compile_definitions(mpi_simgrid INTERFACE SMPI_NO_OVERRIDE_MALLOC)
target_link_libraries(mpi_simgrid INTERFACE ${TUTTI_SIMGRID_LIBRARY})

# Stands in for the system's clocks and for waits, in everything that runs as a simulated rank.
add_library(tutti_simgrid_libc OBJECT simgrid/libc.cpp simgrid/signals.cpp)
target_include_directories(tutti_simgrid_libc PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tutti_simgrid_libc PRIVATE tutti_warnings mpi_simgrid)

# What programs preload or link.
add_library(tutti_simgrid SHARED simgrid/communicators.cpp simgrid/front.cpp simgrid/gaps.cpp
  simgrid/node_memory.cpp simgrid/polling.cpp simgrid/rank_copies.cpp simgrid/waiting.cpp)
set_target_properties(tutti_simgrid PROPERTIES OUTPUT_NAME tutti-simgrid)
target_include_directories(tutti_simgrid PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
  ${PROJECT_BINARY_DIR}/intercept)
target_link_libraries(tutti_simgrid PRIVATE tutti_warnings mpi_simgrid ${CMAKE_DL_LIBS})

# Each rank's copy of Tutti: the sources of every flavour.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/run/*.cpp
  ${PROJECT_SOURCE_DIR}/src/api/*.cpp)
list(REMOVE_ITEM sources ${run_sources})
list(APPEND sources ${PROJECT_SOURCE_DIR}/src/run/mpi/loaded_mpi.c
  ${PROJECT_SOURCE_DIR}/intercept/backend.cpp
  ${PROJECT_SOURCE_DIR}/simgrid/moves.cpp)
add_library(tutti_simgrid_rank SHARED ${sources} $<TARGET_OBJECTS:tutti_simgrid_libc>)
set_target_properties(tutti_simgrid_rank PROPERTIES OUTPUT_NAME tutti-simgrid-rank)
tutti_compile_flavour_together(tutti_simgrid_rank)
target_include_directories(tutti_simgrid_rank PRIVATE ${PROJECT_SOURCE_DIR}
  PUBLIC ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(tutti_simgrid_rank PRIVATE tutti_run tutti_simgrid mpi_simgrid ${CMAKE_DL_LIBS})
# A variable of this kind would be one for all copies in the process.
target_compile_options(tutti_simgrid_rank PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
target_link_options(tutti_simgrid_rank PRIVATE -s -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions
  -Wl,--wrap=mmap,--wrap=munmap,--wrap=memcpy,--wrap=memmove
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/api/exports.map)
set_target_properties(tutti_simgrid_rank PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS tutti_simgrid tutti_simgrid_rank LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# tutti_simgrid_program(name sources...): a program that smpirun starts, which is a library whose
# main() each rank calls.
function(tutti_simgrid_program name)
  add_library(${name} MODULE ${ARGN} $<TARGET_OBJECTS:tutti_simgrid_libc>)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE -s -Wl,-Bsymbolic-functions)
  target_link_libraries(${name} PRIVATE tutti_warnings tutti_simgrid mpi_simgrid)
endfunction()

if(TUTTI_BENCH)
  tutti_simgrid_program(tutti-scale-cost bench/simgrid/scale_cost.cpp)
  add_library(tutti-count-memory MODULE bench/simgrid/count_memory.cpp)
  set_target_properties(tutti-count-memory PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} CXX_VISIBILITY_PRESET default)
  target_include_directories(tutti-count-memory PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(tutti-count-memory PRIVATE tutti_warnings ${CMAKE_DL_LIBS})
  tutti_simgrid_program(tutti-selection bench/simgrid/selection.cpp bench/mpi_calls.cpp
    bench/mpi_functions.cpp)
  target_link_libraries(tutti-selection PRIVATE tutti_run)
  file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/mpi_*.cpp)
  find_package(fmt REQUIRED)
  tutti_simgrid_program(tutti-bench-simgrid ${bench_sources} bench/watchdog.cpp)
  tutti_compile_bench_together(tutti-bench-simgrid)
  target_link_libraries(tutti-bench-simgrid PRIVATE tutti_bench_report tutti_run fmt::fmt)
  file(RELATIVE_PATH way_to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(tutti-bench-simgrid PROPERTIES
    INSTALL_RPATH "$ORIGIN/${way_to_libraries}")
  install(TARGETS tutti-bench-simgrid LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TUTTI_TESTS)
  tutti_simgrid_program(tutti-test-simgrid tests/simgrid/collectives.cpp)
endif()
