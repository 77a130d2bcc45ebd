// How what waits is listed, from overviews made up by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "explain/overview.h"

namespace muster::explain {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Time kNow{seconds{1'000'000'000}};

Overview three() {
  Overview all{.lines = {}, .read_at = kNow};
  all.lines = {{.kind = "CompositePodGroup",
                .name_space = "default",
                .name = "llm",
                .pods = 3,
                .placed = 1,
                .priority = 10,
                .since = kNow - minutes{5},
                .in_queue = true,
                .ahead = 0,
                .state = State::FitsNow,
                .reason = ""},
               {.kind = "PodGroup",
                .name_space = "apart",
                .name = "train",
                .pods = 2,
                .since = kNow - seconds{30},
                .in_queue = true,
                .ahead = 1,
                .was_planned = false,
                .reason = "not shown"},
               {.kind = "Pod",
                .name_space = "default",
                .name = "web",
                .pods = 1,
                .since = kNow,
                .state = State::Gated,
                .reason = "é waits"},
               {.kind = "Pod",
                .name_space = "default",
                .name = "x",
                .pods = 4,
                .since = kNow,
                .in_queue = true,
                .ahead = 2,
                .state = State::FitsNow,
                .reason = "2 of them"}};
  all.trees = 2;
  all.lone_pods = 5;
  return all;
}

TEST(RenderOverview, HasALineForEachThatWaits) {
  EXPECT_EQ(render_text(three(), 0),
            "AGE  WAITS                          PODS    PRIORITY  AHEAD  STATE        REASON\n"
            "5m   compositepodgroup default/llm  3 of 4  10        0      fits now     the next "
            "attempt will place it\n"
            "30s  podgroup apart/train           2 of 2  0         1      not planned  the budget "
            "ended with those ahead; ask about it by name\n"
            "0s   pod default/web                1       0         -      gated        é waits\n"
            "0s   4 pods like default/x          4       0         2      fits now     2 of them\n"
            "\n2 trees and 5 lone pods wait, in the order of the queue. One of them in full: "
            "muster explain KIND NAME -n NAMESPACE\n");
}

TEST(RenderOverview, CountsTreesAndPodsApart) {
  Overview all = three();
  const auto last_line = [&] {
    const std::string text = render_text(all, 0);
    return text.substr(text.rfind("\n\n") + 2,
                       text.find(',', text.rfind("\n\n")) - text.rfind("\n\n") - 2);
  };
  all.trees = 0;
  EXPECT_EQ(last_line(), "5 lone pods wait");
  all.lone_pods = 1;
  EXPECT_EQ(last_line(), "1 lone pod waits");
  all.lone_pods = 0;
  all.trees = 1;
  EXPECT_EQ(last_line(), "1 tree waits");
  all.lone_pods = 1;
  EXPECT_EQ(last_line(), "1 tree and 1 lone pod wait");
  all.lines.clear();
  EXPECT_EQ(render_text(all, 0), "Nothing waits.\n");
}

// The letter é is two bytes and one column.
TEST(RenderOverview, CutsLinesToTheColumnsOfTheTerminal) {
  Overview all = three();
  all.lines.erase(all.lines.begin(), all.lines.begin() + 2);
  const std::string whole =
      "0s   pod default/web        1     0         -      gated     é waits\n";
  EXPECT_NE(render_text(all, 0).find(whole), std::string::npos) << render_text(all, 0);
  EXPECT_NE(render_text(all, 68).find(whole), std::string::npos) << "it fits";
  EXPECT_NE(render_text(all, 67).find(
                "0s   pod default/web        1     0         -      gated     é wai…\n"),
            std::string::npos)
      << render_text(all, 67);
  EXPECT_NE(
      render_text(all, 62).find("0s   pod default/web        1     0         -      gated     …\n"),
      std::string::npos)
      << render_text(all, 62);
}

TEST(RenderOverview, TellsProgramsTheSame) {
  EXPECT_EQ(render_json(three()), R"({
    "trees": 2,
    "lonePods": 5,
    "waiting": [
        {
            "kind": "CompositePodGroup",
            "namespace": "default",
            "name": "llm",
            "pods": 3,
            "placed": 1,
            "priority": 10,
            "since": "2001-09-09T01:41:40Z",
            "state": "FitsNow",
            "ahead": 0
        },
        {
            "kind": "PodGroup",
            "namespace": "apart",
            "name": "train",
            "pods": 2,
            "placed": 0,
            "priority": 0,
            "since": "2001-09-09T01:46:10Z",
            "state": "NotPlanned",
            "ahead": 1,
            "reason": "not shown"
        },
        {
            "kind": "Pod",
            "namespace": "default",
            "name": "web",
            "pods": 1,
            "placed": 0,
            "priority": 0,
            "since": "2001-09-09T01:46:40Z",
            "state": "Gated",
            "reason": "é waits"
        },
        {
            "kind": "Pod",
            "namespace": "default",
            "name": "x",
            "pods": 4,
            "placed": 0,
            "priority": 0,
            "since": "2001-09-09T01:46:40Z",
            "state": "FitsNow",
            "ahead": 2,
            "reason": "2 of them"
        }
    ]
}
)");
}

}  // namespace
}  // namespace muster::explain
