#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/kit/fake_api_testing.h"
#include "scheduler/bind/preparer.h"

// For tests only: a Preparer whose plugins say what the test says.
namespace muster::scheduler {

// What the plugins below say, and what they were told.
struct Office {
  std::size_t writes = 2;
  Progress progress{Progress::State::Waits, {}};
  Progress permit{Progress::State::Done, {}};
  std::string admitted;  // the only pod whose permit is given; empty: as `permit` says
  Duration patience = std::chrono::seconds{60};
  std::vector<std::size_t> written;
  int asked = 0;
};

class OfficePreparation final : public Preparation {
 public:
  OfficePreparation(Office& office, std::string pod) : office_(office), pod_(std::move(pod)) {}
  std::vector<api::Request> writes() const override {
    std::vector<api::Request> out;
    for (std::size_t i = 0; i < office_.writes; ++i)
      out.push_back(client::patch_request(api::kinds::persistent_volume_claim(), "ns",
                                          fmt::format("{}-{}", pod_, i), "", api::PatchType::Merge,
                                          api::JsonObject{}));
    return out;
  }
  void written(std::size_t index, const api::Answer&) override { office_.written.push_back(index); }
  Progress progress(const Cluster&) const override {
    ++office_.asked;
    return office_.progress;
  }
  std::vector<std::string> waits_on() const override {
    return {"PersistentVolumeClaim/ns/" + pod_};
  }
  Duration patience() const override { return office_.patience; }
  std::string context() const override { return "stamping: "; }

 private:
  Office& office_;
  std::string pod_;
};

class OfficePlugin final : public PreBind {
 public:
  static constexpr std::string_view kName = "Office";
  explicit OfficePlugin(Office* office) : office_(office) {}
  std::unique_ptr<Preparation> prepare_binding(const api::ObjectPtr& pod, std::string_view,
                                               const Cluster&) const override {
    if (pod->meta().name.starts_with("plain")) return nullptr;
    return std::make_unique<OfficePreparation>(*office_, pod->meta().name);
  }

 private:
  Office* office_;
};

class Doorkeeper final : public Permit {
 public:
  static constexpr std::string_view kName = "Doorkeeper";
  explicit Doorkeeper(Office* office) : office_(office) {}
  Progress permit(const api::ObjectPtr& pod, std::string_view, const Cluster&) const override {
    return pod->meta().name == office_->admitted ? Progress{} : office_->permit;
  }
  Duration patience() const override { return std::chrono::seconds{10}; }

 private:
  Office* office_;
};

class PreparerFixture : public ::testing::Test {
 protected:
  PreparerFixture() { profile_.add<OfficePlugin>(1, &office_); }

  static GroupKey root() { return {GroupKind::PodGroup, "ns", "g"}; }
  // Each on a node of its own: "p" on "n-p".
  void add(std::initializer_list<const char*> pods, bool is_tree = false) {
    PreparedBatch batch;
    for (const char* pod : pods)
      batch.assignments.push_back({client::make_pod(pod), fmt::format("n-{}", pod)});
    if (is_tree) batch.tree = TreeBinding{root(), nullptr, {}, {}};
    batch.ordered = is_tree;
    preparer_.add(std::move(batch), profile_of_, now_);
  }
  void changed(const api::Kind& kind, const std::string& text) {
    preparer_.object_changed(*api::Object::make(kind, api::parse_json(text)->value), now_);
  }
  void claim_changed(const std::string& name) {
    changed(api::kinds::persistent_volume_claim(),
            fmt::format(R"({{"metadata":{{"name":"{}","namespace":"ns"}}}})", name));
  }
  void pass(Duration time) {
    now_ += time;
    preparer_.run(now_);
  }
  static std::string names(const PreparedBatch& batch) {
    std::string text;
    for (const Assignment& assignment : batch.assignments)
      text += (text.empty() ? "" : "+") + assignment.pod->meta().name;
    return text;
  }

  Time now_{std::chrono::seconds{100}};
  client::FakeApi api_;
  Cluster cluster_;
  Office office_;
  Profile profile_;
  Preparer::ProfileOf profile_of_ = [this](const api::Object&) -> const Profile& {
    return profile_;
  };
  std::vector<std::string> told_;
  Preparer preparer_{
      cluster_, api_.calls,
      [this](const PreparedBatch& batch, Time) { told_.push_back("ready " + names(batch)); },
      [this](const PreparedBatch& batch, const Preparer::Failure& failure, Time) {
        told_.push_back(fmt::format("{} {}: {} [{}]", failure.is_error ? "failed" : "refused",
                                    names(batch), failure.message, failure.plugin));
      }};
};

}  // namespace muster::scheduler
