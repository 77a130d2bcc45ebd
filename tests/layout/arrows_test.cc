#include "layout/arrows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace muster::layout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Each case is a tree as text: the rooms as in rooms.txt, then "file: included header" per line.
struct Case {
  std::string_view name;
  std::string_view rooms;
  std::string_view includes;
  std::string_view want;  // part of the only complaint; empty for none
};

std::vector<Include> includes_of(std::string_view text) {
  std::vector<Include> includes;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t colon = line.find(": ");
    const std::string include = "#include " + std::string(line.substr(colon + 2));
    for (Include& found : parse_includes(line.substr(0, colon), include))
      includes.push_back(std::move(found));
  }
  return includes;
}

constexpr std::string_view kStack =
    "base|base||\n"
    "api|api|muster::base|\n"
    "store|store|muster::api|\n";
constexpr std::string_view kStackIncludes =
    "api/object.h: \"base/result.h\"\n"
    "store/store.h: \"api/object.h\"\n";

const std::vector<Case> kCases = {
    {"ADeclaredArrowMayBeUsed", "", "", ""},
    {"ARoomMayIncludeItself", "", "store/store.cc: \"store/store.h\"\n", ""},
    {"BaseMayComeThroughADeclaredArrow", "", "store/store.cc: \"base/result.h\"\n", ""},
    {"SoMayTheSubRoomsOfApi",
     "values|api/values||\nwatch|watch|muster::store|\n"
     "server|server|muster::watch muster::values|\nhttp|http|muster::server|\n",
     "watch/hub.h: \"store/store.h\"\nserver/list.h: \"watch/hub.h\"\n"
     "server/list.h: \"api/values/quantity.h\"\nhttp/http.h: \"server/list.h\"\n"
     "http/http.cc: \"api/values/quantity.h\"\n",
     ""},
    {"ARoomWithoutCodeMayAnnounceItsArrows", "watch|watch|muster::store|\n", "", ""},
    {"AnUndeclaredIncludeIsFound", "", "base/log.cc: \"api/object.h\"\n",
     "src/base/log.cc:1 includes \"api/object.h\", but room base has no arrow to muster::api: add "
     "it "
     "to DEPENDS in src/base/CMakeLists.txt"},
    {"ANeighboursArrowIsNotOurs", "watch|watch|muster::store|\nserver|server|muster::watch|\n",
     "watch/hub.h: \"store/store.h\"\nserver/list.cc: \"watch/hub.h\"\n"
     "server/list.cc: \"store/store.h\"\n",
     "room server has no arrow to muster::store"},
    {"AnUnusedArrowIsFound", "watch|watch|muster::store muster::api|\n",
     "watch/hub.h: \"store/store.h\"\n",
     "room watch declares an arrow to muster::api, but none of its files uses it"},
    {"ACycleIsFound", "queue|queue|muster::cycle|\ncycle|cycle|muster::queue|\n",
     "queue/queue.h: \"cycle/cycle.h\"\ncycle/cycle.h: \"queue/queue.h\"\n",
     "in a circle: cycle -> queue -> cycle."},
    {"ASubRoomIsARoomOfItsOwn", "engines|store/engines|muster::base|\n",
     "store/engines/memory.cc: \"base/log.h\"\nstore/engines/memory.cc: \"store/store.h\"\n",
     "room engines has no arrow to muster::store"},
    {"AFolderInsideARoomBelongsToIt", "", "store/detail/deep/page.cc: \"api/object.h\"\n", ""},
    {"ATestMayUseTestArrows", "watch|watch|muster::api|muster::store\n",
     "watch/hub.h: \"api/object.h\"\nwatch/hub_test.cc: \"store/store.h\"\n", ""},
    {"TheProductMayNotUseTestArrows", "watch|watch|muster::api|muster::store\n",
     "watch/hub.h: \"api/object.h\"\nwatch/hub_test.cc: \"store/store.h\"\n"
     "watch/hub.cc: \"store/store.h\"\n",
     "src/watch/hub.cc:1 includes \"store/store.h\", but room watch has no arrow"},
    {"AnUnusedTestArrowIsFound", "watch|watch|muster::api|muster::store\n",
     "watch/hub.h: \"api/object.h\"\n", "declares the test arrow muster::store"},
    {"AnArrowThatOnlyTestsUseIsATestArrow", "watch|watch|muster::store|\n",
     "watch/hub_test.cc: \"store/store.h\"\n", "move it from DEPENDS to TEST_DEPENDS"},
    {"AnArrowPointsAtARoom", "watch|watch|muster::attic|\n", "", "but there is no such room"},
    {"ALibraryIsNoArrow", "watch|watch|fmt::fmt|\n", "", "libraries go into LIBRARIES"},
    {"TwoRoomsCannotShareAFolder", "ledger|store||\n", "",
     "rooms store and ledger share the folder"},
    {"AFileOutsideEveryRoomIsFound", "", "attic/old.cc: \"base/log.h\"\n",
     "src/attic/old.cc belongs to no room"},
    {"OurHeadersAreWrittenFromSrc", "", "store/store.cc: \"store.h\"\n", "which is in no room"},
    {"GeneratedHeadersAreLeftAlone", "", "store/store.cc: \"etcd.grpc.pb.h\"\n", ""},
    {"FoldersOfARoomMayNotIncludeEachOtherInACircle", "",
     "store/write/put.cc: \"store/read/get.h\"\nstore/read/get.h: \"store/log/log.h\"\n"
     "store/log/log.cc: \"store/write/put.h\"\n",
     "in a circle: store/log -> store/write -> store/read -> store/log."},
    {"NorWithTheFolderAboveThem", "",
     "store/store.cc: \"store/read/get.h\"\nstore/read/get.h: \"store/key.h\"\n",
     "in a circle: store -> store/read -> store."},
    {"FoldersOneWayAreFine", "",
     "store/write/put.cc: \"store/read/get.h\"\nstore/write/put.h: \"store/log/log.h\"\n"
     "store/read/get.h: \"store/log/log.h\"\n",
     ""},
    {"TestsMayLookIntoAnyFolder", "",
     "store/write/put.cc: \"store/read/get.h\"\nstore/read/get_test.cc: \"store/write/put.h\"\n",
     ""},
    {"FilesOfAFolderMayNotDependOnEachOtherInACircle", "",
     "store/put.cc: \"store/get.h\"\nstore/get.h: \"store/log.h\"\n"
     "store/log.h: \"store/put.h\"\n",
     "in a circle: store/get -> store/log -> store/put -> store/get."},
    {"AHeaderAndItsSourceAreOne", "",
     "store/put.cc: \"store/get.h\"\nstore/get.cc: \"store/put.h\"\n",
     "in a circle: store/get -> store/put -> store/get."},
    {"TestsOfAFolderToo", "",
     "store/log_testing.h: \"store/put_testing.h\"\n"
     "store/put_testing.h: \"store/log_testing.h\"\n",
     "in a circle: store/log_testing -> store/put_testing -> store/log_testing."},
    {"FilesOneWayAreFine", "",
     "store/put.cc: \"store/put.h\"\nstore/put.h: \"store/log.h\"\n"
     "store/put.cc: \"store/get.h\"\nstore/get.cc: \"store/get.h\"\n"
     "store/get.cc: \"store/log.h\"\nstore/get_test.cc: \"store/put.h\"\n",
     ""},
    {"ALinkOnlyArrowSaysWhy", "watch|watch|muster::api||muster::store||||\n",
     "watch/hub.h: \"api/object.h\"\n", "does not say why: add BECAUSE"},
    {"ALinkOnlyArrowWithAReasonIsFine",
     "watch|watch|muster::api||muster::store||it is defined there|muster::api muster::store|\n",
     "watch/hub.h: \"api/object.h\"\n", ""},
    {"AnIncludedRoomIsNotLinkOnly",
     "watch|watch|muster::api||muster::store||it is defined there||\n",
     "watch/hub.h: \"api/object.h\"\nwatch/hub.cc: \"store/store.h\"\n",
     "so muster::store is no link-only arrow: move it to DEPENDS"},
    {"ALinkOnlyArrowCanCloseACycle",
     "queue|queue|muster::cycle||||||\ncycle|cycle|muster::base||muster::queue||why not||\n",
     "queue/queue.h: \"cycle/cycle.h\"\ncycle/cycle.h: \"base/result.h\"\n",
     "in a circle: cycle -> queue -> cycle."},
    {"NothingIsLinkedPastTheDeclaration",
     "watch|watch|muster::api|||||muster::api muster::store|\n", "watch/hub.h: \"api/object.h\"\n",
     "room watch links muster::store without declaring it"},
    {"NorIntoTests", "watch|watch|muster::api||||||muster::watch muster::store\n",
     "watch/hub.h: \"api/object.h\"\n", "the tests of room watch link muster::store without"},
    {"AHeavyLibraryStaysBehindItsDoor", "", "store/store.cc: <boost/json.hpp>\n",
     "src/store/store.cc:1 includes <boost/json.hpp>, which stands behind the door of src/api"},
    {"BehindItsDoorAHeavyLibraryIsWelcome", "", "api/codec/json.cc: <boost/json/parse.hpp>\n", ""},
    {"ALightLibraryIsFineAnywhere", "",
     "store/store.cc: <boost/unordered/unordered_flat_map.hpp>\n", ""},
};

