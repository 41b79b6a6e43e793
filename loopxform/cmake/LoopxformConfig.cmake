# find_package(Loopxform) gives
#
#   loopxform_add_kernels(TARGET FILES file.c ... [COMMAND offload|tile] [OPTIONS option ...])
#
# Each file is handed to `loopxform offload` (or tile) with the target's include directories,
# definitions and options. What it writes, file_opencl.c, is compiled into the target in place of
# the file, which is taken off the target's sources if it is one; the target is linked to OpenCL.
# An INTERFACE library hands the written files to those that link to it.
#
# The written files are in <binary dir>/loopxform/TARGET/, in folders like those of the files; that
# folder is on the target's include path: #include "folder/file_opencl.h".

if(CMAKE_VERSION VERSION_LESS 3.20)
  set(Loopxform_FOUND FALSE)
  set(Loopxform_NOT_FOUND_MESSAGE "Loopxform needs CMake 3.20 or newer")
  return()
endif()
cmake_policy(PUSH)
cmake_policy(VERSION 3.20...3.31)

include("${CMAKE_CURRENT_LIST_DIR}/LoopxformTool.cmake")
if(NOT _loopxform_version)
  set(Loopxform_FOUND FALSE)
  set(Loopxform_NOT_FOUND_MESSAGE
    "the command loopxform was not found or does not run; name it: -DLoopxform_EXECUTABLE=PATH")
  cmake_policy(POP)
  return()
endif()
set(Loopxform_VERSION "${_loopxform_version}")
include(CMakeFindDependencyMacro)
find_dependency(OpenCL)

