#include "client/remote/remote_client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>

#include "client/https/site_testing.h"
#include "server/http/testing.h"
#include "server/loopback/loopback.h"

// What components may rely on, whichever client they are given: the same tests over the in-process
// loopback and over HTTPS.
namespace muster::client {
namespace {

using api::kinds::node;
using server::testing::Site;

api::Json json(std::string_view text) { return api::parse_json(text).value().value; }

Outcome call(Client& client, api::Request request) {
  std::promise<Outcome> promise;
  client.send(std::move(request), [&](Outcome outcome) { promise.set_value(std::move(outcome)); });
  return promise.get_future().get();
}

Outcome create_node(Client& client, std::string_view name) {
  return call(client, create_request(node(), "",
                                     json(fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name))));
}

// A feed, and what it has reported.
struct Listener {
  Listener(Client& client, const api::Kind& kind)
      : feed(client.watch(kind, [this] {
          const std::lock_guard lock(mutex);
          woken = true;
          wakes.notify_all();
        })) {}

  // Polls until `done`, waiting to be woken in between. False if that takes unreasonably long.
  bool poll_until(const std::function<bool()>& done) {
    while (true) {
      Feed::Poll poll;
      do {
        std::vector<Event> events;
        poll = feed->poll(events, 100);
        for (const Event& event : events) {
          constexpr std::string_view kSigns = "+~-";
          told.push_back(kSigns[static_cast<std::size_t>(event.type)] + event.object->meta().name);
          last = event.object;
        }
      } while (poll.more);
      synced = poll.synced;
      if (done()) return true;
      std::unique_lock lock(mutex);
      if (!wakes.wait_for(lock, std::chrono::seconds{30}, [this] { return woken; })) return false;
      woken = false;
    }
  }
  bool hears(std::string_view what) {
    return poll_until([&] { return std::ranges::find(told, what) != told.end(); });
  }
  bool syncs() {
    return poll_until([&] { return synced; });
  }

  std::vector<std::string> told;
  api::ObjectPtr last;
  bool synced = false;
  std::mutex mutex;
  std::condition_variable wakes;
  bool woken = false;          // under mutex
  std::unique_ptr<Feed> feed;  // last: it wakes the rest
};

enum class Way { Loopback, Remote, RemoteByLibcurl };

class ClientBehaviour : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam() == Way::Loopback) {
      loopback_ = std::make_unique<server::LoopbackClient>(
          site_.core().server(),
          api::User{.name = "kubernetes-admin", .groups = {"system:masters"}});
      return;
    }
    RemoteOptions options{.rate = {}};
    options.https.own_http2 = GetParam() == Way::Remote;
    remote_ = RemoteClient::start(config_for(site_), ServedKinds::ours(), std::move(options),
                                  entropy_, clock_)
                  .value();
  }
  Client& client() { return loopback_ != nullptr ? static_cast<Client&>(*loopback_) : *remote_; }

  SystemClock clock_;
  SystemEntropy entropy_;
  Site site_;
  std::unique_ptr<server::LoopbackClient> loopback_;
  std::unique_ptr<RemoteClient> remote_;
};

INSTANTIATE_TEST_SUITE_P(Clients, ClientBehaviour,
                         testing::Values(Way::Loopback, Way::Remote, Way::RemoteByLibcurl),
                         [](const auto& way) {
                           switch (way.param) {
                             case Way::Loopback: return "Loopback";
                             case Way::Remote: return "Remote";
                             case Way::RemoteByLibcurl: return "RemoteByLibcurl";
                           }
                           return "";
                         });

TEST_P(ClientBehaviour, AFeedTellsWhatIsThereThenWhatHappens) {
  ASSERT_TRUE(create_node(client(), "a"));
  Listener nodes(client(), node());
  ASSERT_TRUE(nodes.syncs());
  EXPECT_EQ(nodes.told, std::vector<std::string>{"+a"});
  ASSERT_TRUE(create_node(client(), "b"));
  ASSERT_TRUE(nodes.hears("+b"));
  ASSERT_TRUE(call(client(), patch_request(node(), "", "a", "", api::PatchType::Merge,
                                           json(R"({"metadata":{"labels":{"rack":"r1"}}})"))));
  ASSERT_TRUE(nodes.hears("~a"));
  EXPECT_EQ(nodes.last->meta().labels, (api::StringPairs{{"rack", "r1"}}));
  EXPECT_GT(nodes.last->revision().value, 0);
  ASSERT_TRUE(call(client(), delete_request(*nodes.last, std::nullopt)));
  ASSERT_TRUE(nodes.hears("-a"));
}

