#include "sim/disturbed_feeds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/json.h"

namespace muster::sim {
namespace {

using client::Event;

// Objects that come, change and go at random.
class Source final : public client::Client {
 public:
  explicit Source(std::uint64_t seed) : entropy_(seed) {}

  void send(api::Request /*request*/, client::Done /*done*/) override {}
  std::unique_ptr<client::Feed> watch(const api::Kind& /*kind*/,
                                      std::function<void()> /*wake*/) override {
    return std::make_unique<Queue>(events_);
  }

  void happen() {
    const std::string name = fmt::format("p{}", entropy_.below(5));
    const auto known = objects_.find(name);
    if (known != objects_.end() && entropy_.below(3) == 0) {
      events_.push_back({Event::Type::Deleted, known->second});
      objects_.erase(known);
      return;
    }
    const bool is_new = known == objects_.end();
    const std::string uid =
        is_new ? fmt::format("{}-{}", name, ++lives_) : known->second->meta().uid;
    const auto document = api::parse_json(fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"default","uid":"{}"}},"spec":{{}}}})", name,
        uid));
    const auto object = api::Object::make(api::kinds::pod(), document->value);
    object->assign_revision(api::Revision{++revision_});
    objects_[name] = object;
    events_.push_back({is_new ? Event::Type::Added : Event::Type::Modified, objects_[name]});
  }

  const std::map<std::string, api::ObjectPtr>& objects() const { return objects_; }

 private:
  struct Queue final : client::Feed {
    explicit Queue(std::deque<Event>& from) : events(from) {}
    Poll poll(std::vector<Event>& out, std::size_t max) override {
      for (std::size_t i = 0; i < max && !events.empty(); ++i) {
        out.push_back(std::move(events.front()));
        events.pop_front();
      }
      return {.synced = true, .more = !events.empty()};
    }
    std::deque<Event>& events;
  };

  SeededEntropy entropy_;
  std::deque<Event> events_;
  std::map<std::string, api::ObjectPtr> objects_;
  std::int64_t revision_ = 0;
  std::uint64_t lives_ = 0;
};

// What a component may rely on: an object is Added once per life, changes do not go back, Deleted
// is the end of a life. Returns what it knows in the end.
class Reader {
 public:
  void read(const Event& event) {
    const std::string& name = event.object->meta().name;
    const auto known = known_.find(name);
    switch (event.type) {
      case Event::Type::Added:
        EXPECT_EQ(known, known_.end());
        EXPECT_TRUE(lives_.insert(event.object->meta().uid).second);
        known_[name] = event.object;
        break;
      case Event::Type::Modified:
        ASSERT_NE(known, known_.end());
        EXPECT_EQ(known->second->meta().uid, event.object->meta().uid);
        EXPECT_LE(known->second->revision(), event.object->revision());
        repeated += known->second->revision() == event.object->revision() ? 1 : 0;
        known->second = event.object;
        break;
      case Event::Type::Deleted:
        ASSERT_NE(known, known_.end());
        EXPECT_EQ(known->second->meta().uid, event.object->meta().uid);
        known_.erase(known);
        break;
    }
    ++events;
  }
  const std::map<std::string, api::ObjectPtr>& known() const { return known_; }

  int events = 0;
  int repeated = 0;

 private:
  std::map<std::string, api::ObjectPtr> known_;
  std::set<std::string> lives_;
};

struct Seen {
  int happened = 0;
  int seen = 0;
  int repeated = 0;
  int silent = 0;  // polls without an event though there was one
};

Seen run(Disturbance disturbance, std::uint64_t seed) {
  Seen out;
  SeededEntropy entropy(seed);
  Source source(seed);
  DisturbedClient client(source, disturbance, entropy);
  const auto feed = client.watch(api::kinds::pod(), [] {});
  Reader reader;
  std::vector<Event> events;
  for (; out.happened < 500; ++out.happened) {
    source.happen();
    events.clear();
    feed->poll(events, 100);
    out.silent += events.empty() ? 1 : 0;
    for (const Event& event : events) reader.read(event);
  }
  disturbance = {};
  events.clear();
  EXPECT_FALSE(feed->poll(events, 1000).more);
  for (const Event& event : events) reader.read(event);
  EXPECT_EQ(reader.known(), source.objects());
  out.seen = reader.events;
  out.repeated = reader.repeated;
  return out;
}

TEST(DisturbedFeeds, KeepTheirPromiseWhateverTheyDo) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Seen all = run({.late = 3, .single = 2, .twice = 2, .gaps = 2}, seed);
    EXPECT_GT(all.silent, 100);
    EXPECT_GT(all.repeated, 0);
  }
}

TEST(DisturbedFeeds, EachDisturbanceDoesWhatItSays) {
  const Seen calm = run({}, 1);
  EXPECT_EQ(calm.seen, calm.happened);
  EXPECT_EQ(calm.silent, 0);
  const Seen late = run({.late = 3}, 1);
  EXPECT_EQ(late.seen, late.happened);
  EXPECT_GT(late.silent, 100);
  const Seen twice = run({.twice = 2}, 1);
  EXPECT_GT(twice.repeated, 100);
  EXPECT_EQ(twice.seen, twice.happened + twice.repeated);
  const Seen gaps = run({.late = 3, .gaps = 1}, 1);
  EXPECT_LT(gaps.seen, gaps.happened);
}

}  // namespace
}  // namespace muster::sim