function(loopxform_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMMAND" "FILES;OPTIONS")
  _loopxform_require_sense("${target}")
  set(root "${CMAKE_CURRENT_BINARY_DIR}/loopxform/${target}")
  set(scope PRIVATE)
  set(prefix "")
  get_target_property(type "${target}" TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(scope INTERFACE)
    set(prefix INTERFACE_)
  endif()

  _loopxform_write_flags("${target}" "${prefix}" "${root}/C.flags")
  set(written "")
  foreach(file IN LISTS arg_FILES)
    _loopxform_add_file("${file}")
    list(APPEND written "${c}" "${h}")
  endforeach()
  target_sources("${target}" ${scope} ${written})
  set_source_files_properties(${written} PROPERTIES GENERATED TRUE)
  if(scope STREQUAL "INTERFACE")
    # Its users may be in other directories, which do not see the rules of this one.
    string(SHA256 name "${written}")
    string(SUBSTRING "${name}" 0 8 name)
    add_custom_target("${target}_loopxform_${name}" DEPENDS ${written})
    add_dependencies("${target}" "${target}_loopxform_${name}")
  endif()
  _loopxform_link("${target}" "${type}")
  set_property(TARGET "${target}" APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES
    "$<BUILD_INTERFACE:${root}>")
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    set_property(TARGET "${target}" APPEND PROPERTY INCLUDE_DIRECTORIES "${root}")
  endif()
endfunction()

macro(_loopxform_require_sense target)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "loopxform_add_kernels: there is no target '${target}'")
  endif()
  get_target_property(home "${target}" SOURCE_DIR)
  if(NOT home STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "loopxform_add_kernels: call it in ${home}, where '${target}' is made")
  endif()
  if(NOT arg_FILES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "loopxform_add_kernels(${target} FILES file.c ... "
      "[COMMAND offload|tile] [OPTIONS option ...])")
  endif()
  if(NOT arg_COMMAND)
    set(arg_COMMAND offload)
  elseif(NOT arg_COMMAND MATCHES "^(offload|tile)$")
    message(FATAL_ERROR "loopxform_add_kernels: COMMAND is offload or tile")
  endif()
  if(NOT CMAKE_C_COMPILER_LOADED)
    message(FATAL_ERROR "loopxform_add_kernels: the project needs the language C")
  endif()
  get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(several)
    message(FATAL_ERROR "loopxform_add_kernels: ${CMAKE_GENERATOR} builds several configurations "
      "in one folder; use Ninja or Makefiles, with a folder for each")
  endif()
endmacro()

# The options of the target, one on each line; file(GENERATE) is where COMPILE_LANGUAGE is known.
# CMake itself leaves the compiler's own folders out, which FindOpenCL names.
function(_loopxform_write_flags target prefix file)
  string(TOUPPER "_${CMAKE_BUILD_TYPE}" config)
  separate_arguments(common UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS${config}}")
  list(JOIN common "\n" lines)
  string(REGEX REPLACE "([][+.*()^$?|\\])" "\\\\\\1" implicit
    "${CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES}")
  list(JOIN implicit "|" implicit)
  foreach(property IN ITEMS "INCLUDE_DIRECTORIES -I" "COMPILE_DEFINITIONS -D" "COMPILE_OPTIONS ")
    string(REGEX MATCH "^[^ ]+" name "${property}")
    string(REGEX REPLACE "^[^ ]+ " "" option "${property}")
    set(values "$<TARGET_PROPERTY:${target},${prefix}${name}>")
    if(name STREQUAL "INCLUDE_DIRECTORIES")
      set(values "$<FILTER:${values},EXCLUDE,^(${implicit})/?$>")
    endif()
    string(APPEND lines "\n$<$<BOOL:${values}>:${option}$<JOIN:${values},\n${option}>>")
  endforeach()
  get_property(done TARGET "${target}" PROPERTY _loopxform_flags)
  if(NOT done)
    set_property(TARGET "${target}" PROPERTY _loopxform_flags "${file}")
    get_filename_component(folder "${file}" DIRECTORY)
    file(GENERATE OUTPUT "${folder}/$<COMPILE_LANGUAGE>.flags" CONTENT "${lines}\n"
      TARGET "${target}")
  endif()
endfunction()

# One file; sets c and h, what is written for it. CMake 3.22 and older do not read phony rules.
macro(_loopxform_add_file file)
  get_filename_component(path "${file}" ABSOLUTE)
  _loopxform_place("${path}")
  set(c "${folder}/${stem}_opencl.c")
  set(h "${folder}/${stem}_opencl.h")
  _loopxform_flags_of("${path}" "${c}")
  add_custom_command(
    OUTPUT "${folder}/${stem}.cl" "${c}" "${h}"
    COMMAND "${Loopxform_EXECUTABLE}" ${arg_COMMAND} "${path}" -q -o "${folder}"
      -MF "${folder}/${stem}.d" --no-phony ${arg_OPTIONS} --cflags-file "${root}/C.flags" --cflags ${own}
    DEPENDS "${path}" "${root}/C.flags" "${Loopxform_EXECUTABLE}"
    DEPFILE "${folder}/${stem}.d"
    COMMENT "loopxform ${arg_COMMAND} ${file}"
    VERBATIM)
  _loopxform_take_off("${target}" "${path}")
endmacro()

# Sets folder and stem: where the files written for a file are, and how they are called.
macro(_loopxform_place path)
  file(RELATIVE_PATH inside "${CMAKE_CURRENT_SOURCE_DIR}" "${path}")
  if(inside MATCHES "^\\.\\./" OR IS_ABSOLUTE "${inside}")
    file(RELATIVE_PATH built "${CMAKE_CURRENT_BINARY_DIR}" "${path}")
    if(NOT built MATCHES "^\\.\\./" AND NOT IS_ABSOLUTE "${built}")
      set(inside "${built}")
    endif()
  endif()
  string(REPLACE "../" "__/" inside "${inside}")
  string(REPLACE ":" "" inside "${inside}")
  get_filename_component(folder "${root}/${inside}" DIRECTORY)
  get_filename_component(stem "${path}" NAME_WLE)
  string(REGEX REPLACE "[\"*<>?|:\\\\]" "_" stem "${stem}")
endmacro()

# What is set for the file alone holds for what is written for it; sets own, the options to read it.
# Its headers are looked for beside the file itself.
macro(_loopxform_flags_of path c)
  set(own "")
  get_filename_component(beside "${path}" DIRECTORY)
  # One file at a time, and nothing included in front of it that the tool has not seen.
  set_source_files_properties("${c}" PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION TRUE SKIP_PRECOMPILE_HEADERS TRUE)
  if(NOT MSVC)
    set_property(SOURCE "${c}" APPEND PROPERTY COMPILE_OPTIONS "-iquote${beside}")
  else()
    set_property(SOURCE "${c}" APPEND PROPERTY INCLUDE_DIRECTORIES "${beside}")
  endif()
  foreach(property IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FLAGS)
    get_property(values SOURCE "${path}" PROPERTY ${property})
    if(values)
      set_property(SOURCE "${c}" APPEND PROPERTY ${property} ${values})
    endif()
    if(property STREQUAL "INCLUDE_DIRECTORIES")
      list(TRANSFORM values PREPEND "-I")
    elseif(property STREQUAL "COMPILE_DEFINITIONS")
      list(TRANSFORM values PREPEND "-D")
    elseif(property STREQUAL "COMPILE_FLAGS")
      separate_arguments(values UNIX_COMMAND "${values}")
    endif()
    list(APPEND own ${values})
  endforeach()
endmacro()

# The file itself is not compiled: what is written for it takes its place.
function(_loopxform_take_off target path)
  foreach(property IN ITEMS SOURCES INTERFACE_SOURCES)
    get_property(sources TARGET "${target}" PROPERTY ${property})
    set(kept "")
    foreach(source IN LISTS sources)
      get_filename_component(absolute "${source}" ABSOLUTE)
      if(NOT absolute STREQUAL path)
        list(APPEND kept "${source}")
      endif()
    endforeach()
    set_property(TARGET "${target}" PROPERTY ${property} ${kept})
  endforeach()
endfunction()

# By properties: target_link_libraries would have to be called as the project calls it, with
# keywords or without.
function(_loopxform_link target type)
  set(libraries OpenCL::OpenCL)
  if(UNIX AND NOT APPLE)
    list(APPEND libraries m)
  endif()
  foreach(library IN LISTS libraries)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      set_property(TARGET "${target}" APPEND PROPERTY LINK_LIBRARIES ${library})
    endif()
    if(type MATCHES "^(STATIC|OBJECT)_LIBRARY$")
      set_property(TARGET "${target}" APPEND PROPERTY INTERFACE_LINK_LIBRARIES
        "$<LINK_ONLY:${library}>")
    elseif(type STREQUAL "INTERFACE_LIBRARY")
      set_property(TARGET "${target}" APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${library})
    endif()
  endforeach()
endfunction()

cmake_policy(POP)
