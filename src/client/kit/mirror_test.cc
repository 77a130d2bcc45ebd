#include "client/kit/mirror.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/views/pod_view.h"

namespace muster::client {
namespace {

class MirrorTest : public ::testing::Test {
 protected:
  struct Pod {
    std::string_view name;
    std::string_view labels = {};  // members of metadata.labels
    std::string_view owner = {};   // uid
    std::string_view node = {};
    std::string_view name_space = "ns";
  };
  static api::ObjectPtr make(const Pod& pod) {
    const std::string owner =
        pod.owner.empty() ? ""
                          : fmt::format(R"(,"ownerReferences":[{{"apiVersion":"v1","kind":"Job",)"
                                        R"("name":"o","uid":"{}"}}])",
                                        pod.owner);
    return api::Object::make(
        api::kinds::pod(),
        api::parse_json(fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}",)"
                                    R"("labels":{{{}}}{}}},"spec":{{"nodeName":"{}"}}}})",
                                    pod.name, pod.name_space, pod.labels, owner, pod.node))
            ->value);
  }
  void put(const Pod& pod) { mirror_.put(make(pod)); }
  void remove(std::string_view name, std::string_view name_space = "ns") {
    mirror_.remove(*make({.name = name, .name_space = name_space}));
  }
  // Their names, in the order they come.
  static std::string names(const Mirror::Entries& entries) {
    std::string out;
    for (const Mirror::Entry* entry : entries) out += entry->object->meta().name + " ";
    return out;
  }
  std::string selected(std::string_view selector) const {
    std::string out;
    for (const api::ObjectPtr& pod : mirror_.select("ns", *api::LabelSelector::parse(selector)))
      out += pod->meta().name + " ";
    return out;
  }

  int terms_asked_ = 0;  // how often the own index was asked for terms
  Mirror mirror_{{.owners = true,
                  .labels = true,
                  .own = [this](const api::Object& pod, std::vector<std::string>& out) {
                    ++terms_asked_;
                    if (const auto& node = pod.view<api::PodView>().node_name; !node.empty())
                      out.push_back(node);
                  }}};
};

TEST_F(MirrorTest, KeepsTheNewestVersion) {
  EXPECT_EQ(mirror_.find("ns", "a"), nullptr);
  const api::ObjectPtr first = make({.name = "a"});
  const api::ObjectPtr second = make({.name = "a"});
  EXPECT_EQ(mirror_.put(first), nullptr);
  EXPECT_EQ(mirror_.put(second), first);
  EXPECT_EQ(mirror_.find("ns", "a"), second);
  EXPECT_EQ(mirror_.find("other", "a"), nullptr);
  EXPECT_EQ(mirror_.remove(*first), second);
  EXPECT_EQ(mirror_.remove(*first), nullptr);
  EXPECT_EQ(mirror_.size(), 0U);
}

TEST_F(MirrorTest, FindsByNamespaceInTheOrderOfNames) {
  for (const std::string_view name : {"c", "a", "b"}) put({.name = name});
  put({.name = "far", .name_space = "elsewhere"});
  EXPECT_EQ(names(mirror_.in_namespace("ns")), "a b c ");
  remove("b");
  EXPECT_EQ(names(mirror_.in_namespace("ns")), "a c ");
  EXPECT_EQ(names(mirror_.in_namespace("nowhere")), "");
}

TEST_F(MirrorTest, FollowsOwnersLabelsAndTheOwnIndex) {
  put({.name = "a", .labels = R"("app":"web")", .owner = "u1", .node = "n1"});
  put({.name = "b", .labels = R"("app":"web")", .owner = "u1", .node = "n1"});
  EXPECT_EQ(names(mirror_.owned_by("u1")), "a b ");
  EXPECT_EQ(names(mirror_.labeled("ns", "app", "web")), "a b ");
  EXPECT_EQ(names(mirror_.indexed("n1")), "a b ");
  put({.name = "a", .labels = R"("app":"db")", .owner = "u2", .node = "n2"});
  EXPECT_EQ(names(mirror_.owned_by("u1")), "b ");
  EXPECT_EQ(names(mirror_.owned_by("u2")), "a ");
  EXPECT_EQ(names(mirror_.labeled("ns", "app", "web")), "b ");
  EXPECT_EQ(names(mirror_.labeled("ns", "app", "db")), "a ");
  EXPECT_EQ(names(mirror_.labeled("elsewhere", "app", "db")), "");
  EXPECT_EQ(names(mirror_.indexed("n1")), "b ");
  EXPECT_EQ(names(mirror_.indexed("n2")), "a ");
}

