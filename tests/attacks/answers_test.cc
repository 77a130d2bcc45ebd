#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "attacks_testing.h"
#include "server/http/connection.h"

// Requests that cost little to send, and answers that cost much to make or to keep.
namespace muster::server {
namespace {

const std::string kReviews = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

void make_maps(const Site& site, int count, std::size_t bytes) {
  Wire wire(site, {.client = &site.admin});
  for (int i = 0; i < count; ++i)
    ASSERT_EQ(wire.ask({.method = "POST",
                        .target = kMaps,
                        .body = map_json("m" + std::to_string(i), bytes)})
                  .code,
              201);
}

// Counts the steps of one name.
struct Counter {
  explicit Counter(std::string_view counted) : name(counted) {}
  void operator()(std::string_view step) {
    if (step == name) ++count;
  }
  const std::string name;
  std::atomic<int> count{0};
};

// An answer to a deletion was made however full the server was, and kept until somebody read it.
TEST(AnswersTest, ListsOfWhatWasDeletedAskForRoom) {
  constexpr int kAsked = 40;
  constexpr std::int64_t kList = 10L * 90'000;
  Counter responds("respond");
  ListenOptions options;
  options.limits.clients.bytes = {.total = 6U << 20U, .each = 6U << 20U, .reserved = 0};
  options.limits.collection_bytes = 0;
  options.before_step = std::ref(responds);
  const Site site(options);
  make_maps(site, 10, 90'000);
  responds.count = 0;
  Http2Wire wire(site, {.receive_buffer = 4096});
  std::vector<std::int32_t> ids;
  for (int i = 0; i < kAsked; ++i) ids.push_back(wire.ask("DELETE", kMaps + "?dryRun=All"));
  wire.send();
  await([&] { return responds.count == kAsked; });
  EXPECT_LE(bytes_held(site), (6 << 20) + 4 * kList);
  int lists = 0;
  int statuses = 0;
  for (const std::int32_t id : ids) {
    const HttpReply reply = wire.wait_for(id);
    EXPECT_EQ(reply.code, 200) << "it has happened";
    if (reply.body.find(R"("kind":"ConfigMapList")") != std::string::npos) ++lists;
    if (reply.body == R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})"
                      "\n")
      ++statuses;
  }
  EXPECT_GE(lists, 1);
  EXPECT_GE(statuses, kAsked / 2);
  EXPECT_EQ(lists + statuses, kAsked);
}

// While one is decided it holds names and what it is going to show, whatever its body is.
TEST(AnswersTest, ADeletionOfManyCountsWhileItIsDecided) {
  const auto store = store::Store::open(store::make_memory_engine()).value();
  watch::Window window(watch::Limits{});
  window.start(store->compacted());
  const Access access(*store, std::nullopt);
  const api::Gates gates;
  const Reader reader(*store, window, gates);
  Reply reply;
  const Server server(reader, [&](api::Request&, Reply& to) {
    reply = std::move(to);
    return true;
  });
  const HttpLimits limits;
  const ClientLedger ledger(limits.clients);
  const SystemClock clock;
  const RequestPipeline pipeline(
      {.server = server, .access = access, .ledger = ledger, .clock = clock}, limits);
  HttpRequest request;
  request.method = Method::Delete;
  request.method_name = "DELETE";
  request.target = kMaps;
  const PeerCertificate admin{.state = PeerCertificate::State::Valid,
                              .common_name = "admin",
                              .organizations = {"system:masters"}};
  Exchange exchange;
  ASSERT_FALSE(pipeline.admit(request, admin, SteadyClock::now(), exchange).has_value());
  const ReturnAddress from{.inbox = std::make_shared<Inbox>([] {}), .recipient = {}};
  const auto outcome = pipeline.run(request, exchange, from);
  EXPECT_TRUE(std::holds_alternative<RequestPipeline::Waiting>(outcome));
  const auto held = static_cast<std::size_t>(ledger.total().used(Resource::Bytes));
  EXPECT_EQ(held, limits.collection_bytes);
  ASSERT_TRUE(reply);
  reply(api::Answer{.what = api::StatusAnswer{}, .warnings = {}});
  EXPECT_EQ(ledger.total().used(Resource::Bytes), 0);
}

// What a list is going to be counts before it is written.
TEST(AnswersTest, AListCountsForItsClientWhileItIsWritten) {
  std::atomic<const Site*> site_seen{nullptr};
  std::atomic<std::int64_t> counted{0};
  ListenOptions options;
  options.before_step = [&](std::string_view step) {
    const Site* const site = site_seen.load();
    if (step != "list" || site == nullptr) return;
    const api::User user{.name = "kubernetes-admin", .groups = {"system:masters"}};
    counted = site->ledger().user(user)->used(Resource::Bytes);
  };
  const Site site(options);
  make_maps(site, 5, 200'000);
  site_seen = &site;
  Wire wire(site, {.client = &site.admin});
  EXPECT_EQ(wire.get(kMaps).code, 200);
  EXPECT_GE(counted.load(), 5 * 200'000);
  await([&] { return bytes_held(site) < 100'000; });
}

// While one client has very many objects looked at, others have their turn after each step.
TEST(AnswersTest, AListThatLooksAtMuchIsReadInTurns) {
  constexpr int kMany = 600;
  Counter looks("look_on");
  ListenOptions options;
  options.before_step = std::ref(looks);
  const Site site(options);
  make_maps(site, kMany, 10);
  Wire wire(site, {.client = &site.admin});
  looks.count = 0;
  EXPECT_EQ(wire.get(kMaps).code, 200);
  EXPECT_EQ(looks.count.load(), 1);
  std::string selector = "sought";
  for (int i = 1; i < 250; ++i) selector += ",!k" + std::to_string(i);
  looks.count = 0;
  const HttpReply none = wire.get(kMaps + "?labelSelector=" + selector);
  EXPECT_EQ(none.code, 200);
  EXPECT_NE(none.body.find(R"("items":[])"), std::string::npos);
  EXPECT_GE(looks.count.load(), 3);
  await([&] { return bytes_held(site) == 0; });
}

// A list that is larger than all clients may hold together, and that nobody reads, kept everybody
// out for a second per 64 KiB of it.
TEST(AnswersTest, AHugeListThatNobodyReadsKeepsNobodyOut) {
  ListenOptions options;
  options.limits.clients.bytes = {.total = 4U << 20U, .each = 1U << 20U, .reserved = 1U << 19U};
  const Site site(options);
  make_maps(site, 60, 200'000);
  const auto viewer = [&](const std::string& name) {
    Wire admin(site, {.client = &site.admin});
    EXPECT_EQ(
        admin
            .ask({.method = "POST",
                  .target = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                  .body = R"({"metadata":{"name":")" + name +
                          R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":)"
                          R"("ClusterRole","name":"view"},"subjects":[{"kind":"User","name":")" +
                          name + R"("}]})"})
            .code,
        201);
    return make_client_certificate(site.authority, {.user = name, .groups = {}},
                                   SystemClock().now())
        .value();
  };
  const Credential jane = viewer("jane");
  const Credential joe = viewer("joe");
  for (const std::string& form :
       {std::string("Accept: application/json"),
        std::string("Accept: application/json;as=Table;v=v1;g=meta.k8s.io")}) {
    const std::string target =
        form.find("Table") == std::string::npos ? kMaps : kMaps + "?includeObject=Object";
    Wire unread(site, {.client = &jane, .receive_buffer = 4096});
    unread.send({.target = target, .headers = {form}});
    EXPECT_EQ(unread.read_head().code, 200);
    EXPECT_GT(site.ledger().user({.name = "jane", .groups = {}})->used(Resource::Bytes), 4 << 20);
    Wire other(site, {.client = &joe});
    EXPECT_EQ(other.get(kMaps + "/m0").code, 200);
    EXPECT_EQ(other.ask({.target = target, .headers = {form}}).code, 429) << "one at a time";
    Wire admin(site, {.client = &site.admin});
    EXPECT_EQ(admin.get(kMaps + "/m0").code, 200);
    unread.close();
    await([&] { return bytes_held(site) < 100'000; });
    EXPECT_EQ(other.ask({.target = target, .headers = {form}}).code, 200);
  }
}

// Documents about the API were copied for everybody who asked, and kept until they were read.
TEST(AnswersTest, DocumentsAskForRoom) {
  constexpr int kAsked = 60;
  Counter runs("run");
  ListenOptions options;
  options.limits.clients.bytes = {.total = 4U << 20U, .each = 4U << 20U, .reserved = 0};
  options.before_step = std::ref(runs);
  const Site site(options);
  Wire other(site, {.client = &site.admin});
  const std::string document = "/openapi/v2?pretty=true";
  const auto size = static_cast<std::int64_t>(other.get(document).body.size());
  ASSERT_GT(size, 200'000);
  Http2Wire wire(site, {.receive_buffer = 4096});
  std::vector<std::int32_t> ids;
  for (int i = 0; i < kAsked; ++i) ids.push_back(wire.ask("GET", document));
  wire.send();
  await([&] { return bytes_held(site) > (4 << 20); });
  for (const std::string target : {"/openapi/v2", "/openapi/v3", "/apis", "/api/v1", "/version"})
    EXPECT_EQ(other.get(target).code, 429) << target;
  EXPECT_EQ(other.get("/livez").body, "ok");
  EXPECT_LE(bytes_held(site), (4 << 20) + 4 * size);
  int refused = 0;
  for (const std::int32_t id : ids) refused += wire.wait_for(id).code == 429 ? 1 : 0;
  EXPECT_GE(refused, 1);
  EXPECT_LT(refused, kAsked);
  await([&] { return bytes_held(site) < 100'000; });
  EXPECT_EQ(other.get("/openapi/v2").code, 200);
}

TEST(AnswersTest, WhatTakesLongIsNotDoneByAnIoThread) {
  std::mutex mutex;
  std::map<std::string, std::thread::id, std::less<>> thread_of;  // by step, under mutex
  ListenOptions options;
  options.threads = 1;
  options.before_step = [&](std::string_view step) {
    const std::lock_guard lock(mutex);
    thread_of.insert_or_assign(std::string(step), std::this_thread::get_id());
  };
  const Site site(options);
  Wire wire(site, {.client = &site.admin});
  const auto is_run_by_io_thread = [&](const Wire::Ask& ask) {
    EXPECT_LT(wire.ask(ask).code, 300) << ask.target;
    const std::lock_guard lock(mutex);
    return thread_of["run"] == thread_of["admit"];
  };
  for (const std::string target : {"/openapi/v2", "/openapi/v2?pretty=true", "/openapi/v3",
                                   "/openapi/v3/api/v1", "/apis", "/api", "/metrics"})
    EXPECT_FALSE(is_run_by_io_thread({.target = target})) << target;
  EXPECT_FALSE(is_run_by_io_thread(
      {.method = "POST", .target = kReviews, .body = R"({"spec":{"namespace":"default"}})"}));
  EXPECT_TRUE(is_run_by_io_thread({.target = "/version"}));
  EXPECT_TRUE(is_run_by_io_thread({.target = "/livez"}));
}

// Hundreds of requests fit into what is read at once, and each is judged. Here the first of them
// lasts until a neighbour has asked as well; the others must not all come before the neighbour.
TEST(AnswersTest, RequestsOfOneReadAreJudgedInTurns) {
  constexpr int kAsked = 200;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> steps;  // under mutex, as all below
  bool recording = false;
  bool has_begun = false;
  bool has_asked = false;
  ListenOptions options;
  options.threads = 1;
  options.before_step = [&](std::string_view step) {
    std::unique_lock lock(mutex);
    if (!recording) return;
    steps.emplace_back(step);
    if (step != "run") return;
    has_begun = true;
    changed.notify_all();
    changed.wait(lock, [&] { return has_asked; });
  };
  const Site site(options);
  Wire neighbour(site, {.client = &site.admin});
  Wire wire(site, {.client = &site.admin});
  ASSERT_EQ(neighbour.get("/livez").body, "ok");
  ASSERT_EQ(wire.get("/livez").body, "ok");
  std::string requests;
  for (int i = 0; i < kAsked; ++i) requests += "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_LT(requests.size(), 16'000U) << "one read";
  {
    const std::lock_guard lock(mutex);
    recording = true;
  }
  wire.write(requests);
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return has_begun; });
  }
  neighbour.send({.target = "/none"});
  {
    const std::lock_guard lock(mutex);
    has_asked = true;
  }
  changed.notify_all();
  for (int i = 0; i < kAsked; ++i) ASSERT_EQ(wire.read_reply().code, 200) << i;
  EXPECT_EQ(neighbour.read_reply().code, 404);
  // Who asks for what does not exist is judged and not run: two are judged one after the other.
  const std::lock_guard lock(mutex);
  EXPECT_EQ(steps.size(), static_cast<std::size_t>(2 * kAsked) + 1);
  EXPECT_LE(std::ranges::adjacent_find(steps) - steps.begin(), 40);
}

TEST(AnswersTest, ARequestCountsByWhatItTakesToJudgeIt) {
  using std::chrono::microseconds;
  EXPECT_EQ(work_of(microseconds(0)), kRequestWork);
  EXPECT_EQ(work_of(microseconds(49)), kRequestWork);
  EXPECT_EQ(work_of(microseconds(5'000)), 101 * kRequestWork);
}

}  // namespace
}  // namespace muster::server
