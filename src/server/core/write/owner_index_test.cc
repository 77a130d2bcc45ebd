#include "server/core/write/owner_index.h"

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class OwnerIndexTest : public CoreTest {
 protected:
  static std::string owned_pod(std::string_view name, std::string_view owner_uid) {
    return R"({"metadata":{"name":")" + std::string(name) +
           R"(","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"boss","uid":")" +
           std::string(owner_uid) + R"("}]},"spec":{"containers":[{"name":"c","image":"i"}]}})";
  }
  api::ObjectPtr find_pod(std::string_view name) {
    return store_->get("pods/default/" + std::string(name));
  }
  // Deletes in the foreground, which waits for dependents.
  Result<Answer> remove(std::string_view name) {
    Request out = request(Verb::Delete, pods(), "default", name);
    out.remove.propagation_policy = "Foreground";
    return send(std::move(out));
  }
};

TEST_F(OwnerIndexTest, AnOwnerStaysUntilItsLastDependentIsGone) {
  ASSERT_TRUE(create_pod("boss"));
  ASSERT_TRUE(create(pods(), "default", owned_pod("a", find_pod("boss")->meta().uid)));
  ASSERT_TRUE(create(pods(), "default", owned_pod("b", find_pod("boss")->meta().uid)));
  ASSERT_TRUE(remove("a"));
  ASSERT_TRUE(remove("boss"));
  ASSERT_NE(find_pod("boss"), nullptr);
  EXPECT_EQ(find_pod("boss")->meta().finalizers, std::vector<std::string>{"foregroundDeletion"});

  ASSERT_TRUE(create_pod("free"));
  ASSERT_TRUE(remove("free"));
  EXPECT_EQ(find_pod("free"), nullptr);
}

TEST_F(OwnerIndexTest, SeesDependentsOfTheSameBatch) {
  ASSERT_TRUE(create_pod("boss"));
  Request creation = request(Verb::Create, pods(), "default");
  ASSERT_TRUE(decode_into(creation, owned_pod("a", find_pod("boss")->meta().uid)));
  registry_.submit(std::move(creation), now_, nullptr);
  ASSERT_TRUE(remove("boss"));
  EXPECT_NE(find_pod("boss"), nullptr) << "its dependent was created before";

  ASSERT_TRUE(create_pod("other"));
  ASSERT_TRUE(create(pods(), "default", owned_pod("c", find_pod("other")->meta().uid)));
  Request gone = request(Verb::Delete, pods(), "default", "c");
  registry_.submit(std::move(gone), now_, nullptr);
  ASSERT_TRUE(remove("other"));
  EXPECT_EQ(find_pod("other"), nullptr) << "its dependent was deleted before";
}

// What names the owner from another namespace does not hold it.
TEST_F(OwnerIndexTest, OnlyDependentsOfTheSameNamespaceCount) {
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"team"}})"));
  ASSERT_TRUE(create_pod("boss"));
  ASSERT_TRUE(create(pods(), "team", owned_pod("a", find_pod("boss")->meta().uid)));
  ASSERT_TRUE(remove("boss"));
  EXPECT_EQ(find_pod("boss"), nullptr);
}

// An engine that was left with two objects, one the owner of the other, by the last change.
class LeftBehind final : public store::Engine {
 public:
  LeftBehind() {
    boss_ = make(R"({"metadata":{"name":"boss","namespace":"default","uid":"u1"}})", 1);
    const ObjectPtr pod =
        make(R"({"metadata":{"name":"a","namespace":"default","uid":"u2","ownerReferences":)"
             R"([{"apiVersion":"v1","kind":"Pod","name":"boss","uid":"u1"}]}})",
             2);
    contents_.revision = {2};
    contents_.compacted = {1};
    contents_.objects = {{"pods/default/a", pod}, {"pods/default/boss", boss_}};
    contents_.recent = {{.type = store::Change::Type::Added,
                         .key = "pods/default/a",
                         .revision = {2},
                         .block_end = {2},
                         .object = pod,
                         .previous = nullptr}};
  }
  Result<store::Contents> load() override { return contents_; }
  Result<std::vector<Result<api::Revision>>> commit(std::span<store::Transaction> batch) override {
    std::vector<store::Change> changes;
    std::vector<Result<api::Revision>> outcomes;
    for (const store::Transaction& transaction : batch)
      for (const store::Write& write : transaction.writes) {
        changes.push_back({.type = store::Change::Type::Deleted,
                           .key = write.key,
                           .revision = {3},
                           .block_end = {3},
                           .object = contents_.objects.front().second,
                           .previous = contents_.objects.front().second});
        outcomes.push_back(api::Revision{3});
      }
    sink_(changes);
    return outcomes;
  }
  void set_sink(Sink sink) override { sink_ = std::move(sink); }
  Result<api::Revision> compact(api::Revision revision) override { return revision; }
  Result<void> remember(store::Waypoint /*waypoint*/) override { return {}; }
  Result<void> probe() override { return {}; }
  Result<void> copy_to(const std::string& /*directory*/) override { return {}; }

 private:
  using ObjectPtr = api::ObjectPtr;
  static ObjectPtr make(std::string_view json, std::int64_t revision) {
    auto object = api::Object::make(api::kinds::pod(), api::parse_json(json)->value);
    object->assign_revision({revision});
    return object;
  }
  ObjectPtr boss_;
  store::Contents contents_;
  Sink sink_;
};

TEST(OwnerIndex, CountsWhatStandsAtTheStartOnce) {
  const auto store = store::Store::open(std::make_unique<LeftBehind>()).value();
  const OwnerIndex owners(*store);
  const api::ObjectPtr boss = store->get("pods/default/boss");
  EXPECT_TRUE(owners.has_dependents(*boss));
  EXPECT_FALSE(owners.has_dependents(*store->get("pods/default/a")));

  std::vector<store::Transaction> removal(1);
  removal[0].writes.push_back({.key = "pods/default/a", .object = nullptr, .expected = {2}});
  ASSERT_TRUE(store->commit(removal));
  EXPECT_FALSE(owners.has_dependents(*boss)) << "it was counted twice";
}

}  // namespace
}  // namespace muster::server
