cmake_minimum_required(VERSION 3.23)
# cmake -DFOLDER=<project> -DOUTPUT=<file.h> -DCOMMIT=<commit> -DLIBRARIES=<text> -DCOMPILER=<text> -P write_facts.cmake
# Does not touch the file if its content would stay the same.
# A folder inside another checkout does not count as a checkout.
execute_process(COMMAND git rev-parse --show-toplevel WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE top
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(REAL_PATH ${FOLDER} here)
if(NOT COMMIT AND NOT top STREQUAL here)
  set(COMMIT unknown)
endif()
if(NOT COMMIT)
  execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(COMMIT unknown)
  endif()
endif()
# Shortens the commit as git does, so that naming it in full builds the same program.
if(COMMIT MATCHES "^[0-9a-f]+$")
  string(SUBSTRING "${COMMIT}" 0 12 COMMIT)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define BATON_COMMIT \"@COMMIT@\"
#define BATON_LIBRARIES \"@LIBRARIES@\"
#define BATON_COMPILER \"@COMPILER@\"
" @ONLY)
