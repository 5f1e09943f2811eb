# Packages for Debian and Ubuntu, one a component: `./dev package`, or cpack in a build directory. The bytes are those of
# `cmake --install`; below /usr the library lies in /usr/lib, and its plugins in /usr/lib/heliox/plugins.
set(HELIOX_MAINTAINER "Heliox maintainers <maintainers@heliox.invalid>" CACHE STRING "Who answers for packages built here: NAME <ADDRESS>")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heliox)
set(CPACK_PACKAGE_VENDOR Heliox)
set(CPACK_PACKAGE_CONTACT ${HELIOX_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "computing on encrypted numbers (CKKS) on pluggable backends")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# Targets are stripped; plugins are installed as files, since their bytes are what their manifests describe.
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL heliox dev ${components})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package/compress.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_HELIOX_PACKAGE_NAME heliox)
set(CPACK_DEBIAN_HELIOX_DESCRIPTION "computing on encrypted numbers (CKKS) on pluggable backends
 Programs on encrypted numbers are written once and run on whatever backend
 is plugged in: a library that arrives with a manifest and is checked before
 a byte of it runs. This package has the library, the command line, the
 conformance suite of backends and the data of the demo.")
# At least one backend; the cpu plugin where nobody chose.
set(CPACK_DEBIAN_HELIOX_PACKAGE_DEPENDS "heliox-plugin-cpu (= ${PROJECT_VERSION}) | heliox-plugin")
set(CPACK_DEBIAN_HELIOX_PACKAGE_SUGGESTS "heliox-dev, bash-completion, man-db")
# What depends on the library, and the cache of the dynamic linker.
get_property(soversion GLOBAL PROPERTY HELIOX_SOVERSION)
file(WRITE ${made}/shlibs "libheliox ${soversion} heliox (>= ${PROJECT_VERSION})\n")
file(WRITE ${made}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_HELIOX_PACKAGE_CONTROL_EXTRA "${made}/shlibs;${made}/triggers")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME heliox-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_DESCRIPTION "what programs and plugins for Heliox are built with
 Headers, packages for CMake and pkg-config, and the SDK for plugins: a
 template plugin, the support library and the tool that completes manifests.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "heliox (= ${PROJECT_VERSION}), libc6-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "cmake, pkg-config")

set(about_cpu "any processor, with AVX2 and AVX-512 kernels")
set(about_opencl "any OpenCL 1.2 device with 64-bit integers")
set(recommends_opencl "ocl-icd-libopencl1 | libopencl1")
set(suggests_opencl "pocl-opencl-icd | opencl-icd")
set(about_cuda "NVIDIA GPUs, through the driver alone")
set(suggests_cuda "libcuda1")
set(about_mpi "several processes or machines, as ranks of Open MPI")
set(depends_mpi "libopenmpi3 | libopenmpi3t64") # opened when the plugin is probed, so no tool sees it
foreach(component ${components})
  string(TOUPPER ${component} COMPONENT)
  string(REPLACE "plugin_" "" plugin ${component})
  string(REPLACE "_" "-" package heliox-${component})
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package})
  if(NOT plugin STREQUAL "mpi") # which computes nothing by itself
    set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_PROVIDES heliox-plugin)
  endif()
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_DEPENDS ${depends_${plugin}})
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_ENHANCES heliox)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_RECOMMENDS ${recommends_${plugin}})
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SUGGESTS ${suggests_${plugin}})
  set(CPACK_DEBIAN_${COMPONENT}_DESCRIPTION "Heliox on ${about_${plugin}}
 The ${plugin} plugin of Heliox, found by it beside its library.")
endforeach()
include(CPack)