TEST_P(ClientBehaviour, AnEmptyKindIsSynced) {
  Listener nodes(client(), node());
  EXPECT_TRUE(nodes.syncs());
}

TEST_P(ClientBehaviour, EveryFeedOfAKindHearsEverything) {
  ASSERT_TRUE(create_node(client(), "a"));
  Listener first(client(), node());
  ASSERT_TRUE(first.syncs());
  Listener second(client(), node());
  ASSERT_TRUE(second.syncs());
  EXPECT_EQ(second.told, std::vector<std::string>{"+a"});
  ASSERT_TRUE(create_node(client(), "b"));
  EXPECT_TRUE(first.hears("+b"));
  EXPECT_TRUE(second.hears("+b"));
  first.feed.reset();
  ASSERT_TRUE(create_node(client(), "c"));
  EXPECT_TRUE(second.hears("+c"));
}

TEST_P(ClientBehaviour, RefusalsComeInTheServersWords) {
  ASSERT_TRUE(create_node(client(), "a"));
  const Outcome again = create_node(client(), "a");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::AlreadyExists);
  EXPECT_EQ(again.error().message, "nodes \"a\" already exists");
}

TEST_P(ClientBehaviour, ManyCallsAtOnceAllEnd) {
  constexpr int kCalls = 1000;
  std::atomic<int> succeeded = 0;
  std::atomic<int> left = kCalls;
  std::promise<void> all;
  for (int i = 0; i < kCalls; ++i)
    client().send(
        create_request(node(), "", json(fmt::format(R"({{"metadata":{{"name":"n{}"}}}})", i))),
        [&](const Outcome& outcome) {
          if (outcome) ++succeeded;
          if (--left == 0) all.set_value();
        });
  all.get_future().wait();
  EXPECT_EQ(succeeded, kCalls);
  Listener nodes(client(), node());
  ASSERT_TRUE(nodes.syncs());
  EXPECT_EQ(std::set(nodes.told.begin(), nodes.told.end()).size(), kCalls);
}

TEST_P(ClientBehaviour, ABindingNamesItsPodByUid) {
  ASSERT_TRUE(create_node(client(), "a"));
  const api::Kind& pods = api::kinds::pod();
  const Outcome created =
      call(client(), create_request(pods, "default",
                                    json(R"({"metadata":{"name":"p"},"spec":{"containers":)"
                                         R"([{"name":"main","image":"app"}]}})")));
  ASSERT_TRUE(created) << created.error().message;
  const api::ObjectPtr pod = std::get<api::ObjectAnswer>(created->what).object;
  ASSERT_TRUE(call(client(), bind_request(*pod, "a")));
  const Outcome again = call(client(), bind_request(*pod, "a"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::Conflict);
  Listener heard(client(), pods);
  ASSERT_TRUE(heard.syncs());
  EXPECT_EQ(api::find_string(*heard.last->document().as_object().if_contains("spec"), "nodeName"),
            "a");
}

// --- of the remote client alone ---

class RemoteClientTest : public testing::Test {
 protected:
  std::unique_ptr<RemoteClient> start(const Site& site, RemoteOptions options = {},
                                      ServedKinds served = ServedKinds::ours()) {
    return RemoteClient::start(config_for(site), std::move(served), std::move(options), entropy_,
                               clock_)
        .value();
  }
  SystemClock clock_;
  SystemEntropy entropy_;
};

TEST_F(RemoteClientTest, KindsThatAreNotServedAreEmptyAndBlockNobody) {
  const Site site;
  ServedKinds served = ServedKinds::ours();
  served.remove(api::kinds::group_binding());
  served.remove(api::kinds::composite_pod_group());
  const auto client = start(site, {}, std::move(served));
  EXPECT_TRUE(client->absent().empty());
  Listener groups(*client, api::kinds::composite_pod_group());
  Listener same(*client, api::kinds::composite_pod_group());
  Listener pods(*client, api::kinds::pod());
  EXPECT_TRUE(groups.syncs());
  EXPECT_EQ(client->absent(), std::vector{&api::kinds::composite_pod_group()});
  const Outcome bound =
      call(*client, create_request(api::kinds::group_binding(), "default", api::JsonObject{}));
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().reason, Reason::NotFound);
}

