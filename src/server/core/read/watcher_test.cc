#include "server/core/read/watcher.h"

#include "server/core/testing/core_fixture.h"

namespace muster::server {
namespace {

class WatcherTest : public CoreTest {
 protected:
  explicit WatcherTest(watch::Limits limits = {}) : CoreTest(store::make_memory_engine(), limits) {}
  void label(std::string_view pod, std::string_view value) {
    ASSERT_TRUE(
        merge(pods(), "default", pod,
              std::string(R"({"metadata":{"labels":{"app":")").append(value).append("\"}}}")));
  }
  std::string refused(const Asking& asking) {
    Request out = request(Verb::Watch, pods(), "");
    out.list = asking.options();
    const auto opened = Watcher::open(out, *store_, window_);
    return opened ? "no error" : opened.error().message;
  }
};

TEST_F(WatcherTest, StartsWithWhatIsThereThenTellsChanges) {
  ASSERT_TRUE(create_pod("a"));
  auto watcher = watch(pods());
  ASSERT_TRUE(create_pod("b"));
  EXPECT_EQ(seen_by(*watcher), "+a +b");
  label("a", "web");
  ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"n1"}})"));
  ASSERT_TRUE(remove(pods(), "default", "b"));
  EXPECT_EQ(seen_by(*watcher), "~a -b");
  EXPECT_EQ(seen_by(*watcher), "");
  EXPECT_EQ(watcher->position(), store_->revision());
}

TEST_F(WatcherTest, FromARevisionOnlyLaterChangesAreTold) {
  ASSERT_TRUE(create_pod("a"));
  auto watcher = watch(pods(), {.version = std::to_string(store_->revision().value)});
  ASSERT_TRUE(create_pod("b"));
  EXPECT_EQ(seen_by(*watcher), "+b");
}

TEST_F(WatcherTest, AFutureRevisionIsWaitedFor) {
  const std::int64_t now = store_->revision().value;
  auto watcher = watch(pods(), {.version = std::to_string(now + 1)});
  ASSERT_TRUE(create_pod("a"));
  EXPECT_EQ(seen_by(*watcher), "");
  ASSERT_TRUE(create_pod("b"));
  EXPECT_EQ(seen_by(*watcher), "+b");
}

TEST_F(WatcherTest, SelectorsTurnChangesIntoArrivalsAndDepartures) {
  ASSERT_TRUE(create_pod("a"));
  auto watcher = watch(pods(), {.labels = "app=web"});
  EXPECT_EQ(seen_by(*watcher), "");
  label("a", "web");
  EXPECT_EQ(seen_by(*watcher), "+a");
  label("a", "db");
  const auto next = watcher->next(10);
  ASSERT_EQ(next.messages.size(), 1U);
  const auto& item = std::get<Watcher::Item>(next.messages[0]);
  EXPECT_EQ(item.type, store::Change::Type::Deleted);
  EXPECT_EQ(*api::lookup(item.object->meta().labels, "app"), "web")
      << "the last state that matched";
  EXPECT_EQ(item.revision, store_->revision());
  EXPECT_EQ(item.entry, nullptr);
  ASSERT_TRUE(remove(pods(), "default", "a"));
  EXPECT_EQ(seen_by(*watcher), "");
}

TEST_F(WatcherTest, FieldSelectorsFollowBindings) {
  ASSERT_TRUE(create_pod("a"));
  auto watcher = watch(pods(), {.fields = "spec.nodeName=n1"});
  ASSERT_TRUE(bind("a", "n1"));
  EXPECT_EQ(seen_by(*watcher), "+a");
}

TEST_F(WatcherTest, UnchangedTypesShareTheirBytes) {
  auto watcher = watch(pods());
  ASSERT_TRUE(create_pod("a"));
  const auto next = watcher->next(10);
  ASSERT_EQ(next.messages.size(), 1U);
  EXPECT_NE(std::get<Watcher::Item>(next.messages[0]).entry, nullptr);
}

