#include "controllers/common/adoption.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "controllers/common/owners.h"
#include "controllers/common/testing_texts.h"

namespace muster::controllers {
namespace {

api::ObjectPtr make(const api::Kind& kind, std::string_view metadata) {
  auto json = api::parse_json(fmt::format(R"({{"metadata":{{"namespace":"ns",{}}}}})", metadata));
  EXPECT_TRUE(json) << metadata;
  return api::Object::make(kind, json->value);
}

api::ObjectPtr pod(std::string_view name, std::string_view labels, std::string_view owner = "",
                   std::string_view more = "") {
  const std::string reference =
      owner.empty() ? ""
                    : fmt::format(R"({{"kind":"ReplicaSet","uid":"{}","controller":true}})", owner);
  return make(api::kinds::pod(),
              fmt::format(R"("name":"{}","labels":{{{}}},"ownerReferences":[{}]{})", name, labels,
                          reference, more));
}

Texts names(const std::vector<api::ObjectPtr>& objects) {
  Texts out;
  for (const api::ObjectPtr& object : objects) out.push_back(object->meta().name);
  return out;
}

class Adoption : public ::testing::Test {
 protected:
  client::Mirror pods_{{.owners = true, .own = index_free}};
  const api::ObjectPtr owner_ = make(apps_kind("ReplicaSet"), R"("name":"s","uid":"us")");
};

TEST_F(Adoption, TakesWhatIsSelectedAndFreeAndLetsGoOfWhatIsNot) {
  pods_.put(pod("kept", R"("app":"web")", "us"));
  pods_.put(pod("relabeled", R"("app":"old")", "us"));
  pods_.put(pod("free", R"("app":"web","x":"y")"));
  pods_.put(pod("other", R"("app":"db")"));
  pods_.put(pod("taken", R"("app":"web")", "somebody"));
  pods_.put(pod("going", R"("app":"web")", "", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"));
  const Claim claim = find_claim(pods_, *owner_, *api::LabelSelector::parse("app=web"));
  EXPECT_EQ(names(claim.owned), Texts{"kept"});
  EXPECT_EQ(names(claim.adopt), Texts{"free"});
  EXPECT_EQ(names(claim.release), Texts{"relabeled"});
}

// Pods without a controller make the index grow: by no more than a few times the text of their
// labels, and not for those that leave.
TEST_F(Adoption, WhatIsFreeCostsWhatItsLabelsAreLong) {
  const std::size_t before = pods_.bytes();
  std::size_t text = 0;
  for (int i = 0; i < 200; ++i) {
    std::string labels;
    for (int label = 0; label < 50; ++label)
      labels += fmt::format(R"({}"example.com/label-{}":"value-{}-{}")", label == 0 ? "" : ",",
                            label, i, label);
    text += labels.size();
    pods_.put(pod(fmt::format("p{}", i), labels));
  }
  EXPECT_LT(pods_.bytes() - before, text * 8);
  for (int i = 0; i < 200; ++i)
    pods_.put(pod(fmt::format("p{}", i), R"("app":"web")", "",
                  R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"));
  EXPECT_LT(pods_.bytes() - before, 200 * 100) << "those that are going are in no index";
}

// Members of metadata.labels: those given, and as many others.
std::string labels_and(std::string_view given, std::size_t others) {
  std::string out(given);
  for (std::size_t i = 0; i < others; ++i) out += fmt::format(R"(,"l{:05}":"")", i);
  return out;
}

TEST_F(Adoption, FindsWhatHasManyLabelsToo) {
  pods_.put(pod("a", R"("app":"web")"));
  pods_.put(pod("b", labels_and(R"("app":"web")", 1000)));
  pods_.put(pod("c", labels_and(R"("app":"db")", 1000)));
  const auto adoptable = [&](std::string_view selector) {
    return names(find_adoptable(pods_, *owner_, *api::LabelSelector::parse(selector)));
  };
  EXPECT_EQ(adoptable("app=web"), (Texts{"a", "b"}));
  EXPECT_EQ(adoptable("app=db,l00001="), Texts{"c"});
  EXPECT_EQ(adoptable("app!=web"), Texts{"c"}) << "and once only";
  std::string values = "web";
  for (int i = 0; i < 1000; ++i) values += fmt::format(",x{}", i);
  EXPECT_EQ(adoptable(fmt::format("app in ({})", values)), (Texts{"a", "b"}));
  pods_.put(pod("b", R"("app":"db")"));
  EXPECT_EQ(adoptable("app=web"), Texts{"a"});
}

TEST_F(Adoption, NothingFreeHasMoreEntriesThanAFew) {
  pods_.put(pod("a", labels_and(R"("app":"web")", client::Mirror::kLabelsMax - 1)));
  const std::size_t ordinary = pods_.bytes();
  pods_.put(pod("a", labels_and(R"("app":"web")", 19'000)));
  EXPECT_LT(pods_.bytes(), ordinary);
}

TEST_F(Adoption, ASelectorWithoutValuesLooksAtTheWholeNamespace) {
  pods_.put(pod("a", R"("app":"web")"));
  pods_.put(pod("b", R"("tier":"x")"));
  EXPECT_EQ(names(find_claim(pods_, *owner_, *api::LabelSelector::parse("!tier")).adopt),
            Texts{"a"});
  EXPECT_EQ(names(find_claim(pods_, *owner_, *api::LabelSelector::parse("app in (db,web)")).adopt),
            Texts{"a"});
}

TEST_F(Adoption, WhatNamesAnOwnerThatDoesNotControlItIsNotItsOwn) {
  const auto guest = [](std::string_view name, std::string_view app) {
    return make(api::kinds::pod(),
                fmt::format(R"("name":"{}","labels":{{"app":"{}"}},"ownerReferences":[
        {{"kind":"ReplicaSet","name":"s","uid":"us"}}])",
                            name, app));
  };
  pods_.put(guest("a", "web"));
  pods_.put(guest("b", "old"));
  const Claim claim = find_claim(pods_, *owner_, *api::LabelSelector::parse("app=web"));
  EXPECT_EQ(names(claim.owned), Texts{});
  EXPECT_EQ(names(claim.release), Texts{});
  EXPECT_EQ(names(claim.adopt), Texts{"a"});
}

TEST_F(Adoption, ASelectorThatExcludesValuesFindsAllOthers) {
  pods_.put(pod("a", R"("app":"web")"));
  pods_.put(pod("b", R"("app":"db")"));
  pods_.put(pod("c", R"("tier":"x")"));
  const auto adoptable = [&](std::string_view selector) {
    return names(find_adoptable(pods_, *owner_, *api::LabelSelector::parse(selector)));
  };
  EXPECT_EQ(adoptable("app!=web"), (Texts{"b", "c"}));
  EXPECT_EQ(adoptable("app notin (web,db)"), Texts{"c"});
  EXPECT_EQ(adoptable("app,app!=web"), Texts{"b"});
}

TEST_F(Adoption, WhoIsBeingDeletedLeavesEverythingAsItIs) {
  const auto going = make(apps_kind("ReplicaSet"),
                          R"("name":"s","uid":"us","deletionTimestamp":"2026-01-01T00:00:00Z")");
  pods_.put(pod("relabeled", R"("app":"old")", "us"));
  pods_.put(pod("free", R"("app":"web")"));
  const Claim claim = find_claim(pods_, *going, *api::LabelSelector::parse("app=web"));
  EXPECT_TRUE(claim.adopt.empty());
  EXPECT_TRUE(claim.release.empty());
}

TEST_F(Adoption, AnOwnerThatWasMadeAgainUnderItsNameIsAnother) {
  client::Mirror owners;
  owners.put(owner_);
  const auto owned = [](std::string_view uid) {
    return make(api::kinds::pod(), fmt::format(R"("name":"p","ownerReferences":[
        {{"kind":"ReplicaSet","name":"s","uid":"{}","controller":true}}])",
                                               uid));
  };
  EXPECT_EQ(controller_in(owners, *owned("us")), owner_);
  EXPECT_EQ(controller_in(owners, *owned("the one before")), nullptr);
  EXPECT_EQ(controller_in(owners, *pod("p", "")), nullptr);
}

TEST_F(Adoption, OwnersAreFoundByALabelTheyAskFor) {
  client::Mirror owners({.own = [](const api::Object& set, std::vector<std::string>& out) {
    const std::string* text = api::lookup(set.meta().annotations, "selects");
    index_selector("ns", *api::LabelSelector::parse(*text), out);
  }});
  for (const auto& [name, selector] : std::vector<std::pair<std::string, std::string>>{
           {"d", "app=web"}, {"c", "app=db"}, {"b", "!x"}, {"a", "x,app in (web,db)"}})
    owners.put(
        make(apps_kind("ReplicaSet"),
             fmt::format(R"("name":"{}","annotations":{{"selects":"{}"}})", name, selector)));
  EXPECT_EQ(names(find_selecting(owners, *pod("p", R"("app":"web")"))), (Texts{"a", "b", "d"}));
  EXPECT_EQ(names(find_selecting(owners, *pod("p", ""))), Texts{"b"});
  // One with many labels is compared with all owners of its namespace.
  EXPECT_EQ(names(find_selecting(owners, *pod("p", labels_and(R"("app":"web")", 1000)))),
            (Texts{"a", "b", "c", "d"}));
}

TEST_F(Adoption, AnOwnerIsFoundByAFewValuesAtMost) {
  client::Mirror owners({.own = [](const api::Object& set, std::vector<std::string>& out) {
    std::string values;
    for (int i = 0; i < std::stoi(set.meta().labels.front().second); ++i)
      values += fmt::format("{}v{}", i == 0 ? "" : ",", i);
    index_selector("ns", *api::LabelSelector::parse(fmt::format("app in ({})", values)), out);
  }});
  const auto put = [&](int values) {
    owners.put(make(apps_kind("ReplicaSet"),
                    fmt::format(R"("name":"s","labels":{{"values":"{}"}})", values)));
    return owners.bytes();
  };
  EXPECT_LT(put(10'000), put(client::Mirror::kLabelsMax));
  put(10'000);
  EXPECT_EQ(names(find_selecting(owners, *pod("p", R"("app":"v9999")"))), Texts{"s"});
}

TEST(FreeKey, IsOfWhatMayBeAdoptedAndSomebodyMightWant) {
  const auto web_pod = [](std::string_view more) {
    return make(api::kinds::pod(), fmt::format(R"("name":"a","labels":{{"app":"web"}}{})", more));
  };
  client::Mirror owners({.own = [](const api::Object& owner, std::vector<std::string>& out) {
    const std::string* app = api::lookup(owner.meta().labels, "wants");
    index_selector("ns", *api::LabelSelector::parse("app=" + *app), out);
  }});
  EXPECT_TRUE(free_key(owners, web_pod("")).empty()) << "nobody is there";
  owners.put(make(apps_kind("ReplicaSet"), R"("name":"s","labels":{"wants":"db"})"));
  EXPECT_TRUE(free_key(owners, web_pod("")).empty()) << "somebody who wants others";
  owners.put(make(apps_kind("ReplicaSet"), R"("name":"s2","labels":{"wants":"web"})"));
  const Texts key = free_key(owners, web_pod(""));
  ASSERT_EQ(key.size(), 1U);
  EXPECT_TRUE(is_free_key(key[0]));
  EXPECT_FALSE(is_free_key("ns/a"));
  EXPECT_TRUE(free_key(owners, nullptr).empty());
  EXPECT_TRUE(free_key(owners, web_pod(R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")).empty());
  EXPECT_TRUE(
      free_key(
          owners,
          web_pod(R"(,"ownerReferences":[{"kind":"Job","name":"o","uid":"u","controller":true}])"))
          .empty());
  EXPECT_FALSE(free_key(owners, pod("b", labels_and(R"("app":"x")", 1000))).empty())
      << "there are owners, and too many labels to ask about each";
  client::Mirror pods;
  EXPECT_EQ(find_free(pods, key[0]), nullptr);
  pods.put(web_pod(""));
  EXPECT_NE(find_free(pods, key[0]), nullptr);
}

}  // namespace
}  // namespace muster::controllers