// What our controllers make names its owner in our version; the server must know the version.
TEST_F(RemoteClientTest, OwnersAreNamedInTheVersionThatIsServed) {
  const Site site;
  ServedKinds served = ServedKinds::ours();
  served.set(api::kinds::workload(), "v1alpha3");
  const auto client = start(site, {}, std::move(served));
  const auto owned_by = [](std::string_view version) {
    return json(fmt::format(R"({{"metadata":{{"name":"a","ownerReferences":[{{
        "apiVersion":"scheduling.k8s.io/{}","kind":"Workload","name":"w","uid":"u"}}]}}}})",
                            version));
  };
  const auto version_at = [&] {
    HttpsClient other = HttpsClient::open(config_for(site), {}).value();
    const api::Json found = json(other.get("/api/v1/nodes/a").value().body);
    return std::string(api::find_string(
        api::find_path(found, "metadata.ownerReferences")->as_array().at(0), "apiVersion"));
  };
  ASSERT_TRUE(call(*client, create_request(node(), "", owned_by("v1beta1"))));
  EXPECT_EQ(version_at(), "scheduling.k8s.io/v1alpha3");
  Listener nodes(*client, node());
  ASSERT_TRUE(nodes.hears("+a"));
  EXPECT_EQ(nodes.last->meta().owners.at(0).api_version, "scheduling.k8s.io/v1beta1");
  for (const api::PatchType type : {api::PatchType::Merge, api::PatchType::Apply}) {
    api::Request patch = patch_request(node(), "", "a", "", type, owned_by("v1beta1"));
    if (type == api::PatchType::Apply) {
      patch.field_manager = "test";
      patch.body.as_object()["apiVersion"] = "v1";
      patch.body.as_object()["kind"] = "Node";
    }
    const Outcome patched = call(*client, std::move(patch));
    ASSERT_TRUE(patched) << patched.error().message;
    EXPECT_EQ(version_at(), "scheduling.k8s.io/v1alpha3");
  }
}

TEST_F(RemoteClientTest, FindsOutWhatTheServerServes) {
  const Site site;
  HttpsClient https = HttpsClient::open(config_for(site), {}).value();
  const Result<ServedKinds> served = ServedKinds::discover(https);
  ASSERT_TRUE(served) << served.error().message;
  for (const api::Kind* kind : api::all_kinds()) {
    ASSERT_NE(served->version_of(*kind), nullptr) << kind->plural;
    EXPECT_EQ(*served->version_of(*kind), kind->versions.front());
  }
}

TEST_F(RemoteClientTest, NothingIsWrittenOnceTheLeaseMayBeLost) {
  const Site site;
  std::atomic<bool> leads = true;
  const auto client = start(site, {.may_write = [&] { return leads.load(); }});
  ASSERT_TRUE(create_node(*client, "a"));
  leads = false;
  const Outcome created = create_node(*client, "b");
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().reason, Reason::ServiceUnavailable);
  Listener nodes(*client, node());  // reading goes on
  ASSERT_TRUE(nodes.syncs());
  EXPECT_EQ(nodes.told, std::vector<std::string>{"+a"});
}