TEST_F(WatcherTest, TheInitialBlockEndsWithABookmark) {
  ASSERT_TRUE(create_pod("a"));
  auto watcher = watch(pods(), {.match = "NotOlderThan", .bookmarks = true, .initial = true});
  ASSERT_TRUE(create_pod("b"));
  EXPECT_EQ(watcher->position().value, 0) << "no periodic bookmark may overtake the initial block";
  EXPECT_EQ(seen_by(*watcher), "+a | +b");
  auto quiet = watch(pods(), {.match = "NotOlderThan", .initial = true});
  EXPECT_EQ(seen_by(*quiet), "+a +b");
  auto plain = watch(pods(), {.bookmarks = true});
  EXPECT_EQ(seen_by(*plain), "+a +b |");
}

TEST_F(WatcherTest, WithoutInitialEventsOnlyNewsIsTold) {
  ASSERT_TRUE(create_pod("a"));
  auto watcher = watch(pods(), {.match = "NotOlderThan", .initial = false});
  ASSERT_TRUE(create_pod("b"));
  EXPECT_EQ(seen_by(*watcher), "+b");
}

TEST_F(WatcherTest, AListWaitsUntilTheStoreIsThatNew) {
  ASSERT_TRUE(create_pod("a"));
  const std::int64_t now = store_->revision().value;
  auto watcher = watch(pods(), {.version = std::to_string(now + 2),
                                .match = "NotOlderThan",
                                .bookmarks = true,
                                .initial = true});
  ASSERT_TRUE(create_pod("b"));
  EXPECT_EQ(seen_by(*watcher), "");
  EXPECT_EQ(watcher->position().value, 0) << "no bookmark may skip the list";
  ASSERT_TRUE(watcher->unreached());
  EXPECT_EQ(watcher->unreached()->message,
            "Timeout: Too large resource version: " + std::to_string(now + 2) +
                ", current: " + std::to_string(now + 1));
  ASSERT_TRUE(create(nodes(), "", R"({"metadata":{"name":"n1"}})"));
  EXPECT_FALSE(watcher->unreached()) << "a change of another kind counts too";
  EXPECT_EQ(seen_by(*watcher), "+a +b |");
}

TEST_F(WatcherTest, RulesAreCheckedBeforeTheStreamStarts) {
  EXPECT_EQ(refused({.initial = true}),
            R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: )"
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  EXPECT_EQ(refused({.match = "NotOlderThan"}),
            R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: )"
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  EXPECT_EQ(refused({.fields = "spec.foo=1"}), "field label not supported: spec.foo");
  EXPECT_TRUE(refused({.version = "x"}).starts_with("invalid resource version: "));
}

TEST_F(WatcherTest, ALittleAtATime) {
  for (const std::string_view name : {"a", "b", "c"}) ASSERT_TRUE(create_pod(name));
  auto watcher = watch(pods(), {.bookmarks = true});
  ASSERT_TRUE(create_pod("d"));
  ASSERT_TRUE(create_pod("e"));
  EXPECT_EQ(seen_by(*watcher, 2), "+a +b");
  EXPECT_EQ(seen_by(*watcher, 2), "+c |");
  const auto next = watcher->next(1);
  EXPECT_EQ(next.messages.size(), 1U);
  EXPECT_TRUE(next.more);
  EXPECT_EQ(seen_by(*watcher, 1), "+e");
  EXPECT_EQ(seen_by(*watcher, 1), "");
}

// Of large objects few are handed out at once: what a client does not read is kept for it.
TEST_F(WatcherTest, AFewBytesAtATime) {
  for (const std::string_view name : {"a", "b"}) ASSERT_TRUE(create_pod(name));
  auto watcher = watch(pods(), {.bookmarks = true});
  for (const std::string_view name : {"c", "d"}) ASSERT_TRUE(create_pod(name));
  std::string seen;
  for (bool more = true; more;) {
    const Watcher::Next next = watcher->next(10, 1);
    for (const Watcher::Message& message : next.messages)
      seen += std::holds_alternative<Watcher::Item>(message)
                  ? std::get<Watcher::Item>(message).object->meta().name
                  : "|";
    seen += ' ';
    more = next.more;
  }
  EXPECT_EQ(seen, "a b| c d ");
}

