# Loopxform_EXECUTABLE: the command, which runs on the machine that builds, whatever is built for.
# This folder is <prefix>/share/cmake/Loopxform, or loopxform/cmake among Python's packages.
find_program(Loopxform_EXECUTABLE loopxform
  HINTS
    "${CMAKE_CURRENT_LIST_DIR}/../../../bin"
    "${CMAKE_CURRENT_LIST_DIR}/../../../../../bin"
    "${CMAKE_CURRENT_LIST_DIR}/../../../Scripts"
    "${CMAKE_CURRENT_LIST_DIR}/../../../../Scripts"
  DOC "The loopxform command"
  NO_CMAKE_FIND_ROOT_PATH)
set(_loopxform_version "")
if(Loopxform_EXECUTABLE)
  execute_process(
    COMMAND "${Loopxform_EXECUTABLE}" --version
    OUTPUT_VARIABLE _loopxform_version
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  string(REGEX REPLACE "^loopxform " "" _loopxform_version "${_loopxform_version}")
endif()
