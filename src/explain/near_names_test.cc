#include "explain/near_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explain/explain_testing.h"

// Names and labels that were perhaps meant.
namespace muster::explain {
namespace {

using Sentences = std::vector<std::string>;

TEST(NearNames, TheClosestWordIsMeant) {
  EXPECT_EQ(nearest("rakc", {"block", "rack", "ranks"}), "rack");
  EXPECT_EQ(nearest("rack", {"rick", "rock"}), "rick") << "of equal ones the first";
  EXPECT_EQ(nearest("train", {"trainer"}), "trainer") << "one is part of the other";
  EXPECT_EQ(nearest("trainer-of-models", {"train"}), "train");
  EXPECT_EQ(nearest("train", {"web"}), "");
  EXPECT_EQ(nearest("train", {}), "");
}

// One letter, and one more for every four of the longer name.
TEST(NearNames, LongNamesMayDifferInMoreLetters) {
  EXPECT_EQ(nearest("abc", {"abx"}), "abx");
  EXPECT_EQ(nearest("abc", {"axy"}), "");
  EXPECT_EQ(nearest("abcd", {"abxy"}), "abxy");
  EXPECT_EQ(nearest("abcd", {"axyz"}), "");
  EXPECT_EQ(nearest("abcdefgh", {"xbcxefgx"}), "xbcxefgx");
  EXPECT_EQ(nearest("abcdefgh", {"xbcxexgx"}), "");
  EXPECT_EQ(nearest("abc", {"bcx"}), "") << "a letter dropped and one added are two";
  EXPECT_EQ(nearest("abcd", {"bcdx"}), "bcdx");
}

std::string unknown_train(const Yard& yard, const std::string& name = "train",
                          GroupKind kind = GroupKind::PodGroup) {
  const Error error = unknown_group(yard.objects, {kind, "default", name});
  EXPECT_EQ(error.reason, Reason::NotFound);
  return error.message;
}

TEST(NearNames, SimilarOnesAreOfferedTheClosestFirst) {
  Yard yard;
  for (const char* name : {"trainer-x", "trains", "tarin", "trai", "web"})
    yard.group({.name = name, .minimum = 1});
  EXPECT_EQ(
      unknown_train(yard),
      "there is no podgroup train in namespace default; did you mean trains or trai or tarin?");
}

TEST(NearNames, TheSameNameElsewhereIsOffered) {
  Yard yard;
  yard.composite({.name = "train", .minimum = 1});
  yard.add_pod({.name = "train"});
  yard.group({.name = "tarin", .minimum = 1});
  EXPECT_EQ(unknown_train(yard),
            "there is no podgroup train in namespace default; did you mean compositepodgroup train "
            "or pod train or tarin?");
  EXPECT_EQ(unknown_pod(yard.objects, "apart", "train").message,
            "there is no pod train in namespace apart; did you mean train -n default?");
  EXPECT_EQ(unknown_pod(yard.objects, "apart", "tran").message,
            "there is no pod tran in namespace apart; there are no pods there at all (-n chooses "
            "another)");
}

TEST(NearNames, WhereNothingIsSimilarTheListIsNamed) {
  Yard yard;
  yard.composite({.name = "one", .minimum = 1})
      .composite({.name = "two", .minimum = 1})
      .group({.name = "three", .minimum = 1});
  EXPECT_EQ(unknown_train(yard, "quite-different", GroupKind::CompositePodGroup),
            "there is no compositepodgroup quite-different in namespace default; `kubectl -n "
            "default get compositepodgroups` lists the 2 there are");
}

// --- labels ---

Sentences missing(const Yard& yard, const std::string& spec) {
  Yard asked = yard;
  asked.add_pod({.name = "web", .cpu = "1", .spec = spec});
  const Result<Explanation> told = asked.ask_pod("web");
  EXPECT_TRUE(told) << told.error().message;
  return told->no_such_label;
}
std::string required(const std::string& terms) {
  return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)" +
         terms + "]}}}";
}
Yard with_gpus() {
  Yard yard;
  const auto add = [&](const std::string& gpu, int count) {
    for (int i = 0; i < count; ++i)
      yard.add_node({.name = fmt::format("{}-{}", gpu, i), .cpu = "8", .labels = {{"gpu", gpu}}});
  };
  add("a10", 1);
  add("b200", 2);
  add("h100", 3);
  return yard;
}

TEST(MissingLabels, TheValuesThatThereAreAreListedByNodes) {
  EXPECT_EQ(
      missing(with_gpus(), R"("nodeSelector":{"gpu":"h200"})"),
      Sentences{
          "no node has the label gpu=h200; it is h100 on 3 nodes, b200 on 2 nodes, a10 on 1 node"});
  Yard more = with_gpus();
  more.add_node({.name = "x", .cpu = "8", .labels = {{"gpu", "x1"}}})
      .add_node({.name = "y", .cpu = "8", .labels = {{"gpu", "y1"}}});
  EXPECT_EQ(missing(more, R"("nodeSelector":{"gpu":"h200"})"),
            Sentences{"no node has the label gpu=h200; it is h100 on 3 nodes, b200 on 2 nodes, a10 "
                      "on 1 node, 2 other values"});
}

TEST(MissingLabels, AreReadFromASingleTerm) {
  const auto expression = [](const std::string& key, const std::string& op,
                             const std::string& values) {
    return R"({"key":")" + key + R"(","operator":")" + op + R"(","values":[)" + values + "]}";
  };
  const auto term = [](const std::string& expressions) {
    return R"({"matchExpressions":[)" + expressions + "]}";
  };
  const std::string unknown = expression("gpu", "In", R"("h200","h300")");
  EXPECT_EQ(missing(with_gpus(), required(term(unknown))),
            Sentences{"no node has the label gpu=h200 or h300; it is h100 on 3 nodes, b200 on 2 "
                      "nodes, a10 on 1 node"});
  EXPECT_EQ(
      missing(with_gpus(), required(term(unknown) + "," + term(expression("gpu", "In", R"("x")")))),
      Sentences{})
      << "of several terms one may match some day";
  EXPECT_EQ(missing(with_gpus(), required(term(expression("gpu", "In", R"("h200","a10")") + "," +
                                               expression("no", "Exists", "")))),
            Sentences{"no node has the label no"});
  EXPECT_EQ(missing(with_gpus(), required(term(expression("gpus", "Exists", "") + "," +
                                               expression("no", "NotIn", R"("x")")))),
            Sentences{"no node has the label gpus; did you mean gpu?"});
  EXPECT_EQ(missing(with_gpus(), R"("nodeSelector":{"gpus":"a10"})"),
            Sentences{"no node has the label gpus; did you mean gpu?"});
}

TEST(MissingLabels, ThreeAreNamedAndEachOnce) {
  EXPECT_EQ(missing(with_gpus(), R"("nodeSelector":{"n1":"","n2":"","n3":"","n4":""})"),
            (Sentences{"no node has the label n1", "no node has the label n2",
                       "no node has the label n3"}));
  Yard yard = with_gpus().group({.name = "duo", .minimum = 2, .key = "zone"});
  for (const char* cpu : {"1", "2"})
    yard.add_pod({.name = fmt::format("duo-{}", cpu),
                  .cpu = cpu,
                  .group = "duo",
                  .spec = R"("nodeSelector":{"zone":"z"})"});
  const Result<Explanation> told = yard.ask("duo");
  EXPECT_EQ(told->no_such_label, Sentences{"no node has the label zone"});
}

}  // namespace
}  // namespace muster::explain
