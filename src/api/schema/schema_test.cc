#include "api/schema/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "api/json.h"

namespace muster::api::schema {
namespace {

TEST(Schema, ReadsEveryTable) { EXPECT_GT(all_messages().size(), 350U); }

TEST(Schema, GivesEveryFieldOfAMessageItsOwnNumber) {
  for (const Message* message : all_messages()) {
    std::set<int> numbers;
    for (const Field& field : message->fields)
      EXPECT_TRUE(numbers.insert(field.number).second) << message->name << "." << field.name;
  }
}

TEST(Schema, DescribesEveryFieldInASentence) {
  for (const Message* message : all_messages())
    for (const Field& field : message->fields) {
      EXPECT_TRUE(field.doc.ends_with('.'))
          << message->package << "." << message->name << "." << field.name << ": " << field.doc;
      EXPECT_EQ(field.doc.find("  "), std::string::npos) << field.doc;
    }
}

TEST(Schema, DescribesAFieldOfOneMessageBeforeAllOfItsName) {
  const auto active = [](std::string_view of) {
    return std::ranges::find(message("batch/v1", of).fields, "active", &Field::name)->doc;
  };
  EXPECT_EQ(active("JobStatus"), "Pods that have not ended.");
  EXPECT_EQ(active("CronJobStatus"), "Jobs that have not ended.");
}

TEST(Schema, MergesAndAppliesOnlyByKeysThatTheItemsHave) {
  for (const Message* message : all_messages()) {
    for (const Field& field : message->fields) {
      SCOPED_TRACE(message->package + "." + message->name + "." + field.name);
      for (const std::string& key : field.merge_keys) EXPECT_NE(field.message->find(key), nullptr);
      for (const std::string& key : field.list_keys) EXPECT_NE(field.message->find(key), nullptr);
      EXPECT_LE(field.merge_keys.size(), 1U);
      EXPECT_TRUE(!field.always || !field.optional || field.shape == Shape::Message)
          << "only a message is written as null where it is not set";
      EXPECT_TRUE(!field.inlined ||
                  (field.shape == Shape::Message) == (field.repeat == Repeat::One));
    }
  }
}

TEST(Schema, StatesDefaultsThatAreJsonAndAllowed) {
  for (const Message* message : all_messages()) {
    for (const Field& field : message->fields) {
      if (field.default_text.empty()) continue;
      SCOPED_TRACE(message->package + "." + message->name + "." + field.name);
      const auto value = parse_json(field.default_text);
      ASSERT_TRUE(value.has_value());
      if (field.allowed.empty()) continue;
      const std::string text(value->value.as_string());
      EXPECT_NE(std::ranges::find(field.allowed, text), field.allowed.end());
    }
  }
}

TEST(Schema, KnowsHowTheListsOfAPodMerge) {
  const Message& spec = message("core/v1", "PodSpec");
  const Field* volumes = spec.find("volumes");
  ASSERT_NE(volumes, nullptr);
  EXPECT_EQ(volumes->merge_keys, (std::vector<std::string>{"name"}));
  EXPECT_TRUE(volumes->retain_keys);
  EXPECT_EQ(volumes->list_type, ListType::Map);
  const Field* spread = spec.find("topologySpreadConstraints");
  EXPECT_EQ(spread->list_keys, (std::vector<std::string>{"topologyKey", "whenUnsatisfiable"}));
  EXPECT_FALSE(spec.find("tolerations")->merges);
  EXPECT_TRUE(message("meta/v1", "ObjectMeta").find("finalizers")->merges);
}

TEST(Schema, SeesInlinedMembers) {
  const Message& volume = message("core/v1", "Volume");
  ASSERT_NE(volume.find("emptyDir"), nullptr);
  EXPECT_EQ(volume.find("emptyDir")->message->name, "EmptyDirVolumeSource");
  EXPECT_EQ(volume.find("volumeSource"), nullptr);
  EXPECT_NE(message("core/v1", "Probe").find("httpGet"), nullptr);
  EXPECT_NE(message("core/v1", "EphemeralContainer").find("image"), nullptr);
}

TEST(Schema, KnowsMessagesThatJsonShowsAsABareList) {
  const Field* extra = message("authentication/v1", "UserInfo").find("extra");
  ASSERT_NE(extra, nullptr);
  EXPECT_NE(extra->message->bare_list(), nullptr);
  EXPECT_EQ(message("core/v1", "Volume").bare_list(), nullptr);
}

}  // namespace
}  // namespace muster::api::schema
