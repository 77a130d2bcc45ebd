#include "server/core/read/reader.h"

#include <fmt/format.h>

#include "server/core/read/paging.h"
#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class ReadsTest : public CoreTest {
 protected:
  explicit ReadsTest(watch::Limits limits = {}) : CoreTest(store::make_memory_engine(), limits) {}
  void make_pods(std::initializer_list<std::string_view> pod_names) {
    for (const std::string_view name : pod_names) ASSERT_TRUE(create_pod(name));
  }
  static Asking page(std::int64_t limit, std::string token = {}) {
    Asking options;
    options.limit = limit;
    options.token = std::move(token);
    return options;
  }
  std::string field_error(const api::Kind& kind, std::string_view selector) {
    Asking options;
    options.fields = selector;
    return message(list(kind, "", options));
  }
  std::string selected(std::string_view labels, std::string_view fields = {}) {
    Asking options;
    options.labels = labels;
    options.fields = fields;
    return names(list(pods(), "default", options));
  }
};

TEST_F(ReadsTest, ListsAreSortedAndCarryTheStoresRevision) {
  make_pods({"c", "a", "b"});
  ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"n1"}})"));
  const auto pods_now = list(pods(), "default");
  EXPECT_EQ(names(pods_now), "a b c");
  EXPECT_EQ(revision(pods_now), store_->revision());
  EXPECT_EQ(names(list(pods(), "elsewhere")), "");
  EXPECT_EQ(names(list(pods(), "")), "a b c");
}

TEST_F(ReadsTest, SelectorsNarrow) {
  ASSERT_TRUE(create_pod("a", "", R"("labels":{"app":"web"})"));
  ASSERT_TRUE(create_pod("b", R"("hostNetwork":true)", R"("labels":{"app":"db"})"));
  ASSERT_TRUE(create_pod("c"));
  ASSERT_TRUE(bind("c", "n1"));
  EXPECT_EQ(selected("app=web"), "a");
  EXPECT_EQ(selected("app!=web"), "b c");
  EXPECT_EQ(selected("", "spec.nodeName=n1"), "c");
  EXPECT_EQ(selected("", "spec.nodeName="), "a b");
  EXPECT_EQ(selected("", "metadata.name=b"), "b");
  EXPECT_EQ(selected("app", "metadata.name=c"), "");
  EXPECT_EQ(selected("", "status.phase!=Pending"), "");
  EXPECT_EQ(selected("", "spec.hostNetwork=false"), "a c");
}

TEST_F(ReadsTest, UnknownFieldsCannotBeSelectedBy) {
  EXPECT_EQ(field_error(pods(), "spec.foo=1"), "field label not supported: spec.foo");
  EXPECT_EQ(
      field_error(api::kinds::lease(), "spec.foo=1"),
      R"("spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace")");
  EXPECT_EQ(reason(list(pods(), "", {.labels = "a=b=c"})), Reason::BadRequest);
}

TEST_F(ReadsTest, PagesShowOneState) {
  make_pods({"a", "b", "c", "d", "e"});
  const auto first = list(pods(), "default", page(2));
  EXPECT_EQ(names(first), "a b");
  EXPECT_EQ(items(first).remaining, 3);
  make_pods({"aa", "ca"});
  ASSERT_TRUE(remove(pods(), "default", "d"));

  const auto second = list(pods(), "default", page(2, items(first).continue_token));
  EXPECT_EQ(names(second), "c d");
  EXPECT_EQ(revision(second), revision(first));
  const auto third = list(pods(), "default", page(2, items(second).continue_token));
  EXPECT_EQ(names(third), "e");
  EXPECT_EQ(items(third).continue_token, "");
  EXPECT_EQ(items(third).remaining, std::nullopt);
}

