# What an installation has beside the targets: packages for CMake and pkg-config, papers, the list for `uninstall`.
#
# Components: heliox (library, command line), dev (what programs and plugins are built with), plugin_<name>.
include(CMakePackageConfigHelpers)

set(HELIOX_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/heliox)
file(RELATIVE_PATH HELIOX_PREFIX_FROM_PACKAGE /prefix/${HELIOX_PACKAGE_DIR} /prefix)
file(RELATIVE_PATH HELIOX_PREFIX_FROM_PKGCONFIG /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" HELIOX_PREFIX_FROM_PACKAGE ${HELIOX_PREFIX_FROM_PACKAGE})
string(REGEX REPLACE "/$" "" HELIOX_PREFIX_FROM_PKGCONFIG ${HELIOX_PREFIX_FROM_PKGCONFIG})
set(made ${CMAKE_BINARY_DIR}/package)
configure_file(cmake/package/heliox-config.cmake.in ${made}/heliox-config.cmake @ONLY)
configure_file(cmake/package/heliox.pc.in ${made}/heliox.pc @ONLY)
write_basic_package_version_file(${made}/heliox-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT heliox NAMESPACE heliox:: FILE heliox-targets.cmake DESTINATION ${HELIOX_PACKAGE_DIR} COMPONENT dev)
install(FILES ${made}/heliox-config.cmake ${made}/heliox-config-version.cmake DESTINATION ${HELIOX_PACKAGE_DIR} COMPONENT dev)
install(FILES ${made}/heliox.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# The papers of each component: licence and changes.
install(FILES CHANGELOG.md README.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heliox COMPONENT heliox)
get_property(components GLOBAL PROPERTY HELIOX_COMPONENTS)
foreach(component heliox dev ${components})
  if(component STREQUAL heliox)
    set(package heliox)
  else()
    string(REPLACE "_" "-" package heliox-${component})
  endif()
  install(FILES cmake/package/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
endforeach()

# The list comes last, of everything that was installed before it; a package manager keeps its own, so it is in no
# component of a package.
install(CODE "
  string(LENGTH \"\${CMAKE_INSTALL_PREFIX}/\" skipped)
  set(lines \"\")
  foreach(file \${CMAKE_INSTALL_MANIFEST_FILES})
    string(SUBSTRING \"\${file}\" \${skipped} -1 file)
    string(APPEND lines \"\${file}\\n\")
  endforeach()
  file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/heliox/installed-files.txt\" \"\${lines}\")
" COMPONENT list)
configure_file(cmake/package/uninstall.cmake.in ${made}/uninstall.cmake @ONLY)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${made}/uninstall.cmake VERBATIM)
