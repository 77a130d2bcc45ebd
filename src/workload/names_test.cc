#include "workload/names.h"

#include <gtest/gtest.h>

#include <string>

#include "api/values/names.h"

namespace muster::workload {
namespace {

TEST(Names, AreTheOnesKubernetesComputes) {
  EXPECT_EQ(workload_name("my-job", "uid-123"), "my-job-795ddf89fd");
  EXPECT_EQ(template_name("my-job"), "my-job-pgt-0");
  EXPECT_EQ(group_name("my-job-795ddf89fd", "my-job-pgt-0"),
            "my-job-795ddf89fd-my-job-pgt-0-74cffdfb57");
  EXPECT_EQ(group_name("my-workload", "my-template"), "my-workload-my-template-67bd6bbcc4");
  EXPECT_EQ(workload_name("train", "00000000-0000-0000-0000-000000000001"), "train-585bcc5996");
  EXPECT_EQ(group_name("train-585bcc5996", "train-pgt-0"),
            "train-585bcc5996-train-pgt-0-7654697dd6");
}

TEST(Names, AreCutWhereTheyAreTooLong) {
  const std::string longest(253, 'a');
  EXPECT_EQ(workload_name(longest, "u").size(), 253U);
  EXPECT_TRUE(workload_name(longest, "u").starts_with("aaaa"));

  const std::string group = group_name(longest, std::string(63, 't'));
  EXPECT_EQ(group.size(), 253U);
  EXPECT_NE(group.find(std::string(63, 't')), std::string::npos) << "the shorter one stays whole";
  const std::string other = group_name(std::string(20, 'w'), longest);
  EXPECT_EQ(other.size(), 253U);
  EXPECT_TRUE(other.starts_with(std::string(20, 'w') + "-a"));
  const std::string both = group_name(longest, std::string(253, 't'));
  EXPECT_EQ(both.size(), 253U);
  EXPECT_EQ(both.find('t') - 1, both.find("-t"));
}

TEST(Names, OfTemplatesAreLabels) {
  struct Case {
    const char* name;
    std::string owner;
  };
  const Case cases[] = {{"a dot", "train.v2"},
                        {"one too many", std::string(58, 'x')},
                        {"the longest name there is", std::string(253, 'x')},
                        {"cut at a dash", std::string(45, 'x') + "-" + std::string(40, 'y')}};
  for (const Case& each : cases) {
    const std::string name = template_name(each.owner);
    EXPECT_TRUE(api::check_dns_label(name).empty()) << each.name << ": " << name;
    EXPECT_TRUE(name.ends_with("-pgt-0")) << each.name << ": " << name;
    EXPECT_NE(name, template_name(each.owner + "z")) << each.name;
  }
  EXPECT_EQ(template_name(std::string(57, 'x')), std::string(57, 'x') + "-pgt-0");
  EXPECT_NE(template_name("train.v2"), template_name("train-v2"));
}

TEST(Names, OfDelegatedGroupsDifferByOwner) {
  EXPECT_NE(group_name("w", "t", "uid-1"), group_name("w", "t", "uid-2"));
  EXPECT_EQ(group_name("w", "t", "uid-1"), group_name("w", "t", "uid-1"));
}

}  // namespace
}  // namespace muster::workload