TEST_F(ReadsTest, APageThatIsGoneSaysWhereToGoOn) {
  make_pods({"a", "b", "c", "d"});
  const auto first = list(pods(), "default", page(1));
  make_pods({"e"});
  for (int i = 0; i < 100; ++i) {  // more listings than are pinned
    ASSERT_TRUE(merge(pods(), "default", "a",
                      R"({"metadata":{"labels":{"i":")" + std::to_string(i) + "\"}}}"));
    ASSERT_EQ(names(list(pods(), "default", page(1))), "a");
  }
  const std::string token = items(first).continue_token;
  const auto gone = list(pods(), "default", page(2, token));
  EXPECT_EQ(reason(gone), Reason::Expired);
  EXPECT_TRUE(message(gone).starts_with(
      "The provided continue parameter is too old to display a consistent list result."));
  EXPECT_EQ(names(list(pods(), "default", page(2, renewed_token(token)))), "b c");
}

class ForgetfulReadsTest : public ReadsTest {
 protected:
  ForgetfulReadsTest() : ReadsTest({.changes_max = 3, .bytes_max = 1U << 20U}) {}
};

// Each page of a list that a client never goes on with kept every object as it was: a client that
// asked for first pages and rewrote large objects in between filled the memory.
TEST_F(ForgetfulReadsTest, PagesKeepNothingThatTheWindowHasForgotten) {
  make_pods({"a", "b"});
  const std::weak_ptr<const api::Object> old = store_->get("pods/default/b");
  ASSERT_FALSE(old.expired());
  const std::string token = items(list(pods(), "default", page(1))).continue_token;
  const auto touch = [&](int count) {
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE(merge(pods(), "default", "b",
                        R"({"metadata":{"labels":{"i":")" + std::to_string(i) + "\"}}}"));
  };
  touch(2);
  EXPECT_EQ(names(list(pods(), "default", page(1, token))), "b") << "the window knows it still";
  touch(4);
  EXPECT_EQ(reason(list(pods(), "default", page(1, token))), Reason::Expired);
  ASSERT_TRUE(store_->compact(store_->revision()));  // the store has a history of its own
  EXPECT_TRUE(old.expired());
}

TEST_F(ReadsTest, PagesWithSelectorsAreFull) {
  for (const std::string_view name : {"a", "b", "c", "d", "e"})
    ASSERT_TRUE(create_pod(name, "", name == "b" ? "" : R"("labels":{"app":"web"})"));
  Asking options = page(2);
  options.labels = "app=web";
  const auto first = list(pods(), "default", options);
  EXPECT_EQ(names(first), "a c");
  EXPECT_EQ(items(first).remaining, std::nullopt);
  options.token = items(first).continue_token;
  const auto second = list(pods(), "default", options);
  EXPECT_EQ(names(second), "d e");
  EXPECT_EQ(items(second).continue_token, "");
}

TEST_F(ReadsTest, BadTokensAreRefused) {
  EXPECT_TRUE(message(list(pods(), "default", page(1, "nonsense")))
                  .starts_with("invalid continue token: "));
  for (const ContinueToken& token :
       {ContinueToken{.revision = {0}, .start = "a"}, ContinueToken{.revision = {5}, .start = ""}})
    EXPECT_EQ(reason(list(pods(), "default", page(1, token.text()))), Reason::BadRequest);
  make_pods({"a", "b"});
  Asking options = page(1, items(list(pods(), "default", page(1))).continue_token);
  options.version = "1";
  EXPECT_EQ(message(list(pods(), "default", options)),
            "specifying resource version is not allowed when using continue");
}

TEST_F(ReadsTest, RevisionsAheadOfTheStoreTimeOut) {
  const auto ahead = list(pods(), "", {.version = "999999"});
  EXPECT_EQ(reason(ahead), Reason::Timeout);
  EXPECT_EQ(message(ahead), "Timeout: Too large resource version: 999999, current: " +
                                std::to_string(store_->revision().value));
  ASSERT_EQ(ahead.error().causes.size(), 1U);
  EXPECT_EQ(ahead.error().causes[0].type, "ResourceVersionTooLarge");
  EXPECT_EQ(ahead.error().retry_after_s, 1);
  EXPECT_EQ(reason(list(pods(), "", {.version = "abc"})), Reason::BadRequest);
}

