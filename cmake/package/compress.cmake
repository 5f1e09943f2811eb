# Before a package is made: manual pages and the list of changes compressed as Debian has them, without time or name.
file(GLOB_RECURSE files ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/*.1 ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/*.7
     ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/CHANGELOG.md)
foreach(file ${files})
  string(REPLACE "CHANGELOG.md" "changelog" name "${file}")
  file(RENAME "${file}" "${name}")
  execute_process(COMMAND gzip -9n "${name}" RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "gzip -9n ${name} ended with ${result}")
  endif()
endforeach()