TEST_F(MirrorTest, AnUpdateShowsTheNewObjectInEveryIndex) {
  put({.name = "a", .labels = R"("app":"web")", .owner = "u1", .node = "n1"});
  const api::ObjectPtr newer =
      make({.name = "a", .labels = R"("app":"web")", .owner = "u1", .node = "n1"});
  mirror_.put(newer);
  EXPECT_EQ((*mirror_.owned_by("u1").begin())->object, newer);
  EXPECT_EQ((*mirror_.labeled("ns", "app", "web").begin())->object, newer);
  EXPECT_EQ((*mirror_.indexed("n1").begin())->object, newer);
}

TEST_F(MirrorTest, SelectsAsTheSelectorSays) {
  put({.name = "a", .labels = R"("app":"web","tier":"front")"});
  put({.name = "b", .labels = R"("app":"web","tier":"back")"});
  put({.name = "c", .labels = R"("app":"db")"});
  put({.name = "d"});
  put({.name = "e", .labels = R"("app":"web")", .name_space = "elsewhere"});
  EXPECT_EQ(selected(""), "a b c d ");
  EXPECT_EQ(selected("app=web"), "a b ");
  EXPECT_EQ(selected("app=web,tier=back"), "b ");
  EXPECT_EQ(selected("app in (web,db)"), "a b c ") << "in the order of names";
  EXPECT_EQ(selected("app in (web,db),!tier"), "c ");
  EXPECT_EQ(selected("app!=web"), "c d ");
  EXPECT_EQ(selected("app=none"), "");
  EXPECT_TRUE(mirror_.select("ns", api::LabelSelector::nothing()).empty());
}

// Members of metadata.labels: those given, and as many others.
std::string labels_and(std::string_view given, std::size_t others) {
  std::string out(given);
  for (std::size_t i = 0; i < others; ++i) out += fmt::format(R"(,"l{:05}":"")", i);
  return out;
}

TEST_F(MirrorTest, FindsWhatHasManyLabelsToo) {
  const std::string web = R"("app":"web")";
  put({.name = "a", .labels = web});
  for (const std::size_t others : {Mirror::kLabelsMax - 1, Mirror::kLabelsMax}) {
    put({.name = "b", .labels = labels_and(web, others)});
    put({.name = "c", .labels = labels_and(R"("app":"db")", others)});
    put({.name = "d", .labels = labels_and(web, others), .name_space = "elsewhere"});
    EXPECT_EQ(selected("app=web"), "a b ");
    EXPECT_EQ(selected("app in (db,web)"), "a b c ");
    EXPECT_EQ(selected("app=db,l00001="), "c ");
    EXPECT_EQ(selected("app!=web"), "c ");
  }
  put({.name = "b", .labels = R"("app":"db")"});
  put({.name = "a", .labels = labels_and(web, 1000)});
  EXPECT_EQ(selected("app=web"), "a ");
  EXPECT_EQ(selected("app=db"), "b c ");
  remove("c");
  remove("a");
  EXPECT_EQ(selected("app in (db,web)"), "b ");
  EXPECT_EQ(names(mirror_.with_many_labels("ns")), "");
}

