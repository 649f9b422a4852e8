# Installs the licences, and the files by which other projects find Tutti: header, CMake package,
# pkg-config, modulefile. These find the prefix relative to themselves, so it can be moved.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/tutti DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tutti)
configure_package_config_file(cmake/tuttiConfig.cmake.in tuttiConfig.cmake
  INSTALL_DESTINATION ${package_folder}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(tuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tuttiConfig.cmake ${PROJECT_BINARY_DIR}/tuttiConfigVersion.cmake
  DESTINATION ${package_folder})

# The relative path from an installed folder to the prefix.
function(tutti_way_up folder result)
  file(RELATIVE_PATH way /prefix/${folder} /prefix)
  string(REGEX REPLACE "/$" "" way "${way}")
  set(${result} ${way} PARENT_SCOPE)
endfunction()

if(SKBUILD)
  return()  # Python itself finds a wheel, which pyproject.toml gives the licences
endif()

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TUTTI_PYTHON)
  install(DIRECTORY packaging/licences DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

tutti_way_up(${CMAKE_INSTALL_LIBDIR}/pkgconfig prefix_from_pkgconfig)
foreach(flavour IN LISTS TUTTI_MPI_FLAVOURS)
  configure_file(cmake/tutti.pc.in tutti-${flavour}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tutti-${flavour}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(module_folder ${CMAKE_INSTALL_DATADIR}/modulefiles/tutti)
tutti_way_up(${module_folder} prefix_from_modulefile)
configure_file(cmake/modulefile.in modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${module_folder}
  RENAME ${PROJECT_VERSION})
