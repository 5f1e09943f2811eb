# cmake -DINPUT=file -DOUTPUT=file -P HelioxEmbed.cmake: a file's bytes as a list of C numbers. A string literal would
# be limited to 4095 bytes.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,){24})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
