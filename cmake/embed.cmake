# Writes the text file IN as a C string constant NAME into OUT, line by line.
file(READ ${IN} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
file(WRITE ${OUT} "extern const char ${NAME}[];\nconst char ${NAME}[] =\n    \"${text}\";\n")