// A port where connections are accepted by the system and nobody ever says a word.
class MutePort {
 public:
  MutePort() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, raw, size), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
    EXPECT_EQ(::getsockname(socket_, raw, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~MutePort() { ::close(socket_); }
  MutePort(const MutePort&) = delete;
  MutePort& operator=(const MutePort&) = delete;
  int port() const { return port_; }

 private:
  int socket_;
  int port_ = 0;
};

// It was sent while we led, and would be written as soon as the connection stands.
TEST_F(RemoteClientTest, WhatWaitsForAConnectionFailsWithTheLease) {
  const MutePort port;
  Kubeconfig config;
  config.context = "test";
  config.server = fmt::format("https://127.0.0.1:{}", port.port());
  config.insecure_skip_tls_verify = true;
  std::atomic<bool> leads = true;
  const auto client =
      RemoteClient::start(config, ServedKinds::ours(), {.may_write = [&] { return leads.load(); }},
                          entropy_, clock_)
          .value();
  std::promise<Outcome> promise;
  client->send(create_request(node(), "", json(R"({"metadata":{"name":"a"}})")),
               [&](Outcome outcome) { promise.set_value(std::move(outcome)); });
  std::future<Outcome> created = promise.get_future();
  EXPECT_EQ(created.wait_for(std::chrono::milliseconds{100}), std::future_status::timeout);
  leads = false;
  client->nudge();
  const Outcome outcome = created.get();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "the lease may be lost");
}

TEST_F(RemoteClientTest, CallsToAServerThatIsAwayFailAndSaySo) {
  auto site = std::make_unique<Site>();
  const auto client = start(*site);
  ASSERT_TRUE(create_node(*client, "a"));
  Listener nodes(*client, node());
  ASSERT_TRUE(nodes.syncs());
  site->stop();
  const Outcome created = create_node(*client, "b");
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().reason, Reason::ServiceUnavailable);
}

TEST_F(RemoteClientTest, DrainingLetsCallsEndAndSendsNoMore) {
  const Site site;
  const auto client = start(site, {.rate = {.per_second = 0.001, .burst = 1}});
  std::promise<Outcome> sent;
  std::promise<Outcome> waits;
  const auto named = [](std::string_view name) {
    return create_request(node(), "", json(fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name)));
  };
  client->send(named("a"), [&](Outcome outcome) { sent.set_value(std::move(outcome)); });
  client->send(named("b"), [&](Outcome outcome) { waits.set_value(std::move(outcome)); });
  EXPECT_TRUE(client->drain(std::chrono::seconds{30}));
  EXPECT_TRUE(sent.get_future().get());
  EXPECT_FALSE(waits.get_future().get());
  EXPECT_FALSE(create_node(*client, "c"));
}

