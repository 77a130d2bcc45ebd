# muster_module(<room> SOURCES … TESTS … DEPENDS … [TEST_DEPENDS …] [LIBRARIES …] [TEST_LIBRARIES …])
#
# One target per room: the library muster_<room> with alias muster::<room>, and one test binary
# <room>_test that holds all its tests. DEPENDS are the arrows to other rooms (they are also written to
# rooms.txt in the build tree, where a test compares them with the real includes); TEST_DEPENDS are
# arrows that only the room's tests have; LIBRARIES are third-party targets, public because headers
# of a room may name them.
include(GoogleTest)
set_property(GLOBAL PROPERTY MUSTER_ROOMS "")

function(muster_module room)
  cmake_parse_arguments(M "" "" "SOURCES;TESTS;DEPENDS;TEST_DEPENDS;LIBRARIES;TEST_LIBRARIES" ${ARGN})
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
  target_link_libraries(muster_${room} ${scope} ${M_DEPENDS} ${M_LIBRARIES})
  if(M_SOURCES)
    muster_use_prelude(muster_${room})
  endif()

  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE ";" " " arrows "${M_DEPENDS}")
  string(REPLACE ";" " " test_arrows "${M_TEST_DEPENDS}")
  set_property(GLOBAL APPEND PROPERTY MUSTER_ROOMS
               "${room}|${folder}|${arrows}|${test_arrows}")

  if(M_TESTS AND MUSTER_BUILD_TESTS)
    add_executable(${room}_test ${M_TESTS})
    target_link_libraries(${room}_test PRIVATE muster::${room} ${M_TEST_DEPENDS} ${M_TEST_LIBRARIES}
                                               GTest::gtest_main)
    muster_use_prelude(${room}_test TEST)
    gtest_discover_tests(${room}_test TEST_PREFIX "${room}." NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST
                         PROPERTIES TIMEOUT 300)
  endif()
endfunction()

# Writes the declared arrows where tests/layout can read them.
function(muster_write_rooms)
  get_property(rooms GLOBAL PROPERTY MUSTER_ROOMS)
  string(REPLACE ";" "\n" text "${rooms}")
  file(WRITE ${CMAKE_BINARY_DIR}/rooms.txt "${text}\n")
endfunction()
