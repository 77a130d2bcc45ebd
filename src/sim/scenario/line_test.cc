#include "sim/scenario/line.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "sim/scenario/node_line.h"

namespace muster::sim {
namespace {

Line line_of(std::string_view text) {
  Result<std::vector<Line>> lines = read_lines(text);
  EXPECT_TRUE(lines) << lines.error().message;
  return lines->at(0);
}

// "a(b c(d))": the first words of the lines, with those below them.
std::string tree(const std::vector<Line>& lines) {
  std::string out;
  for (const Line& line : lines) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", line.number, line.words.front());
    if (!line.below.empty()) out += "(" + tree(line.below) + ")";
  }
  return out;
}
std::string tree(std::string_view text) {
  const Result<std::vector<Line>> lines = read_lines(text);
  return lines ? tree(*lines) : lines.error().message;
}

TEST(ReadLines, IndentationTellsWhatIsBelowWhat) {
  EXPECT_EQ(tree(""), "");
  EXPECT_EQ(tree("a\n\n  b\n  # only a comment\n  c\n      d\ne\r\n  f"),
            "1:a(3:b 5:c(6:d)) 7:e(8:f)");
  EXPECT_EQ(tree("a\n  b\n    c\n  d\ne\n"), "1:a(2:b(3:c) 4:d) 5:e");
  EXPECT_EQ(tree("  a"), "1: the first line must not be indented");
  EXPECT_EQ(tree("a\n    b\n  c"), "3: indented unlike the lines beside it");
  EXPECT_EQ(tree("a\n\tb"), "2: indent with spaces, not with tabs");
}

TEST(ReadLines, ACommentBeginsWithAWord) {
  const Line line = line_of("node#1  image=a#b  # the rest # is not read\n");
  EXPECT_EQ(line.text, "node#1  image=a#b");
  EXPECT_EQ(line.words, (std::vector<std::string>{"node#1", "image=a#b"}));
  EXPECT_EQ(tree("#a\nb"), "2:b");
}

TEST(Words, AreReadOneAfterTheOther) {
  const Line line = line_of("gang g 7 x");
  Words words(line, 1);
  EXPECT_EQ(words.peek(), "g");
  EXPECT_FALSE(words.next_if("h"));
  EXPECT_TRUE(words.next_if("g"));
  EXPECT_EQ(words.need_number("a number").value(), 7);
  EXPECT_EQ(words.end().error().message, "1: `x` is too much in `gang g 7 x`");
  EXPECT_EQ(words.need("a word").value(), "x");
  EXPECT_TRUE(words.done());
  EXPECT_TRUE(words.end());
  EXPECT_EQ(words.peek(), "");
  EXPECT_EQ(words.next(), "");
  EXPECT_EQ(words.need("a word").error().message, "1: `gang g 7 x` ends where a word is expected");
}

TEST(ReadNumber, TakesWholeNumbersAlone) {
  const Line line = line_of("x");
  EXPECT_EQ(read_number(line, "-3").value(), -3);
  for (const char* text : {"", "3x", "x", "3.5", "99999999999"})
    EXPECT_EQ(read_number(line, text).error().message,
              fmt::format("1: {} is no whole number", text));
}

TEST(ReadSetting, IsCutAtTheFirstEqualsSign) {
  EXPECT_EQ(read_setting("taint=a=b").name, "taint");
  EXPECT_EQ(read_setting("taint=a=b").value, "a=b");
  EXPECT_EQ(read_setting("a=").value, "");
  EXPECT_EQ(read_setting("word").name, "");
}

TEST(ExpandRange, NamesEveryNode) {
  const Line line = line_of("x");
  const auto expand = [&](std::string_view pattern) {
    const auto names = expand_range(line, pattern);
    return names ? fmt::format("{}", fmt::join(*names, " ")) : names.error().message;
  };
  EXPECT_EQ(expand("n"), "n");
  EXPECT_EQ(expand("a-[2..4]"), "a-2 a-3 a-4");
  EXPECT_EQ(expand("a[7..7]-x"), "a7-x");
  EXPECT_EQ(expand("a[0..10000]").substr(0, 8), "a0 a1 a2");
  EXPECT_EQ(expand("a[0..10001]"), "1: a[0..10001] is no range of at most 10000 names");
  EXPECT_EQ(expand("a[2..1]"), "1: a[2..1] is no range of at most 10000 names");
  for (const char* odd : {"a[1..2", "a[1-2]", "a[1]..2"})
    EXPECT_EQ(expand(odd), fmt::format("1: {} is no range of names: write n[1..4]", odd));
  EXPECT_EQ(expand("a[x..2]"), "1: x is no whole number");
  EXPECT_EQ(expand("a[1..]"), "1:  is no whole number");
}

TEST(ReadTaint, HasAKeyAnEffectAndPerhapsAValue) {
  const Line line = line_of("x");
  const auto taint = [&](std::string_view text) {
    const auto read = read_taint(line, text);
    return read ? api::to_text(*read) : read.error().message;
  };
  EXPECT_EQ(taint("spot:NoSchedule"), R"({"effect":"NoSchedule","key":"spot"})");
  EXPECT_EQ(taint("a=b:NoExecute"), R"({"effect":"NoExecute","key":"a","value":"b"})");
  EXPECT_EQ(taint("a:PreferNoSchedule"), R"({"effect":"PreferNoSchedule","key":"a"})");
  for (const char* odd : {"spot", ":NoSchedule"})
    EXPECT_EQ(taint(odd), fmt::format("1: {} is no taint: write KEY:NoSchedule or "
                                      "KEY=VALUE:NoSchedule",
                                      odd));
  EXPECT_EQ(taint("a:Never"), "1: Never is no effect: NoSchedule, PreferNoSchedule or NoExecute");
}

TEST(Levels, HaveWordsAndKeys) {
  for (const auto& [word, key] : {std::pair{"zone", "topology.kubernetes.io/zone"},
                                  {"block", "topology.muster.dev/block"},
                                  {"rack", "topology.kubernetes.io/rack"},
                                  {"host", "kubernetes.io/hostname"},
                                  {"example.com/row", "example.com/row"}}) {
    EXPECT_EQ(label_key(word), key);
    EXPECT_EQ(level_word(key), word);
  }
}

TEST(ResourceName, KnowsWordsAndFullNames) {
  for (const auto& [word, name] : {std::pair{"gpu", "nvidia.com/gpu"},
                                   {"cpu", "cpu"},
                                   {"memory", "memory"},
                                   {"ephemeral-storage", "ephemeral-storage"},
                                   {"example.com/fpga", "example.com/fpga"},
                                   {"tpu", ""}})
    EXPECT_EQ(resource_name(word), name);
}

// The manifests that a line makes, one after the other, or what is wrong with it.
std::string nodes(std::string_view text) {
  const Line line = line_of(text);
  ClusterShape shape;
  if (const auto read = read_nodes(line, Words(line), shape); !read) return read.error().message;
  std::string out;
  for (const api::Json& node : shape.nodes) out += api::to_text(node);
  return out;
}

TEST(ReadNodes, ALineSaysAllAboutItsNodes) {
  EXPECT_EQ(nodes("rack r1 nodes a b"),
            R"({"metadata":{"name":"a","labels":{"topology.kubernetes.io/rack":"r1"}},)"
            R"("spec":{},"status":{"allocatable":{"pods":"110"}}})"
            R"({"metadata":{"name":"b","labels":{"topology.kubernetes.io/rack":"r1"}},)"
            R"("spec":{},"status":{"allocatable":{"pods":"110"}}})");
  EXPECT_EQ(nodes("node a cordoned pods=5 gpu=8 label=disk=ssd label=zone=z taint=t:NoSchedule "
                  "image=app:1=800Mi feature=F"),
            R"({"metadata":{"name":"a","labels":{"disk":"ssd","topology.kubernetes.io/zone":"z"}},)"
            R"("spec":{"taints":[{"effect":"NoSchedule","key":"t"}],"unschedulable":true},)"
            R"("status":{"allocatable":{"pods":"5","nvidia.com/gpu":"8"},)"
            R"("images":[{"names":["app:1"],"sizeBytes":838860800}],"declaredFeatures":["F"]}})");
  EXPECT_EQ(nodes("nodes a zone z nodes b cordoned"), nodes("zone z cordoned nodes a b"));
}

TEST(ReadNodes, SaysWhatIsWrongWithAWord) {
  EXPECT_EQ(nodes("zone z cpu=4"), "1: `zone z cpu=4` names no node: write nodes a-[1..4]");
  EXPECT_EQ(nodes("nodes a zone"), "1: `nodes a zone` ends where a name is expected");
  EXPECT_EQ(nodes("nodes a label=x"), "1: label=x: write label=KEY=VALUE");
  EXPECT_EQ(nodes("nodes a image=app=1"),
            "1: image=app=1: write image=NAME:TAG=SIZE, such as image=app:v1=800Mi");
  EXPECT_EQ(nodes("nodes a image=app:1=big"),
            "1: image=app:1=big: write image=NAME:TAG=SIZE, such as image=app:v1=800Mi");
  EXPECT_EQ(nodes("nodes a cpu=lots"), "1: cpu=lots: lots is no amount such as 8, 500m or 64Gi");
  EXPECT_EQ(nodes("nodes a tpu=4"),
            "1: unknown word `tpu=4` about nodes; there are zone NAME, block NAME, rack NAME, "
            "nodes NAMES, cordoned, label=KEY=VALUE, taint=KEY[=VALUE]:EFFECT, "
            "image=NAME:TAG=SIZE, feature=NAME, or a resource such as cpu=4");
}

}  // namespace
}  // namespace muster::sim
