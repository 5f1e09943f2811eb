# The project's warnings for one target.
function(heliox_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(HELIOX_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