TEST_F(MirrorTest, NoObjectHasMoreEntriesForItsLabelsThanAFew) {
  put({.name = "a", .labels = labels_and(R"("app":"web")", Mirror::kLabelsMax - 1)});
  const std::size_t ordinary = mirror_.bytes();
  put({.name = "a", .labels = labels_and(R"("app":"web")", 19'000)});
  EXPECT_LT(mirror_.bytes(), ordinary);
}

// A namespace with objects of many labels pays for them: no other namespace looks at them.
TEST_F(MirrorTest, WhatHasManyLabelsIsReadInItsOwnNamespaceAlone) {
  put({.name = "a", .labels = R"("app":"web")"});
  for (int i = 0; i < 100; ++i)
    put({.name = fmt::format("p{}", i),
         .labels = labels_and(R"("app":"web")", 100),
         .name_space = "elsewhere"});
  const std::uint64_t before = mirror_.reads();
  EXPECT_EQ(selected("app=web"), "a ");
  EXPECT_EQ(mirror_.reads() - before, 1U);
}

TEST_F(MirrorTest, CountsItsMemoryAndGivesItBack) {
  const std::size_t empty = mirror_.bytes();
  for (int i = 0; i < 100; ++i)
    put({.name = fmt::format("p{:03}", i), .labels = R"("app":"web")", .node = "n1"});
  const std::size_t full = mirror_.bytes();
  EXPECT_GT(full, empty + 100 * sizeof(api::ObjectPtr));
  for (int i = 0; i < 100; ++i)
    put({.name = fmt::format("p{:03}", i), .labels = R"("app":"web")", .node = "n1"});
  EXPECT_EQ(mirror_.bytes(), full) << "updates add nothing";
  for (int i = 0; i < 100; ++i) remove(fmt::format("p{:03}", i));
  EXPECT_EQ(mirror_.bytes(), empty);
}

TEST_F(MirrorTest, CountsWhatItHandsOut) {
  for (const std::string_view name : {"a", "b", "c"})
    put({.name = name, .labels = R"("app":"web")", .owner = "u1", .node = "n1"});
  const auto cost = [&](const auto& look) {
    const std::uint64_t before = mirror_.reads();
    look();
    return mirror_.reads() - before;
  };
  EXPECT_EQ(cost([&] { mirror_.find("ns", "a"); }), 1U);
  EXPECT_EQ(cost([&] { mirror_.find("ns", "x"); }), 0U);
  EXPECT_EQ(cost([&] { mirror_.in_namespace("ns"); }), 3U);
  EXPECT_EQ(cost([&] { mirror_.owned_by("u1"); }), 3U);
  EXPECT_EQ(cost([&] { mirror_.labeled("ns", "app", "web"); }), 3U);
  EXPECT_EQ(cost([&] { mirror_.indexed("n1"); }), 3U);
  put({.name = "d", .labels = R"("app":"db","tier":"back")"});
  EXPECT_EQ(cost([&] { selected("app=web"); }), 3U);
  EXPECT_EQ(cost([&] { selected("app=web,tier=back"); }), 1U) << "the rarest label";
  EXPECT_EQ(cost([&] { selected("tier=back,app=web"); }), 1U);
  EXPECT_EQ(cost([&] { selected("app in (web,db)"); }), 4U);
  EXPECT_EQ(cost([&] { selected("!tier"); }), 4U);
}

TEST_F(MirrorTest, WhatIsRemovedIsInNoIndex) {
  put({.name = "a", .labels = R"("app":"web")", .owner = "u1", .node = "n1"});
  remove("a");
  EXPECT_EQ(names(mirror_.in_namespace("ns")), "");
  EXPECT_EQ(names(mirror_.owned_by("u1")), "");
  EXPECT_EQ(names(mirror_.labeled("ns", "app", "web")), "");
  EXPECT_EQ(names(mirror_.indexed("n1")), "");
  EXPECT_EQ(selected(""), "");
}

TEST_F(MirrorTest, AsksForTheOwnTermsOnlyWhenAnObjectComesChangesOrGoes) {
  put({.name = "a", .node = "n1"});
  EXPECT_EQ(terms_asked_, 1);
  put({.name = "a"});
  EXPECT_EQ(names(mirror_.indexed("n1")), "");
  put({.name = "a", .node = "n2"});
  EXPECT_EQ(names(mirror_.indexed("n2")), "a ");
}

TEST(MirrorWithoutIndexes, FindsByNameAlone) {
  Mirror mirror;
  const auto node =
      api::Object::make(api::kinds::node(), api::parse_json(R"({"metadata":{"name":"n"}})")->value);
  EXPECT_EQ(mirror.put(node), nullptr);
  EXPECT_EQ(mirror.find("", "n"), node);
  EXPECT_EQ(mirror.size(), 1U);
  EXPECT_DEATH(mirror.in_namespace(""), "CHECK failed");
  EXPECT_DEATH(mirror.owned_by("u"), "CHECK failed");
  EXPECT_DEATH(mirror.labeled("", "a", "b"), "CHECK failed");
  EXPECT_DEATH(mirror.indexed("t"), "CHECK failed");
}

}  // namespace
}  // namespace muster::client
