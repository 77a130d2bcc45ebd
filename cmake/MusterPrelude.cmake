# muster_use_prelude(<target> [TEST])
#
# Headers that most files include are parsed once per build, not once per file: it takes a third off a
# full build. A prelude holds only libraries, never headers of ours, so that an edit rebuilds no more
# than what includes it. Every file still includes what it uses; the preset `tidy` compiles without
# preludes and so checks that, as far as the neighbours in a file's group do not hide it.
file(WRITE ${CMAKE_BINARY_DIR}/prelude.cc "")

# GCC accepts a precompiled header only under the macros it was made with, so users link these too.
add_library(muster_prelude_libraries INTERFACE)
target_link_libraries(muster_prelude_libraries INTERFACE
  Boost::json fmt::fmt tl::expected Threads::Threads muster_warnings)

function(muster_prelude name)
  cmake_parse_arguments(P "" "" "HEADERS;LIBRARIES" ${ARGN})
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/prelude.cc)
  target_link_libraries(${name} PRIVATE ${P_LIBRARIES} muster_prelude_libraries)
  target_precompile_headers(${name} PRIVATE ${P_HEADERS})
endfunction()

set(prelude_headers
  <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <functional> <map> <memory> <mutex>
  <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
  <boost/json/array.hpp> <boost/json/object.hpp> <boost/json/value.hpp>
  <fmt/format.h> <fmt/ranges.h> <tl/expected.hpp>)
muster_prelude(muster_prelude HEADERS ${prelude_headers})
if(MUSTER_BUILD_TESTS)
  muster_prelude(muster_test_prelude HEADERS ${prelude_headers} <gmock/gmock.h> <gtest/gtest.h>
                 LIBRARIES GTest::gmock GTest::gtest)
endif()

function(muster_use_prelude target)
  target_link_libraries(${target} PRIVATE muster_prelude_libraries)
  if("TEST" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM muster_test_prelude)
  else()
    target_precompile_headers(${target} REUSE_FROM muster_prelude)
  endif()
endfunction()