TEST_F(ReadsTest, ExactRevisionsAreServedWhileTheyStand) {
  make_pods({"a"});
  const std::string then = std::to_string(store_->revision().value);
  ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"n1"}})"));
  const Asking exact{.version = then, .match = "Exact"};
  const auto unchanged = list(pods(), "", exact);
  EXPECT_EQ(names(unchanged), "a");
  EXPECT_EQ(version(unchanged), then);
  // A limit with a revision means the same, for historical reasons.
  Asking limited = page(5);
  limited.version = then;
  EXPECT_EQ(version(list(pods(), "", limited)), then);
  make_pods({"b"});
  EXPECT_EQ(message(list(pods(), "", exact)),
            "The resourceVersion for the provided list is too old.");
  EXPECT_EQ(reason(list(pods(), "", limited)), Reason::Expired);
  EXPECT_EQ(names(list(pods(), "", {.version = then})), "a b") << "not older than that";
}

// T3m: between the moment the store shows a change and the moment the window has it, nobody can say
// that a kind has not changed since.
TEST(LaggingWindow, AnExactListIsNotServedFromANewerState) {
  const auto store = store::Store::open(store::make_memory_engine()).value();
  watch::Window window;
  window.start(store->compacted());
  std::function<void()> before_the_window_hears;
  store->listen([&](std::span<const store::Change>) {
    if (before_the_window_hears) std::exchange(before_the_window_hears, nullptr)();
  });
  store->listen([&](std::span<const store::Change> changes) { window.append(changes); });
  const Reader reader(*store, window);
  SeededEntropy entropy{1};
  Registry registry(*store, entropy);
  const Time now = *parse_time("2026-05-01T10:00:00Z");
  const auto create_node = [&](std::string_view name) {
    Request out;
    out.verb = Verb::Create;
    out.kind = &api::kinds::node();
    out.version = "v1";
    out.body = api::JsonObject{{"metadata", api::JsonObject{{"name", name}}}};
    registry.submit(std::move(out), now, nullptr);
    registry.flush();
  };
  create_node("a");

  Request exact;
  exact.verb = Verb::List;
  exact.kind = &api::kinds::node();
  exact.version = "v1";
  exact.list.resource_version = std::to_string(store->revision().value);
  exact.list.resource_version_match = "Exact";
  ASSERT_TRUE(reader.read(exact));
  std::optional<Result<Answer>> answer;
  before_the_window_hears = [&] { answer = reader.read(exact); };
  create_node("b");
  ASSERT_TRUE(answer.has_value());
  ASSERT_FALSE(answer->has_value()) << "the store has node b, the window has not heard of it";
  EXPECT_EQ(answer->error().reason, Reason::Expired);
}

// A selector with many terms, which looks at every object and finds one.
TEST_F(ReadsTest, AListIsReadAStepAtATime) {
  constexpr int kPods = 1'000;
  for (int i = 0; i < kPods; ++i)
    ASSERT_TRUE(
        create_pod(fmt::format("p{:04}", i), "", i == 700 ? R"("labels":{"sought":"here"})" : ""));
  api::Request asked = request(Verb::List, pods(), "default");
  for (int i = 1; i < 250; ++i) asked.list.label_selector += fmt::format("!k{},", i);
  asked.list.label_selector += "sought";
  auto reading = reader_.begin_list(asked);
  ASSERT_TRUE(reading);
  int steps = 1;
  while ((*reading)->look_on()) ++steps;
  EXPECT_GE(steps, 4) << "250,000 comparisons are not made in one go";
  EXPECT_LE(steps, 20) << "nor one by one";
  EXPECT_EQ(names((*reading)->answer()), "p0700");

  asked.list.label_selector.clear();
  auto all = reader_.begin_list(asked);
  ASSERT_TRUE(all);
  EXPECT_FALSE((*all)->look_on()) << "a short list takes one step";
  EXPECT_EQ(items((*all)->answer()).items.size(), std::size_t{kPods});
}

