# muster_module(<room> SOURCES … TESTS … DEPENDS … [TEST_DEPENDS …] [LIBRARIES …] [TEST_LIBRARIES …]
#               [LINK_ONLY …] [TEST_LINK_ONLY …] [BECAUSE "…"])
#
# One target per room: the library muster_<room> with alias muster::<room>, and one test binary
# <room>_test that holds all its tests. DEPENDS are the arrows to other rooms (they are also written to
# rooms.txt in the build tree, where a test compares them with the real includes); TEST_DEPENDS are
# arrows that only the room's tests have; LIBRARIES are third-party targets, public because headers
# of a room may name them. LINK_ONLY names rooms that are linked although no include leads there, and
# BECAUSE says why.
include(GoogleTest)
set_property(GLOBAL PROPERTY MUSTER_ROOMS "")

function(muster_module room)
  cmake_parse_arguments(M "" "BECAUSE" "SOURCES;TESTS;DEPENDS;TEST_DEPENDS;LIBRARIES;TEST_LIBRARIES;LINK_ONLY;TEST_LINK_ONLY"
                        ${ARGN})
  if(M_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "muster_module(${room}): unknown words: ${M_UNPARSED_ARGUMENTS}")
  endif()
  if(M_SOURCES)
    add_library(muster_${room} STATIC ${M_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(muster_${room} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(muster::${room} ALIAS muster_${room})
  target_include_directories(muster_${room} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(muster_${room} ${scope} ${M_DEPENDS} ${M_LINK_ONLY} ${M_LIBRARIES})
  if(M_SOURCES)
    muster_use_prelude(muster_${room})
    muster_group_sources(muster_${room})
  endif()

  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE ";" " " arrows "${M_DEPENDS}")
  string(REPLACE ";" " " test_arrows "${M_TEST_DEPENDS}")
  string(REPLACE ";" " " link_only "${M_LINK_ONLY}")
  string(REPLACE ";" " " test_link_only "${M_TEST_LINK_ONLY}")
  set_property(GLOBAL APPEND PROPERTY MUSTER_ROOMS
               "${room}|${folder}|${arrows}|${test_arrows}|${link_only}|${test_link_only}|${M_BECAUSE}")

  if(M_TESTS AND MUSTER_BUILD_TESTS)
    add_executable(${room}_test ${M_TESTS})
    target_link_libraries(${room}_test PRIVATE muster::${room} ${M_TEST_DEPENDS} ${M_TEST_LINK_ONLY}
                                               ${M_TEST_LIBRARIES}
                                               GTest::gtest_main)
    muster_use_prelude(${room}_test TEST)
    muster_group_sources(${room}_test)
    gtest_discover_tests(${room}_test TEST_PREFIX "${room}." NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST
                         PROPERTIES TIMEOUT 300)
  endif()
endfunction()

# The rooms a target links, by whichever command they got there, as a list of words.
function(muster_linked_rooms target out)
  set(rooms "")
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
    else()
      get_target_property(libraries ${target} LINK_LIBRARIES)
    endif()
    if(libraries)
      list(FILTER libraries INCLUDE REGEX "^muster::")
      list(REMOVE_DUPLICATES libraries)
      string(REPLACE ";" " " rooms "${libraries}")
    endif()
  endif()
  set(${out} "${rooms}" PARENT_SCOPE)
endfunction()

# Writes the declared arrows, and what is really linked, where tests/layout can read them.
function(muster_write_rooms)
  get_property(rooms GLOBAL PROPERTY MUSTER_ROOMS)
  set(text "")
  foreach(line IN LISTS rooms)
    string(REGEX REPLACE "[|].*" "" room "${line}")
    muster_linked_rooms(muster_${room} linked)
    muster_linked_rooms(${room}_test test_linked)
    string(APPEND text "${line}|${linked}|${test_linked}\n")
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/rooms.txt "${text}")
endfunction()
