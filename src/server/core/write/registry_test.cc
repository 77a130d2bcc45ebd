#include "server/core/write/registry.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/core/testing/core_fixture.h"
#include "server/core/testing/replaced_engine.h"
#include "server/core/write/batch.h"

namespace muster::server {
namespace {

class RegistryTest : public CoreTest {
 protected:
  using CoreTest::CoreTest;

  // Submits without a flush; the answer lands in answers_ when it comes.
  void submit(Request request) {
    const std::size_t slot = answers_.size();
    answers_.emplace_back();
    registry_.submit(std::move(request), now_,
                     [this, slot](Result<Answer> answer) { answers_[slot] = std::move(answer); });
  }
  Request creation(const api::Kind& kind, std::string_view name_space, std::string_view json) {
    Request out = request(Verb::Create, kind, name_space);
    EXPECT_TRUE(decode_into(out, json));
    return out;
  }
  Request labelling(std::string_view pod, std::string_view value) {
    Request out = request(Verb::Patch, pods(), "default", pod);
    out.body =
        api::JsonObject{{"metadata", api::JsonObject{{"labels", api::JsonObject{{"a", value}}}}}};
    return out;
  }
  Result<Answer> answer(std::size_t i) {
    EXPECT_TRUE(answers_.at(i).has_value()) << i;
    return answers_.at(i).value_or(fail(Reason::InternalError, "no answer"));
  }

  std::vector<std::optional<Result<Answer>>> answers_;
};

TEST_F(RegistryTest, NothingIsVisibleOrAnsweredBeforeTheFlush) {
  submit(creation(pods(), "default", pod_json("a")));
  submit(creation(pods(), "default", pod_json("b")));
  EXPECT_FALSE(answers_[0].has_value());
  EXPECT_EQ(store_->get("pods/default/a"), nullptr);
  registry_.flush();
  EXPECT_EQ(at(answer(0), "metadata.name"), "a");
  EXPECT_EQ(at(answer(1), "metadata.name"), "b");
  EXPECT_EQ(revision(answer(1)).value, revision(answer(0)).value + 1);
}

TEST_F(RegistryTest, EachRequestOfABatchSeesThoseBeforeIt) {
  submit(creation(namespaces(), "", R"({"metadata":{"name":"team"}})"));
  submit(creation(pods(), "team", pod_json("web")));
  submit(creation(pods(), "team", pod_json("web")));
  Request patch = request(Verb::Patch, pods(), "team", "web");
  patch.body = api::parse_json(R"({"metadata":{"labels":{"a":"1"}}})")->value;
  submit(patch);
  submit(request(Verb::Delete, pods(), "team", "web"));
  submit(request(Verb::Delete, pods(), "team", "web"));
  registry_.flush();
  EXPECT_EQ(message(answer(0)), "no error");
  EXPECT_EQ(message(answer(1)), "no error");
  EXPECT_EQ(message(answer(2)), R"(pods "web" already exists)");
  EXPECT_EQ(at(answer(3), "metadata.labels.a"), "1");
  EXPECT_EQ(message(answer(4)), "no error");
  EXPECT_EQ(message(answer(5)), R"(pods "web" not found)");
}

TEST_F(RegistryTest, OneBadRequestDoesNotHurtTheOthers) {
  submit(creation(pods(), "default", pod_json("a")));
  submit(creation(pods(), "default", pod_json("UPPER")));
  submit(labelling("missing", "1"));
  submit(creation(pods(), "default", pod_json("b")));
  registry_.flush();
  EXPECT_TRUE(answer(0));
  EXPECT_EQ(reason(answer(1)), Reason::Invalid);
  EXPECT_EQ(reason(answer(2)), Reason::NotFound);
  EXPECT_TRUE(answer(3));
}

TEST_F(RegistryTest, AnExceptionIsAnInternalError) {
  submit(creation(pods(), "default", pod_json("a")));
  Request broken = request(Verb::Create, pods(), "default");
  broken.body = "not even an object, though the decoder promised one";
  submit(broken);
  registry_.flush();
  EXPECT_TRUE(answer(0));
  EXPECT_FALSE(answer(1));
}

TEST_F(RegistryTest, RepliesMaySubmitAgain) {
  std::string order;
  registry_.submit(creation(pods(), "default", pod_json("a")), now_, [&](const Result<Answer>&) {
    order += "a";
    registry_.submit(labelling("a", "1"), now_,
                     [&](const Result<Answer>& second) { order += second ? "b" : "?"; });
  });
  registry_.flush();
  registry_.flush();
  EXPECT_EQ(order, "ab");
}

TEST_F(RegistryTest, BootstrapIsIdempotent) {
  const api::Revision before = store_->revision();
  bootstrap(registry_, *store_, now_);
  EXPECT_EQ(store_->revision(), before);
  EXPECT_EQ(names(list(namespaces(), "")), "default kube-node-lease kube-public kube-system");
  const auto node_critical = get(api::kinds::priority_class(), "", "system-node-critical");
  EXPECT_EQ(at(node_critical, "value"), "2000001000");
  EXPECT_EQ(at(node_critical, "metadata.generation"), "1");
}

TEST_F(RegistryTest, EventsExpireAfterAnHourOfSilence) {
  const auto event = [&](std::string_view name, std::string_view last) {
    return create(
        api::kinds::event(), "default",
        std::string(R"({"metadata":{"name":")")
            .append(name)
            .append(
                R"("},"involvedObject":{"kind":"Pod","namespace":"default","name":"web"},"lastTimestamp":")")
            .append(last)
            .append("\"}"));
  };
  ASSERT_TRUE(event("old", "2026-05-01T10:00:00Z"));
  ASSERT_TRUE(event("renewed", "2026-05-01T10:30:00Z"));
  now_ += std::chrono::minutes(61);
  registry_.expire(now_);
  registry_.flush();
  EXPECT_EQ(names(list(api::kinds::event(), "default")), "renewed");
}

// An engine whose disk fails on demand.
// A driver that commits elsewhere: the test plays the other thread.
class PipelinedRegistryTest : public RegistryTest {
 protected:
  PipelinedRegistryTest() {
    registry_.set_await([this] {
      ++awaited_;
      commit();
    });
  }
  ~PipelinedRegistryTest() override { finish(); }

