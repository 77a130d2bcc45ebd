#include "server/core/write/stored_bytes.h"

#include <string>
#include <utility>
#include <vector>

#include "api/conversion.h"
#include "server/core/testing/core_fixture.h"
#include "store/engines/rocksdb.h"
#include "store/engines/testing.h"

namespace muster::server {
namespace {

constexpr std::size_t kSize = 100'000;  // of a map, a little less than its object

class StoredBytesTest : public CoreTest {
 protected:
  static const api::Kind& maps() { return *api::find_kind("", "ConfigMap"); }
  Result<Answer> create_map(const std::string& name, std::size_t bytes = kSize,
                            std::string_view name_space = "default") {
    return create(maps(), name_space,
                  fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"a":"{}"}}}})", name,
                              std::string(bytes, 'x')));
  }
  Result<Answer> resize(const std::string& name, std::size_t bytes) {
    return merge(maps(), "default", name,
                 fmt::format(R"({{"data":{{"a":"{}"}}}})", std::string(bytes, 'x')));
  }
  // What is there already, and so many maps.
  void make_room_for(std::size_t maps) {
    std::size_t there = 0;
    for (const api::Kind* kind : api::all_kinds())
      if (kind->stored && &api::stored_kind(*kind) == kind)
        for (const api::ObjectPtr& object : store_->list(kind->store_prefix + "/").objects)
          there += object->memory();
    registry_.limit_stored(there + maps * (kSize + 2'500));
  }
};

TEST_F(StoredBytesTest, ANamespaceHasNoMoreThanItLeavesFree) {
  make_room_for(8);
  for (const char* name : {"a", "b", "c", "d"}) ASSERT_TRUE(create_map(name)) << name;
  const auto refused = create_map("e");
  EXPECT_EQ(reason(refused), Reason::Forbidden);
  EXPECT_NE(message(refused).find("the objects of the namespace \"default\" together would be"),
            std::string::npos)
      << message(refused);
  EXPECT_NE(message(refused).find("--max-stored-memory"), std::string::npos) << message(refused);
  for (const char* name : {"a", "b"})
    EXPECT_TRUE(create_map(name, kSize, "kube-system")) << "others find room beside it: " << name;
  EXPECT_FALSE(create_map("c", kSize, "kube-system"));
  EXPECT_TRUE(create_map("a", 1'000, "kube-public")) << "the less they ask for, the longer";
}

TEST_F(StoredBytesTest, WhatGoesMakesRoom) {
  make_room_for(8);
  for (const char* name : {"a", "b", "c", "d"}) ASSERT_TRUE(create_map(name)) << name;
  EXPECT_FALSE(resize("a", 2 * kSize));
  EXPECT_TRUE(resize("a", 10));
  EXPECT_TRUE(create_map("e"));
  EXPECT_FALSE(create_map("f"));
  ASSERT_TRUE(remove(maps(), "default", "e"));
  EXPECT_TRUE(create_map("f"));
}

TEST_F(StoredBytesTest, WhatIsThereIsKeptAndMayShrinkWhenTheLimitIsLowered) {
  for (const char* name : {"a", "b"}) ASSERT_TRUE(create_map(name)) << name;
  registry_.limit_stored(1);
  EXPECT_TRUE(resize("a", kSize - 1));
  EXPECT_FALSE(resize("b", kSize + 1));
  EXPECT_TRUE(remove(maps(), "default", "b"));
}

// What is parsed of many short entries is several times their text.
TEST_F(StoredBytesTest, EntriesCountAsWhatTheyTakeInMemory) {
  std::string annotations;
  for (int i = 0; i < 3'000; ++i) annotations += fmt::format(R"({}"k{}":"")", i ? "," : "", i);
  const std::string map =
      fmt::format(R"({{"metadata":{{"name":"m","annotations":{{{}}}}}}})", annotations);
  ASSERT_LT(map.size(), kSize / 2);
  make_room_for(3);
  EXPECT_EQ(reason(create(maps(), "default", map)), Reason::Forbidden);
  EXPECT_TRUE(create_map("a")) << "there is room for more text than that";
}

// What components say of an object must be heard in a namespace that is full.
TEST_F(StoredBytesTest, AStatusIsAlwaysWritten) {
  ASSERT_TRUE(create_pod("p"));
  registry_.limit_stored(1);
  EXPECT_TRUE(merge(pods(), "default", "p", R"({"status":{"message":"it has begun"}})", "status"));
  EXPECT_TRUE(bind("p", "n"));
}

TEST(StoredBytes, CountsWhatIsThereAndWhatChanges) {
  using store::testing::create;
  using store::testing::together;
  const store::testing::TemporaryDirectory temporary;
  const auto open = [&] {
    return store::Store::open(store::open_rocksdb_engine(temporary.store()).value()).value();
  };
  const auto commit = [](store::Store& store, store::Write write) {
    std::vector<store::Transaction> batch{together(std::move(write))};
    return store.commit(batch).value().front().value();
  };
  const std::size_t size = store::testing::make_pod("a", "text")->memory();
  api::Revision made;
  {
    const auto store = open();
    const StoredBytes stored(*store);
    made = commit(*store, create("a", "text"));
    EXPECT_EQ(stored.of("default"), size);
  }
  const auto store = open();
  const StoredBytes stored(*store);
  EXPECT_EQ(stored.of("default"), size) << "the changes that are found with it count once";
  EXPECT_EQ(stored.of("nowhere"), 0U);
  commit(*store, create("b", "text"));
  EXPECT_EQ(stored.total(), 2 * size);
  commit(*store, store::testing::replace("a", made, "longer text"));
  EXPECT_EQ(stored.total(), 2 * size + 7);
  commit(*store, store::testing::remove("a", store->get(store::testing::pod_key("a"))->revision()));
  EXPECT_EQ(stored.of("default"), size);
}

}  // namespace
}  // namespace muster::server
