# The version that find_package(Loopxform VERSION) asks for is that of the tool that will run.
include("${CMAKE_CURRENT_LIST_DIR}/LoopxformTool.cmake")
set(PACKAGE_VERSION "${_loopxform_version}")
if(PACKAGE_VERSION AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