  void take() {
    batch_ = registry_.begin_commit();
    ASSERT_NE(batch_, nullptr);
  }
  void commit() {
    if (batch_) batch_->commit(*store_);
  }
  void finish() {
    if (const auto batch = std::exchange(batch_, nullptr)) {
      registry_.end_commit();
      batch->answer();
    }
  }

  std::shared_ptr<Batch> batch_;
  int awaited_ = 0;
};

TEST_F(PipelinedRegistryTest, TheNextBatchIsDecidedWhileOneIsCommitted) {
  submit(creation(pods(), "default", pod_json("a")));
  take();
  submit(creation(pods(), "default", pod_json("b")));
  EXPECT_EQ(store_->get("pods/default/a"), nullptr);
  EXPECT_FALSE(answers_[0].has_value());
  commit();
  EXPECT_NE(store_->get("pods/default/a"), nullptr);
  finish();
  EXPECT_TRUE(answer(0));
  EXPECT_FALSE(answers_[1].has_value());
  take();
  commit();
  finish();
  EXPECT_TRUE(answer(1));
  EXPECT_EQ(awaited_, 0);
  EXPECT_EQ(registry_.begin_commit(), nullptr);
}

TEST_F(PipelinedRegistryTest, WhoReadsWhatIsBeingCommittedWaitsForIt) {
  submit(creation(pods(), "default", pod_json("a")));
  take();
  submit(creation(pods(), "default", pod_json("b")));
  EXPECT_EQ(awaited_, 0);
  submit(labelling("a", "1"));
  EXPECT_EQ(awaited_, 1);
  finish();
  EXPECT_TRUE(answer(0));
  EXPECT_FALSE(answers_[2].has_value());
  registry_.flush();
  EXPECT_EQ(at(answer(2), "metadata.labels.a"), "1");
}

TEST_F(PipelinedRegistryTest, ASecondCreationOfTheSameNameIsRefused) {
  submit(creation(pods(), "default", pod_json("a")));
  take();
  submit(creation(pods(), "default", pod_json("a")));
  EXPECT_EQ(message(answer(1)), R"(pods "a" already exists)");
  finish();
  EXPECT_TRUE(answer(0));
}

TEST_F(PipelinedRegistryTest, NamespacesAreEmptiedBatchByBatch) {
  ASSERT_TRUE(create(namespaces(), "", R"({"metadata":{"name":"team"}})"));
  ASSERT_TRUE(create(pods(), "team", pod_json("web")));
  submit(request(Verb::Delete, namespaces(), "", "team"));
  int batches = 0;
  for (batch_ = registry_.begin_commit(); batch_; batch_ = registry_.begin_commit()) {
    ASSERT_LT(++batches, 10);
    commit();
    finish();
  }
  EXPECT_EQ(message(get(namespaces(), "", "team")), R"(namespaces "team" not found)");
}

class FailingEngine final : public ReplacedEngine {
 public:
  explicit FailingEngine(bool& fails) : fails_(fails) {}
  Result<std::vector<Result<api::Revision>>> commit(std::span<store::Transaction> batch) override {
    if (fails_) return fail(Reason::InternalError, "no space left on device");
    return ReplacedEngine::commit(batch);
  }

