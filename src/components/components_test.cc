#include "components/components.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/reading.h"
#include "api/yaml.h"

namespace muster::components {
namespace {

TEST(Components, EachHasANameAnIdentityAndSomethingToWatch) {
  std::set<std::string_view> names;
  Metrics metrics;
  for (const Entry& entry : all()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " is there twice";
    EXPECT_TRUE(entry.user.name.starts_with("system:")) << entry.name;
    EXPECT_FALSE(entry.user.groups.empty()) << entry.name;
    const auto component = entry.make({}, {.send = [](const auto&...) {}, .metrics = &metrics});
    EXPECT_FALSE(component->watched_kinds().empty()) << entry.name;
    EXPECT_EQ(component->run_once(Time{}, 100), 0U)
        << entry.name << " works before it knows what exists";
    component->apply(client::Synced{}, Time{});
    EXPECT_EQ(component->run_once(Time{}, 100), 0U) << entry.name;
  }
}

TEST(Components, AreFoundByNameAndAlias) {
  for (const Entry& entry : all()) {
    EXPECT_EQ(find(entry.name), &entry);
    EXPECT_TRUE(entry.alias.empty() || find(entry.alias) == &entry) << entry.alias;
  }
  ASSERT_NE(find("lws"), nullptr);
  EXPECT_EQ(find("lws")->name, "leaderworkerset");
  EXPECT_EQ(find(""), nullptr);
  EXPECT_EQ(find("lw"), nullptr);
}

// The metrics of a controller carry the name it has in the list.
TEST(Components, ControllersCountUnderTheirOwnNames) {
  Metrics metrics;
  std::vector<std::unique_ptr<client::Component>> made;
  for (const Entry& entry : all())
    made.push_back(entry.make({}, {.send = [](const auto&...) {}, .metrics = &metrics}));
  const std::string text = metrics.text();
  for (const Entry& entry : all()) {
    if (entry.name == kScheduler) continue;
    EXPECT_NE(text.find("workqueue_depth{name=\"" + std::string(entry.name) + "\"}"),
              std::string::npos)
        << entry.name;
  }
}

// What is acted on unless a component is switched off names components that there are.
TEST(Components, ThoseThatInertRulesNameExist) {
  for (const api::InertRule& rule : api::inert_rules())
    EXPECT_TRUE(rule.component.empty() ||
                std::ranges::find(all(), rule.component, &Entry::name) != all().end())
        << rule.component;
}

// The rules of the ClusterRoles in docs/deploy/controllers-rbac.yaml, by the controller they are
// for.
std::map<std::string, api::JsonArray> documented_roles() {
  std::ifstream file(MUSTER_CONTROLLERS_RBAC);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::map<std::string, api::JsonArray> roles;
  for (const std::string_view part : api::split_yaml_documents(text)) {
    const auto document = api::parse_yaml(part);
    EXPECT_TRUE(document) << part;
    const std::string name(api::find_string(api::part_of(document->value, "metadata"), "name"));
    if (api::find_string(document->value, "kind") == "ClusterRole" && name.starts_with("muster:"))
      roles[name.substr(7)] = api::elements(document->value, "rules");
  }
  return roles;
}

bool names(const api::Json& rule, std::string_view member, std::string_view value) {
  return std::ranges::any_of(api::elements(rule, member),
                             [&](const api::Json& item) { return api::text_of(item) == value; });
}

TEST(Components, WhoeverHasADocumentedRoleMayReadWhatItWatches) {
  const std::map<std::string, api::JsonArray> roles = documented_roles();
  ASSERT_GE(roles.size(), 7U);
  Metrics metrics;
  for (const Entry& entry : all()) {
    const auto role = roles.find(std::string(entry.name));
    if (role == roles.end()) continue;
    const auto component = entry.make({}, {.send = [](const auto&...) {}, .metrics = &metrics});
    for (const api::Kind* kind : component->watched_kinds())
      for (const char* verb : {"list", "watch"})
        EXPECT_TRUE(std::ranges::any_of(role->second,
                                        [&](const api::Json& rule) {
                                          return names(rule, "apiGroups", kind->group) &&
                                                 names(rule, "resources", kind->plural) &&
                                                 names(rule, "verbs", verb);
                                        }))
            << entry.name << " may not " << verb << " " << kind->plural;
  }
  for (const auto& [name, rules] : roles)
    EXPECT_TRUE(name == "controllers" ||
                std::ranges::find(all(), name, &Entry::name) != all().end())
        << "there is no controller " << name;
}

TEST(Components, HelpNamesTheirAliases) { EXPECT_EQ(aliases_text(), "; lws is leaderworkerset"); }

// Rights are given to these names.
TEST(Components, SpeakAsUpstreamsDo) {
  for (const Entry& entry : all()) {
    if (entry.name == "clusterrole-aggregation") continue;
    EXPECT_EQ(entry.user.name,
              entry.name == kScheduler ? "system:kube-scheduler" : "system:kube-controller-manager")
        << entry.name;
    EXPECT_EQ(entry.user.groups, std::vector<std::string>{"system:authenticated"}) << entry.name;
  }
  const api::User& aggregation = find("clusterrole-aggregation")->user;
  EXPECT_EQ(aggregation.name,
            "system:serviceaccount:kube-system:clusterrole-aggregation-controller");
  EXPECT_EQ(aggregation.groups, (std::vector<std::string>{"system:serviceaccounts",
                                                          "system:serviceaccounts:kube-system",
                                                          "system:authenticated"}));
}

// Whoever tells what nobody acts on knows that of our own server only.
TEST(Components, AllButOneMakeSenseOnOtherClusters) {
  for (const Entry& entry : all())
    EXPECT_EQ(entry.runs_elsewhere, entry.name != "inert-objects") << entry.name;
}

}  // namespace
}  // namespace muster::components