class Arrows : public ::testing::TestWithParam<Case> {};

TEST_P(Arrows, Hold) {
  const Case& given = GetParam();
  const auto rooms = parse_rooms(std::string(kStack) + std::string(given.rooms));
  const auto includes = includes_of(std::string(kStackIncludes) + std::string(given.includes));
  if (given.want.empty())
    EXPECT_THAT(complaints(rooms, includes), IsEmpty());
  else
    EXPECT_THAT(complaints(rooms, includes), ElementsAre(HasSubstr(std::string(given.want))));
}

INSTANTIATE_TEST_SUITE_P(, Arrows, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ParseIncludes, FindsEveryFormAndItsLine) {
  const auto found = parse_includes("api/object.cc",
                                    "// #include \"not/this.h\"\n"
                                    "#include \"api/object.h\"\n"
                                    "\n"
                                    "  #  include <vector>  // why\n"
                                    "#include HWY_TARGET_INCLUDE\n");
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].header, "api/object.h");
  EXPECT_TRUE(found[0].quoted);
  EXPECT_EQ(found[0].line, 2);
  EXPECT_EQ(found[1].header, "vector");
  EXPECT_FALSE(found[1].quoted);
  EXPECT_EQ(found[1].line, 4);
}

TEST(ReadIncludes, ReadsHeadersAndSourcesInTheOrderOfTheirPaths) {
  namespace fs = std::filesystem;
  const fs::path src = fs::path(::testing::TempDir()) / "layout_read_includes";
  fs::remove_all(src);
  fs::create_directories(src / "store" / "engines");
  std::ofstream(src / "store" / "store.h") << "#include <string>\n";
  std::ofstream(src / "store" / "engines" / "memory.cc") << "#include \"store/store.h\"\n";
  std::ofstream(src / "store" / "notes.md") << "#include \"nothing.h\"\n";

  std::vector<std::string> files;
  for (const Include& include : read_includes(src)) files.push_back(include.file);
  EXPECT_THAT(files, ElementsAre("store/engines/memory.cc", "store/store.h"));
  fs::remove_all(src);
}

}  // namespace
}  // namespace muster::layout
