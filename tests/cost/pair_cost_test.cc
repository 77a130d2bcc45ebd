#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "cost/cases.h"
#include "cost/judge.h"
#include "cost/pipeline.h"
#include "cost/work.h"

// Two lists of one document, both large: a check that looks each mount up among the volumes grows
// with the one times the other, and with neither alone.
namespace muster::cost {
namespace {

using api::schema::Field;
using api::schema::Message;

// What both stand in: who compares two lists sees them from there.
const Message* common_holder(const Target& one, const Target& other) {
  const Message* holder = one.kind->message;
  for (std::size_t i = 0; i < std::min(one.path.size(), other.path.size()); ++i) {
    if (one.path[i] != other.path[i]) break;
    if (one.path[i]->message == nullptr) break;
    holder = one.path[i]->message;
  }
  return holder;
}

Measured measure_text(const api::Kind& kind, const std::string& body) {
  const Work work = measure([&] { (void)create(kind, body); });
  return {.work = work, .bytes = body.size()};
}
Measured measure_one(const Target& target, std::size_t count, Order order) {
  const api::Json document = document_with(target, entries(target, count, order));
  return measure_text(*target.kind, text_of(document, count));
}
Measured measure_both(const Target& one, const Target& other, std::size_t count) {
  const api::Json document = document_with(one, entries(one, count, Order::Rising), other,
                                           entries(other, count, Order::Falling));
  return measure_text(*one.kind, text_of(document, count));
}

// The pairs of all kinds, each two descriptions below one message once: a pod's lists stand under
// one PodSpec in ten kinds, and who compares them knows no more of the kind than that.
class Pairs {
 public:
  // Of all pairs each `stride`th.
  Pairs(std::size_t count, std::size_t stride) : count_(count), stride_(stride) {}

  void judge(const api::Kind& kind) {
    const std::vector<Target> all = targets_of(kind);
    std::map<const Target*, Measured> alone;
    for (const Target& one : all)
      for (const Target& other : all) {
        if (&one >= &other) continue;
        if (!seen_.emplace(common_holder(one, other), &one.field(), &other.field()).second)
          continue;
        if (number_++ % stride_ == 0) judge(one, other, alone);
      }
  }

 private:
  // Only where two lists cost more together than one by one is it worth to see how that grows.
  void judge(const Target& one, const Target& other, std::map<const Target*, Measured>& alone) {
    const Measured both = measure_both(one, other, count_);
    const std::uint64_t apart =
        alone_once(one, alone).work.total() + alone_once(other, alone).work.total();
    if (both.work.total() <= apart + apart / 10) return;
    judge_.judge(
        fmt::format("{} and {}", one.text(), other.text()),
        [&](std::size_t count) { return measure_both(one, other, count); }, count_);
  }
  const Measured& alone_once(const Target& target, std::map<const Target*, Measured>& alone) {
    const auto [found, is_new] = alone.try_emplace(&target);
    if (is_new) found->second = measure_one(target, count_, Order::Rising);
    return found->second;
  }

  const std::size_t count_;
  const std::size_t stride_;
  Judge judge_{"pairs that cost more than both"};
  std::set<std::tuple<const Message*, const Field*, const Field*>> seen_;
  std::size_t number_ = 0;
};

TEST(Cost, OfTwoListsGrowsWithBoth) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  Pairs pairs(is_long() ? 256 : 48, is_long() ? 1 : 20);
  for (const api::Kind* kind : api::all_kinds()) pairs.judge(*kind);
}

// Each Job's template was judged with all claims that Jobs may share, mounted or not.
TEST(Cost, OfJobsAndTheirClaimsGrowsWithBoth) {
  if (!kCountsSteps) GTEST_SKIP() << "this build does not count steps";
  const std::vector<Target> all = targets_of(*api::find_kind("jobset.x-k8s.io", "JobSet"));
  const auto named = [&](std::string_view text) {
    return *std::ranges::find_if(all, [&](const Target& one) { return one.text() == text; });
  };
  const Target jobs = named("JobSet spec.replicatedJobs");
  const Target claims = named("JobSet spec.volumeClaimPolicies.templates");
  Judge judge("jobs and claims");
  judge.judge("both", [&](std::size_t count) { return measure_both(jobs, claims, count); }, 48);
}

TEST(Cost, TwoListsStandInOneDocument) {
  const std::vector<Target> all = targets_of(api::kinds::pod());
  const auto named = [&](std::string_view text) {
    return *std::ranges::find_if(all, [&](const Target& one) { return one.text() == text; });
  };
  const Target mounts = named("Pod spec.containers.volumeMounts");
  const Target volumes = named("Pod spec.volumes");
  EXPECT_EQ(common_holder(mounts, volumes)->name, "PodSpec");
  const api::Json both = document_with(mounts, entries(mounts, 5, Order::Rising), volumes,
                                       entries(volumes, 5, Order::Falling));
  EXPECT_EQ(api::find_path(both, "spec.volumes")->get_array().size(), 5U);
  const api::Json& container = api::find_path(both, "spec.containers")->get_array().front();
  EXPECT_EQ(api::find_array(container, "volumeMounts")->size(), 5U);

  const Target containers = named("Pod spec.containers");
  const api::Json nested = document_with(mounts, entries(mounts, 5, Order::Rising), containers,
                                         entries(containers, 5, Order::Rising));
  const auto& items = api::find_path(nested, "spec.containers")->get_array();
  ASSERT_EQ(items.size(), 5U);
  EXPECT_EQ(api::find_array(items.front(), "volumeMounts")->size(), 5U);
}

}  // namespace
}  // namespace muster::cost
