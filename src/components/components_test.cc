#include "components/components.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

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

}  // namespace
}  // namespace muster::components
