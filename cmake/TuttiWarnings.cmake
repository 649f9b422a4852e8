# Warnings, sanitizers and coverage, for every target of this project.
add_library(tutti_warnings INTERFACE)
target_compile_options(tutti_warnings INTERFACE
  -Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wnon-virtual-dtor -Woverloaded-virtual>)
# Clang counts the files of a unity build as one.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tutti_warnings INTERFACE -Wshadow)
endif()
# GCC 12 falsely reports overlaps in the code of std::string.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tutti_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(TUTTI_WERROR)
  target_compile_options(tutti_warnings INTERFACE -Werror)
endif()
if(TUTTI_SANITIZE)
  target_compile_options(tutti_warnings INTERFACE -fsanitize=${TUTTI_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tutti_warnings INTERFACE -fsanitize=${TUTTI_SANITIZE})
endif()
if(TUTTI_COVERAGE)
  target_compile_options(tutti_warnings INTERFACE --coverage -O0)
  target_link_options(tutti_warnings INTERFACE --coverage)
endif()
