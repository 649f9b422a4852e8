# Checks of the source and of built libraries: a broken layer fails the build, the others fail tests.
find_package(Python3 3.9 COMPONENTS Interpreter QUIET)
if(NOT Python3_FOUND)
  message(STATUS "No Python 3: the layers, the symbols and the generated docs are not checked")
  return()
endif()

file(GLOB_RECURSE checked CONFIGURE_DEPENDS src/*.?pp src/*.inc intercept/*.* bench/*.?pp simgrid/*.*)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/layers.checked
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_layers.py
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/layers.checked
  DEPENDS ${checked} ${PROJECT_SOURCE_DIR}/tools/check_layers.py
  COMMENT "Checking the layers" VERBATIM)
add_custom_target(check_layers ALL DEPENDS ${PROJECT_BINARY_DIR}/layers.checked)

if(TUTTI_TESTS)
  add_test(NAME tools.layers
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_layers.py)
  add_test(NAME tools.generated_docs
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/gen_docs.py --check)
  add_test(NAME tools.fortran_interfaces
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/gen_fortran.py --check)
  if(CMAKE_NM AND CMAKE_READELF)
    foreach(library IN ITEMS tutti ${TUTTI_MPI_FLAVOURS})
      if(NOT library STREQUAL "tutti")
        set(library tutti_${library})
      endif()
      if(TARGET ${library})
        add_test(NAME tools.symbols.${library} COMMAND ${Python3_EXECUTABLE}
          ${PROJECT_SOURCE_DIR}/tools/check_symbols.py $<TARGET_FILE:${library}>)
      endif()
    endforeach()
  endif()
  get_property(tests DIRECTORY PROPERTY TESTS)
  list(FILTER tests INCLUDE REGEX "^tools\\.")
  set_tests_properties(${tests} PROPERTIES LABELS tools TIMEOUT 60)
endif()
