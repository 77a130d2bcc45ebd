#include "explain/words.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "explain/indented_json.h"
#include "explain/naming.h"

namespace muster::explain {
namespace {

using Lines = std::vector<std::string>;
using scheduler::GroupKey;
using scheduler::GroupKind;

TEST(Words, ATopologyKeyIsCalledByItsLastWord) {
  EXPECT_EQ(word_of("topology.kubernetes.io/rack"), "rack");
  EXPECT_EQ(word_of("a/b/c"), "c");
  EXPECT_EQ(word_of("rack"), "rack");
  Level level;
  level.topology_key = "topology.kubernetes.io/rack";
  EXPECT_EQ(domain_word(level), "rack");
  level.generators = {"NodeSetPlacements"};
  EXPECT_EQ(domain_word(level), "placement");
}

TEST(Words, OfAMessageInsideASentenceOneFullStopGoes) {
  EXPECT_EQ(without_full_stop("it waits."), "it waits");
  EXPECT_EQ(without_full_stop("it waits"), "it waits");
  EXPECT_EQ(without_full_stop("a.b"), "a.b");
  EXPECT_EQ(without_full_stop(""), "");
}

TEST(Words, RequestsAreSaidAsUsersWriteThem) {
  api::PodNeeds needs;
  EXPECT_EQ(asks_for(needs), "nothing");
  needs.requests.cpu_milli = 1500;
  EXPECT_EQ(asks_for(needs), "cpu 1500m");
  needs.requests.memory = std::int64_t{3} << 30U;
  needs.requests.ephemeral_storage = std::int64_t{5} << 20U;
  needs.requests.scalars = {
      {"example.com/none", 0}, {"hugepages-2Mi", std::int64_t{4} << 20U}, {"nvidia.com/gpu", 8}};
  EXPECT_EQ(asks_for(needs),
            "cpu 1500m, memory 3Gi, ephemeral-storage 5Mi, hugepages-2Mi 4Mi, nvidia.com/gpu 8");
}

TEST(Words, WidthIsInColumns) {
  EXPECT_EQ(width_of("abc"), 3U);
  EXPECT_EQ(width_of("├─ é"), 4U);
  EXPECT_EQ(padded("é", 3), "é  ");
  EXPECT_EQ(padded("abc", 3), "abc");
  EXPECT_EQ(padded("abcd", 3), "abcd");
}

TEST(Words, LinesAreBrokenAtTheLastBlankThatFits) {
  EXPECT_EQ(wrapped("abc def\n", 7), "abc def\n") << "it fits";
  EXPECT_EQ(wrapped("abc def\n", 6), "abc\ndef\n");
  EXPECT_EQ(wrapped("abc def ghi\n", 7), "abc def\nghi\n") << "the blank itself need not fit";
  EXPECT_EQ(wrapped("é é é é\n", 3), "é é\né é\n");
  EXPECT_EQ(wrapped("no end", 20), "no end\n");
  EXPECT_EQ(wrapped("a\n\nb\n", 20), "a\n\nb\n");
  EXPECT_EQ(wrapped("  └─ podgroup/a  one two\n", 10), "  └─ podgroup/a  one two\n")
      << "rows of trees stay";
  EXPECT_EQ(wrapped("see kubectl get pods\n", 10), "see\nkubectl\nget pods\n")
      << "it only begins with kubectl in a command";
  EXPECT_EQ(wrapped("", 10), "");
}

TEST(Words, BranchesAreDrawnByDepth) {
  const std::vector<std::size_t> depths{0, 1, 2, 2, 1, 2, 0, 1};
  EXPECT_EQ(branches(depths), (Lines{"", "├─ ", "│  ├─ ", "│  └─ ", "└─ ", "   └─ ", "", "└─ "}));
  EXPECT_TRUE(branches({}).empty());
}

TEST(Words, NumbersInsideNamesCount) {
  struct Case {
    const char *less, *more;
  };
  for (const Case& c :
       {Case{"a-2", "a-10"}, Case{"a-9-b", "a-10-a"}, Case{"a-1", "b-0"}, Case{"a", "a-1"},
        Case{"2", "10"}, Case{"a-02", "a-3"}, Case{"a1b2", "a1b10"}, Case{"a-x", "a-y"},
        Case{"a-1x", "a-1y"}, Case{"a-9", "a-x"}}) {
    EXPECT_TRUE(counts_before(c.less, c.more)) << c.less << " " << c.more;
    EXPECT_FALSE(counts_before(c.more, c.less)) << c.less << " " << c.more;
  }
  EXPECT_FALSE(counts_before("a-1", "a-1"));
}

TEST(Words, GroupsAreNamedAsKubectlTakesThem) {
  const GroupKey leaf{GroupKind::PodGroup, "default", "train"};
  const GroupKey root{GroupKind::CompositePodGroup, "apart", "llm"};
  EXPECT_EQ(name_of(leaf), "podgroup default/train");
  EXPECT_EQ(name_of(root), "compositepodgroup apart/llm");
  EXPECT_EQ(kind_word(leaf.kind), "PodGroup");
  EXPECT_EQ(kind_word(root.kind), "CompositePodGroup");
  EXPECT_EQ(minimum_field(leaf.kind), "minCount");
  EXPECT_EQ(minimum_field(root.kind), "minGroupCount");
}

TEST(Words, WhatMayNotBeNamedIsNot) {
  const Naming all;
  const Naming few([](std::string_view name_space) { return name_space == "default"; });
  const GroupKey apart{GroupKind::PodGroup, "apart", "train"};
  api::ObjectMeta pod;
  pod.name_space = "apart";
  pod.name = "web";
  EXPECT_EQ(all.group(apart), "podgroup apart/train");
  EXPECT_EQ(all.pod(pod), "pod apart/web");
  EXPECT_EQ(few.group(apart), "a group in another namespace");
  EXPECT_EQ(few.pod(pod), "a pod in another namespace");
  pod.name_space = "default";
  EXPECT_EQ(few.pod(pod), "pod default/web");
  EXPECT_EQ(few.group({GroupKind::PodGroup, "default", "train"}), "podgroup default/train");
}

TEST(Words, EveryStateHasAWordAndAName) {
  const std::map<State, std::pair<std::string_view, std::string_view>> all{
      {State::Scheduled, {"scheduled", "Scheduled"}},
      {State::FitsNow, {"fits now", "FitsNow"}},
      {State::BehindOthers, {"behind others", "BehindOthers"}},
      {State::Unschedulable, {"unschedulable", "Unschedulable"}},
      {State::Unresolved, {"unresolved", "Unresolved"}},
      {State::WaitsByPreference, {"waits by preference", "WaitsByPreference"}},
      {State::Missing, {"missing", "Missing"}},
      {State::BelowMinimum, {"below minimum", "BelowMinimum"}},
      {State::Gated, {"gated", "Gated"}},
      {State::Held, {"held", "Held"}},
      {State::Invalid, {"invalid", "Invalid"}},
      {State::Terminating, {"terminating", "Terminating"}}};
  for (const auto& [state, words] : all) {
    EXPECT_EQ(state_word(state), words.first);
    EXPECT_EQ(state_name(state), words.second);
  }
}

TEST(Words, EveryRelaxationHasAName) {
  const std::map<RelaxationKind, std::string_view> all{
      {RelaxationKind::SmallerMinimum, "SmallerMinimum"},
      {RelaxationKind::WiderTopology, "WiderTopology"},
      {RelaxationKind::NoTopology, "NoTopology"},
      {RelaxationKind::LabelNodes, "LabelNodes"},
      {RelaxationKind::NoPlacements, "NoPlacements"},
      {RelaxationKind::MoreNodes, "MoreNodes"},
      {RelaxationKind::Uncordon, "Uncordon"},
      {RelaxationKind::Untaint, "Untaint"},
      {RelaxationKind::OthersFinish, "OthersFinish"},
      {RelaxationKind::ShorterWait, "ShorterWait"}};
  for (const auto& [kind, name] : all) EXPECT_EQ(relaxation_name(kind), name);
}

TEST(Words, JsonIsIndentedByFour) {
  const api::Json document =
      api::parse_json(R"({"a":{"b":[1,{"c":"x\"y"}],"d":[]},"e":{},"f":true})").value().value;
  EXPECT_EQ(indented_json(document), R"({
    "a": {
        "b": [
            1,
            {
                "c": "x\"y"
            }
        ],
        "d": []
    },
    "e": {},
    "f": true
}
)");
}

}  // namespace
}  // namespace muster::explain
