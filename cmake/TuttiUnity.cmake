# Files that include the same headers, and are small, compile in a fraction of the time together.

# The sources of a target that match the expression, as one group of the name; only with TUTTI_UNITY.
# To be called in the target's directory.
function(tutti_compile_together target group expression)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "${expression}")
  if(NOT TUTTI_UNITY OR NOT sources)
    return()
  endif()
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${group})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