TEST_F(ReadsTest, MatchRulesAreChecked) {
  EXPECT_EQ(message(list(pods(), "", {.match = "Exact"})),
            R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: )"
            "resourceVersionMatch is forbidden unless resourceVersion is provided");
  EXPECT_EQ(reason(list(pods(), "", {.version = "0", .match = "Exact"})), Reason::Invalid);
  EXPECT_EQ(reason(list(pods(), "", {.version = "1", .match = "Odd"})), Reason::Invalid);
  EXPECT_EQ(reason(list(pods(), "", {.initial = true})), Reason::Invalid);
  EXPECT_TRUE(list(pods(), "", {.version = "0", .match = "NotOlderThan"}));
}

TEST_F(ReadsTest, MissingObjectsAreNotFound) {
  const auto node = get(nodes(), "", "n1");
  EXPECT_EQ(reason(node), Reason::NotFound);
  EXPECT_EQ(message(node), R"(nodes "n1" not found)");
  EXPECT_EQ(message(get(api::kinds::lease(), "default", "l")),
            R"(leases.coordination.k8s.io "l" not found)");
}

TEST_F(ReadsTest, AnObjectIsReadAsItIsNow) {
  make_pods({"a"});
  const api::ObjectPtr stored = store_->get("pods/default/a");
  const auto pod = get(pods(), "default", "a");
  EXPECT_EQ(revision(pod), stored->revision());
  EXPECT_FALSE(std::get<api::ObjectAnswer>(pod->what).created);
  Request ahead = request(Verb::Get, pods(), "default", "a");
  EXPECT_EQ(reader_.size_of(ahead), stored->bytes().size());
  EXPECT_TRUE(reader_.has_reached(ahead));
  ahead.list.resource_version = std::to_string(store_->revision().value);
  EXPECT_TRUE(reader_.has_reached(ahead));
  EXPECT_TRUE(send(ahead));
  ahead.list.resource_version = std::to_string(store_->revision().value + 1);
  EXPECT_FALSE(reader_.has_reached(ahead));
  EXPECT_EQ(reason(send(ahead)), Reason::Timeout);
  ahead.list.resource_version = "x";
  EXPECT_TRUE(reader_.has_reached(ahead)) << "there is nothing to wait for";
  EXPECT_EQ(reader_.size_of(request(Verb::Get, pods(), "default", "b")), 0U);
  const auto write = reader_.read(request(Verb::Delete, pods(), "default", "a"));
  ASSERT_FALSE(write);
  EXPECT_EQ(write.error().message, "Internal error occurred: a write was sent to the reader");
}

TEST_F(ReadsTest, AListOfOneNameIsThatObject) {
  make_pods({"a", "b"});
  const auto one = list(pods(), "default", {.fields = "metadata.name=b"});
  EXPECT_EQ(names(one), "b");
  EXPECT_EQ(revision(one), store_->revision());
  EXPECT_EQ(names(list(pods(), "default", {.fields = "metadata.name=c"})), "");
  EXPECT_EQ(names(list(pods(), "default", {.fields = "metadata.name=b,status.phase=Failed"})), "");
  EXPECT_EQ(names(list(pods(), "", {.fields = "metadata.name=b"})), "b");
}

TEST_F(ReadsTest, APageThatHoldsAllIsTheLast) {
  make_pods({"a", "b"});
  const auto all = list(pods(), "default", page(2));
  EXPECT_EQ(names(all), "a b");
  EXPECT_EQ(items(all).continue_token, "");
  EXPECT_EQ(items(all).remaining, std::nullopt);
  EXPECT_EQ(names(list(pods(), "default", page(-1))), "a b") << "no limit at all";
  Asking rest = page(1, items(list(pods(), "default", page(1))).continue_token);
  rest.version = "0";
  EXPECT_EQ(names(list(pods(), "default", rest)), "b") << "any revision is the one of the pages";
}

TEST_F(ReadsTest, ALimitNotOlderThanARevisionIsNoExactOne) {
  make_pods({"a"});
  const std::string then = std::to_string(store_->revision().value);
  make_pods({"b"});
  Asking limited = page(5);
  limited.version = then;
  limited.match = "NotOlderThan";
  EXPECT_EQ(names(list(pods(), "", limited)), "a b");
  limited.match = "";
  limited.version = "0";
  EXPECT_EQ(names(list(pods(), "", limited)), "a b");
}

}  // namespace
}  // namespace muster::server