// A look for fields reads the whole object, as it was and as it is, once for all of them.
TEST_F(WatcherTest, ChangesAreSearchedAFewBytesAtATime) {
  const api::Kind& events = api::kinds::event();
  constexpr std::size_t kLarge = 90'000;  // three of them are more than is searched at once
  constexpr std::size_t kChanges = 6;
  const auto calls_for = [&](const std::string& fields) {
    auto watcher = watch(events, {.fields = fields, .version = "1"});
    std::size_t calls = 0;
    for (bool more = true; more; ++calls) more = watcher->next(100).more;
    EXPECT_EQ(watcher->position(), store_->revision()) << "nothing is left out";
    return calls;
  };
  for (std::size_t i = 0; i < kChanges; ++i)
    ASSERT_TRUE(create(events, "default",
                       R"({"metadata":{"name":"e)" + std::to_string(i) +
                           R"("},"involvedObject":{"kind":"Pod","namespace":"default",)"
                           R"("name":"web"},"message":")" +
                           std::string(kLarge, 'x') + R"("})"));
  EXPECT_EQ(calls_for("reason!=a"), kChanges / 3);
  EXPECT_EQ(calls_for("reason!=a,type!=b,involvedObject.name!=web"), kChanges / 3);
  EXPECT_EQ(calls_for("metadata.name!=e0"), 1U) << "known without a look at the bytes";
}

// A watch that selects few of many must not keep room for all, nor keep any once they are sent.
TEST_F(WatcherTest, InitialObjectsCostWhatIsStillToBeSent) {
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(create_pod("p" + std::to_string(i)));
  label("p7", "web");
  EXPECT_EQ(watch(pods())->held_bytes(), 50 * sizeof(api::ObjectPtr));
  auto watcher = watch(pods(), {.labels = "app=web"});
  EXPECT_EQ(watcher->held_bytes(), sizeof(api::ObjectPtr));
  EXPECT_EQ(watcher->terms(), 1U);
  EXPECT_EQ(seen_by(*watcher), "+p7");
  EXPECT_EQ(watcher->held_bytes(), 0U);
}

class SmallWindowTest : public WatcherTest {
 protected:
  SmallWindowTest() : WatcherTest({.changes_max = 2, .bytes_max = 1U << 20U}) {}
};

// A client that never reads must not keep what everybody else has forgotten.
TEST_F(SmallWindowTest, InitialObjectsAreLetGoWithTheChangesAfterThem) {
  for (const std::string_view name : {"a", "b"}) ASSERT_TRUE(create_pod(name));
  const std::weak_ptr<const api::Object> old = store_->get("pods/default/b");
  auto watcher = watch(pods(), {.match = "NotOlderThan", .bookmarks = true, .initial = true});
  EXPECT_EQ(seen_by(*watcher, 1), "+a");
  label("b", "1");
  label("b", "2");
  watcher->expire();
  EXPECT_FALSE(old.expired()) << "the window leads on from it";
  label("b", "3");
  label("b", "4");
  watcher->expire();
  ASSERT_TRUE(store_->compact(store_->revision()));  // the store has a history of its own
  EXPECT_TRUE(old.expired());
  EXPECT_EQ(watcher->held_bytes(), 0U);
  EXPECT_TRUE(seen_by(*watcher).starts_with("!too old resource version: "))
      << "and no bookmark says that all were sent";
}

TEST_F(SmallWindowTest, WhoFallsBehindIsToldSo) {
  auto watcher = watch(pods());
  for (const std::string_view name : {"a", "b", "c", "d"}) ASSERT_TRUE(create_pod(name));
  EXPECT_TRUE(seen_by(*watcher).starts_with("!too old resource version: "));
  EXPECT_EQ(seen_by(*watcher), "");
}

}  // namespace
}  // namespace muster::server
