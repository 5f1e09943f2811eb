# cmake -DFILES=a,b -DOUTPUT=file -P embed.cmake: the files one after the other, without their own #include lines, as a
# list of C characters. A string literal would be limited to 4095 bytes.
string(REPLACE "," ";" FILES "${FILES}")
set(bytes "")
foreach(file ${FILES})
  file(READ ${file} text HEX)
  string(APPEND bytes "${text}")
endforeach()
# `#include "` and what follows on the line becomes a comment, so that line numbers stay.
string(REGEX REPLACE "23696e636c75646520(22)" "2f2f696e636c75646520\\1" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,){24})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
