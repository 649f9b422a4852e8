# Libraries that run on other machines than the one that builds them.

# Links the C++ runtime into a target, which then exports nothing of it. With TUTTI_PORTABLE the
# target needs no function that glibc has only since 2.35.
function(tutti_link_runtime target)
  target_link_options(${target} PRIVATE -static-libgcc -static-libstdc++ -Wl,--exclude-libs,ALL)
  if(TUTTI_PORTABLE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/portable.c)
  endif()
endfunction()