 private:
  bool& fails_;
};

bool disk_fails = false;

class FailingRegistryTest : public RegistryTest {
 protected:
  FailingRegistryTest() : RegistryTest(std::make_unique<FailingEngine>(disk_fails)) {}
  ~FailingRegistryTest() override { disk_fails = false; }
};

TEST_F(FailingRegistryTest, ABrokenEngineAnswersTheWholeBatch) {
  disk_fails = true;
  submit(creation(pods(), "default", pod_json("a")));
  submit(creation(pods(), "default", pod_json("b")));
  submit(creation(pods(), "default", pod_json("UPPER")));
  registry_.flush();
  EXPECT_EQ(reason(answer(0)), Reason::ServiceUnavailable);
  EXPECT_EQ(message(answer(1)), "the store failed: no space left on device");
  EXPECT_EQ(reason(answer(2)), Reason::Invalid);
  EXPECT_EQ(message(get(pods(), "default", "a")), R"(pods "a" not found)");
  disk_fails = false;
  EXPECT_TRUE(create_pod("a"));
}

TEST_F(RegistryTest, WhatIsNotForeseenIsNotAllowed) {
  struct Case {
    Verb verb;
    const api::Kind& kind;
    std::string subresource;
  };
  const api::Kind& bindings = *api::find_kind("", "Binding");
  for (const Case& one : std::vector<Case>{
           {Verb::Create, pods(), "status"},
           {Verb::Create, nodes(), "binding"},
           {Verb::Create, nodes(), "eviction"},
           {Verb::Update, pods(), "binding"},
           {Verb::Patch, pods(), "eviction"},
           {Verb::Patch, pods(), "spleen"},
           {Verb::Delete, pods(), "status"},
           {Verb::Update, bindings, ""},
           {Verb::Patch, bindings, ""},
           {Verb::DeleteCollection, bindings, ""},
           {Verb::Delete, api::kinds::group_binding(), ""},
           {Verb::Create, *api::find_kind("authorization.k8s.io", "SubjectAccessReview"), ""}}) {
    answers_.clear();
    Request out = request(one.verb, one.kind, "default", "a");
    out.subresource = one.subresource;
    out.body = api::JsonObject{{"metadata", api::JsonObject{{"name", "a"}}}};
    submit(std::move(out));
    registry_.flush();
    EXPECT_EQ(reason(answer(0)), Reason::MethodNotAllowed)
        << one.kind.kind << " " << one.subresource << ": " << message(answer(0));
    EXPECT_EQ(message(answer(0)),
              "the server does not allow this method on the requested resource");
  }
}

TEST_F(RegistryTest, AReadIsNoWrite) {
  for (const Verb verb : {Verb::Get, Verb::List, Verb::Watch}) {
    answers_.clear();
    submit(request(verb, pods(), "default", "a"));
    registry_.flush();
    EXPECT_EQ(message(answer(0)), "Internal error occurred: no write to be decided at once");
  }
}

TEST_F(RegistryTest, ManyRequestsAboutManyObjectsTakeTurns) {
  const api::Kind& maps = *api::find_kind("", "ConfigMap");
  for (const char* home : {"default", "kube-public"})
    for (int i = 0; i < 500; ++i)
      ASSERT_TRUE(create(maps, home, fmt::format(R"({{"metadata":{{"name":"m{:03}"}}}})", i)));
  submit(request(Verb::DeleteCollection, maps, "default"));
  submit(request(Verb::DeleteCollection, maps, "kube-public"));
  registry_.work();
  registry_.work();
  if (const auto batch = registry_.begin_commit()) {
    batch->commit(*store_);
    registry_.end_commit();
    batch->answer();
  }
  for (const char* home : {"default", "kube-public"}) {
    const std::size_t left = store_->list(fmt::format("configmaps/{}/", home)).objects.size();
    EXPECT_TRUE(left > 0 && left < 500) << home << ": " << left;
  }
}

TEST_F(RegistryTest, OneThatStopsSaysSoToWhoeverStillWaits) {
  const api::Kind& maps = *api::find_kind("", "ConfigMap");
  for (int i = 0; i < 500; ++i)
    ASSERT_TRUE(create(maps, "default", fmt::format(R"({{"metadata":{{"name":"m{}"}}}})", i)));
  submit(request(Verb::DeleteCollection, maps, "default"));
  ASSERT_TRUE(registry_.unfinished());
  registry_.refuse_unfinished();
  EXPECT_EQ(message(answer(0)), "the server is stopping, please try again later");
  EXPECT_EQ(reason(answer(0)), Reason::ServiceUnavailable);
}

}  // namespace
}  // namespace muster::server
