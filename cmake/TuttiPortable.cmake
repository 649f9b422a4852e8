# Libraries that run on other machines than the one that builds them.

include(CheckCXXSourceCompiles)

# Links the C++ runtime into a target, which then exports nothing of it. With TUTTI_PORTABLE the
# target needs no function that glibc has only since 2.35.
function(tutti_link_runtime target)
  set(options -static-libgcc -static-libstdc++)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${options})
  check_cxx_source_compiles("int main() { return 0; }" TUTTI_HAS_STATIC_RUNTIME)
  if(NOT TUTTI_HAS_STATIC_RUNTIME)
    unset(TUTTI_HAS_STATIC_RUNTIME CACHE)  # it may be there next time
    message(FATAL_ERROR "Tutti's libraries have the C++ runtime inside, and libstdc++.a is missing "
      "(Fedora, RHEL: libstdc++-static)")
  endif()
  target_link_options(${target} PRIVATE ${options} -Wl,--exclude-libs,ALL)
  if(TUTTI_PORTABLE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/portable.c)
  endif()
endfunction()