// What is under way on a connection stays there; what is new goes by the new certificate.
TEST_F(RemoteClientTest, ACertificateThatIsReplacedIsUsedBesideTheOpenConnection) {
  const Site site;
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / fmt::format("muster_remote_{}", getpid());
  std::filesystem::create_directories(folder);
  const auto put = [&](const server::Credential& credential) {
    std::ofstream(folder / "cert") << credential.certificate;
    std::ofstream(folder / "key") << credential.private_key;
  };
  put(site.admin);
  Kubeconfig config = config_for(site);
  config.client_certificate_file = folder / "cert";
  config.client_key_file = folder / "key";
  RemoteOptions options{.rate = {}};
  options.https.reread_after = std::chrono::milliseconds{0};
  const auto client = RemoteClient::start(std::move(config), ServedKinds::ours(),
                                          std::move(options), entropy_, clock_)
                          .value();
  Listener nodes(*client, node());
  ASSERT_TRUE(nodes.syncs());
  ASSERT_TRUE(create_node(*client, "a"));
  put(server::make_client_certificate(site.authority, {.user = "nobody", .groups = {}},
                                      site.core().clock().now())
          .value());
  const Outcome refused = create_node(*client, "b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::Forbidden);
  HttpsClient another = HttpsClient::open(config_for(site), {}).value();
  ASSERT_TRUE(another.call(create_request(node(), "", json(R"({"metadata":{"name":"c"}})"))));
  EXPECT_TRUE(nodes.hears("+c")) << "the watch goes on where it was";
  put(site.admin);
  EXPECT_TRUE(create_node(*client, "d"));
  EXPECT_TRUE(nodes.hears("+d"));
  std::filesystem::remove_all(folder);
}

TEST_F(RemoteClientTest, WhoIsNotKnownIsToldSo) {
  const Site site;
  Kubeconfig config = config_for(site);
  config.client_certificate.clear();
  config.client_key.clear();
  config.token = "nobody's";
  HttpsClient https = HttpsClient::open(std::move(config), {}).value();
  const Result<ServedKinds> served = ServedKinds::discover(https);
  ASSERT_FALSE(served) << "an empty server";
  EXPECT_EQ(served.error().reason, Reason::Unauthorized);
}

// Who lives on the client's thread sees what came, and is heard, in one turn of it.
TEST_F(RemoteClientTest, AHostedRoundComesAfterWhatItIsAboutOnTheSameThread) {
  const Site site;
  const auto client =
      RemoteClient::start(config_for(site), ServedKinds::ours(), {.rate = {}}, entropy_, clock_)
          .value();
  const auto feed = client->watch(node(), [&] { client->nudge(); });
  // All of the client's thread.
  std::set<std::thread::id> threads;
  std::vector<std::string> seen;
  bool has_asked = false;
  bool is_inside = false;
  bool was_handed_back_at_once = false;
  client->host([&]() -> std::optional<Time> {
    threads.insert(std::this_thread::get_id());
    std::vector<Event> events;
    const Feed::Poll poll = feed->poll(events, 100);
    for (const Event& event : events) seen.push_back(event.object->meta().name);
    if (!poll.synced || std::exchange(has_asked, true)) return std::nullopt;
    is_inside = true;
    client->send(create_request(node(), "", json(R"({"metadata":{"name":"made"}})")),
                 [&](const Outcome& outcome) {
                   was_handed_back_at_once = is_inside;
                   threads.insert(std::this_thread::get_id());
                   EXPECT_TRUE(outcome);
                 });
    is_inside = false;
    return std::nullopt;
  });
  HttpsClient another = HttpsClient::open(config_for(site), {}).value();
  std::atomic<bool> is_seen = false;
  ASSERT_TRUE(another.call(create_request(node(), "", json(R"({"metadata":{"name":"other"}})"))));
  for (int i = 0; i < 3000 && !is_seen; ++i) {
    std::promise<bool> looked;
    api::Request request;
    request.kind = &node();
    request.name = "made";
    client->send(std::move(request),
                 [&](const Outcome& outcome) { looked.set_value(outcome.has_value()); });
    is_seen = looked.get_future().get();
    if (!is_seen) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  EXPECT_TRUE(is_seen) << "what was asked for in a round is sent";
  client->stop();
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
  EXPECT_FALSE(was_handed_back_at_once);
  EXPECT_NE(std::ranges::find(seen, "other"), seen.end());
}

TEST_F(RemoteClientTest, ARoundComesWhenItsTimeHasComeAndWhenNudged) {
  const Site site;
  const auto client =
      RemoteClient::start(config_for(site), ServedKinds::ours(), {.rate = {}}, entropy_, clock_)
          .value();
  std::atomic<int> rounds = 0;
  std::promise<void> third;
  client->host([&]() -> std::optional<Time> {
    if (++rounds == 3) third.set_value();
    if (rounds >= 3) return std::nullopt;
    return clock_.now() + std::chrono::milliseconds{1};
  });
  third.get_future().get();  // nobody else has anything to do
  const int before = rounds;
  client->nudge();
  for (int i = 0; i < 3000 && rounds == before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  EXPECT_GT(rounds, before);
  client->stop();
}

TEST_F(RemoteClientTest, ATroubledFeedSaysWhy) {
  const Site site;
  Kubeconfig config = config_for(site);
  config.client_certificate.clear();
  config.client_key.clear();
  const auto client =
      RemoteClient::start(config, ServedKinds::ours(), {}, entropy_, clock_).value();
  const auto feed = client->watch(node(), [] {});
  std::vector<std::string> troubles;
  for (int i = 0; i < 3000; ++i) {
    troubles = client->troubles();
    if (!troubles.empty() && troubles.front().find("forbidden") != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  FAIL() << (troubles.empty() ? "no trouble" : troubles.front());
}

}  // namespace
}  // namespace muster::client
