# heliox_add_plugin(TARGET NAME short-name MANIFEST file SOURCES file... [FILES file...] [OUTPUT_DIRECTORY dir] [NO_INSTALL])
#
# Builds a plugin: a module without prefix, named heliox_<short-name>.so, with the flags that the host's checks ask
# for, beside <short-name>.json, its manifest. MANIFEST is the part that an author writes: identity, devices,
# operations, requirements. Before compiling, heliox_plugin_facts.h is made from it, for HELIOX_PLUGIN_NOTE; after
# linking, digest, target, ABI and note facts are read from the library and written into the manifest. Both files get
# fixed modes, whatever the umask. Both are installed into lib/heliox/plugins unless NO_INSTALL is given, and so are FILES,
# what the manifest names beside the library (kernel images), as component plugin_<short-name>.
#
# Needs the targets heliox_sdk (headers) and heliox_manifest (the tool): find_package(HelioxSDK) makes them. Without
# OUTPUT_DIRECTORY both files go to HELIOX_PLUGIN_OUTPUT_DIRECTORY, else to the current binary directory.

function(heliox_add_plugin target)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "NO_INSTALL" "NAME;MANIFEST;OUTPUT_DIRECTORY" "SOURCES;FILES")
  foreach(argument NAME MANIFEST SOURCES)
    if(NOT plugin_${argument})
      message(FATAL_ERROR "heliox_add_plugin(${target}): ${argument} is missing")
    endif()
  endforeach()
  if(plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "heliox_add_plugin(${target}): unknown arguments ${plugin_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT plugin_OUTPUT_DIRECTORY)
    set(plugin_OUTPUT_DIRECTORY ${HELIOX_PLUGIN_OUTPUT_DIRECTORY})
  endif()
  if(NOT plugin_OUTPUT_DIRECTORY)
    set(plugin_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  get_filename_component(manifest ${plugin_MANIFEST} ABSOLUTE)
  set(facts ${CMAKE_CURRENT_BINARY_DIR}/${target}.facts)
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/heliox_plugin.map)

  file(MAKE_DIRECTORY ${facts})
  add_custom_command(OUTPUT ${facts}/heliox_plugin_facts.h
                     COMMAND heliox_manifest facts ${manifest} ${facts}/heliox_plugin_facts.h
                     DEPENDS ${manifest} heliox_manifest VERBATIM
                     COMMENT "Reading what ${plugin_NAME}'s note repeats from its manifest")
  add_library(${target} MODULE ${plugin_SOURCES} ${facts}/heliox_plugin_facts.h)
  target_link_libraries(${target} PRIVATE heliox_sdk)
  target_include_directories(${target} PRIVATE ${facts})
  if(TARGET heliox_generated) # in Heliox's own tree the layout header is made first
    add_dependencies(${target} heliox_generated)
  endif()
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME heliox_${plugin_NAME} SUFFIX .so LIBRARY_OUTPUT_DIRECTORY ${plugin_OUTPUT_DIRECTORY}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON
    SKIP_BUILD_RPATH ON INSTALL_RPATH "" LINK_DEPENDS "${manifest};${map}")
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  add_custom_command(TARGET ${target} POST_BUILD
                     COMMAND heliox_manifest complete ${manifest} $<TARGET_FILE:${target}>
                             ${plugin_OUTPUT_DIRECTORY}/${plugin_NAME}.json
                     VERBATIM COMMENT "Completing ${plugin_NAME}'s manifest from its library")
  # As files: installing a target may strip it, and its bytes are what the manifest describes.
  if(NOT plugin_NO_INSTALL)
    include(GNUInstallDirs)
    install(PROGRAMS ${plugin_OUTPUT_DIRECTORY}/heliox_${plugin_NAME}.so
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/heliox/plugins COMPONENT plugin_${plugin_NAME})
    install(FILES ${plugin_OUTPUT_DIRECTORY}/${plugin_NAME}.json ${plugin_FILES}
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/heliox/plugins COMPONENT plugin_${plugin_NAME})
    set_property(GLOBAL APPEND PROPERTY HELIOX_COMPONENTS plugin_${plugin_NAME})
  endif()
  if(NOT HELIOX_SANITIZE) # a sanitizer's runtime may live in the program alone
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
