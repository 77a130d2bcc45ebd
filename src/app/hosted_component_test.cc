#include "app/hosted_component.h"

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <thread>
#include <variant>

#include "api/kinds/kind.h"
#include "app/steady_clock.h"
#include "base/entropy.h"
#include "client/https/site_testing.h"
#include "server/http/testing.h"

namespace muster::app {
namespace {

// Makes a node once it knows which there are, and waits to hear of it both ways.
class Maker final : public client::Component {
 public:
  explicit Maker(client::Send send) : send_(std::move(send)) {}

  void apply(client::Input input, Time /*now*/) override {
    threads.insert(std::this_thread::get_id());
    if (const auto* event = std::get_if<client::Event>(&input))
      is_seen_ |= event->object->meta().name == "made";
    else if (const auto* called = std::get_if<client::Called>(&input))
      is_answered_ = called->ticket == 7 && called->outcome.has_value();
    else
      is_due_ = true;
    if (is_seen_ && is_answered_ && !std::exchange(is_done_, true)) done.set_value();
  }
  std::size_t run_once(Time now, std::size_t /*limit*/) override {
    threads.insert(std::this_thread::get_id());
    if (!std::exchange(is_due_, false)) return 0;
    api::Json node = api::parse_json(R"({"metadata":{"name":"made"}})").value().value;
    send_(client::create_request(api::kinds::node(), "", std::move(node)), 7);
    deadline_ = now + std::chrono::milliseconds{1};
    return 1;
  }
  std::optional<Time> next_deadline() const override { return deadline_; }
  std::vector<const api::Kind*> watched_kinds() const override { return {&api::kinds::node()}; }

  // Of the client's thread, until that has ended.
  std::set<std::thread::id> threads;
  std::promise<void> done;

 private:
  const client::Send send_;
  std::optional<Time> deadline_;
  bool is_due_ = false, is_seen_ = false, is_answered_ = false, is_done_ = false;
};

TEST(HostedComponentTest, LivesOnTheThreadOfItsClient) {
  const server::testing::Site site;
  const SteadyClock clock;
  SystemEntropy entropy;
  Metrics metrics;
  const auto client =
      client::RemoteClient::start(client::config_for(site), client::ServedKinds::ours(),
                                  {.rate = {}}, entropy, clock)
          .value();
  Maker* maker = nullptr;
  const HostedComponent hosted(*client, *client, {.clock = clock, .metrics = metrics},
                               [&](client::ComponentContext context) {
                                 auto made = std::make_unique<Maker>(std::move(context.send));
                                 maker = made.get();
                                 return made;
                               });
  const auto waited = maker->done.get_future().wait_for(std::chrono::seconds{30});
  client->stop();
  EXPECT_EQ(waited, std::future_status::ready);
  EXPECT_EQ(maker->threads.size(), 1U);
  EXPECT_FALSE(maker->threads.contains(std::this_thread::get_id()));
}

}  // namespace
}  // namespace muster::app
