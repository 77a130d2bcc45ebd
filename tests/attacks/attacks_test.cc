#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "attacks_testing.h"

// Each case that once ended, stalled or fooled the server, replayed at small size. What an attack
// may hold is counted in bytes and connections, and a neighbour's request is answered meanwhile.
namespace muster::server {
namespace {

const std::string kPods = "/api/v1/namespaces/default/pods";

std::int64_t connections(const Site& site) { return held(site, Resource::Connections); }

std::string pod_json(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
         R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})";
}

class AttackTest : public ::testing::Test {
 protected:
  // A user like any other, who may see everything.
  Credential make_user(const Site& site, const std::string& name) {
    Wire admin(site, {.client = &site.admin});
    const std::string binding =
        R"({"metadata":{"name":")" + name +
        R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},)" +
        R"("subjects":[{"kind":"User","name":")" + name + R"("}]})";
    EXPECT_EQ(admin
                  .ask({.method = "POST",
                        .target = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                        .body = binding})
                  .code,
              201);
    return make_client_certificate(site.authority, {.user = name, .groups = {}},
                                   site.core().clock().now())
        .value();
  }
  static void expect_neighbour_served(const Site& site) {
    Wire neighbour(site, {.client = &site.admin});
    EXPECT_EQ(neighbour.get("/livez").body, "ok");
  }
};

// --- One connection's input.

// S-C1: extensions, leading zeros and trailers of a chunked body once grew a buffer without end.
TEST_F(AttackTest, ChunksCannotCarryEndlessFraming) {
  const Site site;
  struct Case {
    const char* name;
    std::string start, again;
  };
  const Case cases[] = {
      {"extension", "1;", "x=y;"},
      {"one quoted extension", "1;a=\"", "zzzz"},
      {"zeros", "", "0000"},
      {"trailers", "0\r\n", "X-Filler: yyyyyyyyyyyyyyyyyy\r\n"},
      {"one trailer", "0\r\nX: ", "yyyyyyyy"},
      {"many small extensions", "", "1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n"}};
  for (const Case& each : cases) {
    Wire wire(site, {.client = &site.admin});
    wire.write("POST " + kPods + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
               each.start);
    std::string block;
    while (block.size() < 4'000) block += each.again;
    std::int64_t most = 0;
    bool refused = false;
    for (int i = 0; i < 2'000 && !refused; ++i) {
      refused = !wire.write(block);
      most = std::max(most, bytes_held(site));
    }
    // Eight megabytes were offered; a few kilobytes are looked at.
    EXPECT_LE(most, 128 << 10) << each.name;
    const HttpReply reply = wire.read_reply();
    EXPECT_TRUE(reply.code == 400 || reply.code == 0) << each.name << ": " << reply.code;
    expect_neighbour_served(site);
  }
}

// S-M1: a trailer once became a header, after the head had been judged.
TEST_F(AttackTest, TrailersAreNeverHeaders) {
  const Site site;
  Wire wire(site, {.client = &site.admin});
  const std::string body = pod_json("web");
  char size[16];
  (void)std::snprintf(size, sizeof size, "%zx", body.size());
  wire.write("POST " + kPods + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + size +
             "\r\n" + body +
             "\r\n0\r\nImpersonate-User: nobody\r\nContent-Type: text/plain\r\n\r\n");
  EXPECT_EQ(wire.read_reply().code, 201);
  EXPECT_EQ(wire.get("/livez").body, "ok") << "the connection goes on";
}

// S-C1: however the bytes of a chunked body are cut, it is the same body.
TEST_F(AttackTest, ChunksMayComeByteByByte) {
  const Site site;
  Wire wire(site, {.client = &site.admin});
  const std::string body = pod_json("web");
  std::string text = "POST " + kPods + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char c : body) text += std::string("1;x=y\r\n") + c + "\r\n";
  text += "0\r\nX: y\r\n\r\n";
  for (const char c : text) ASSERT_TRUE(wire.write(std::string(1, c)));
  EXPECT_EQ(wire.read_reply().code, 201);
  // A body that nobody wants, too: it is read over, and the connection goes on.
  for (const std::string_view part : {"GET /version HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                                      "chunked\r\n\r\n0\r\n",
                                      "\r", "\n"})
    wire.write(part);
  EXPECT_EQ(wire.read_reply().code, 200);
  EXPECT_EQ(wire.get("/livez").body, "ok");
}

// S-M2: what two readers could end at different places is refused, and nothing after it is read.
TEST_F(AttackTest, AmbiguousLengthsAreRefusedAndTheConnectionEnds) {
  const Site site;
  const char* const bad[] = {"Transfer-Encoding: gzip, chunked",
                             "Transfer-Encoding: chunked, gzip",
                             "Transfer-Encoding: identity",
                             "Transfer-Encoding: xchunked",
                             "Transfer-Encoding: chunked, chunked",
                             "Transfer-Encoding: \"chunked\"",
                             "Transfer-Encoding: chunked;q=1",
                             "Transfer-Encoding:",
                             "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                             "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
                             "Transfer-Encoding: identity\r\nContent-Length: 4",
                             "Transfer-Encoding: chunked\r\nContent-Length: 4",
                             "Content-Length: 4\r\nTransfer-Encoding: chunked",
                             "Content-Length: 4\r\nContent-Length: 4",
                             "Content-Length: 4, 4",
                             "Content-Length: +4",
                             "Content-Length: 0x4",
                             "Content-Length: -1",
                             "Transfer-Encoding : chunked",
                             "X: a\r\n Transfer-Encoding: chunked",
                             "X: a\r\n\tb"};
  for (const char* header : bad) {
    Wire wire(site, {.client = &site.admin});
    wire.write("POST /version HTTP/1.1\r\nHost: x\r\n" + std::string(header) +
               "\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string heard = wire.read_all();
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 400 ")) << header << " got " << heard.substr(0, 40);
    EXPECT_EQ(heard.find("HTTP/1.1", 8), std::string::npos) << header << ": a second answer";
  }
}

TEST_F(AttackTest, ARequestHasExactlyOneHost) {
  const Site site;
  const auto ask = [&](const std::string& head) {
    Wire wire(site, {.client = &site.admin});
    wire.write(head + "Connection: close\r\n\r\n");
    return wire.read_all().substr(0, 12);
  };
  EXPECT_EQ(ask("GET /livez HTTP/1.1\r\nHost: x\r\n"), "HTTP/1.1 200");
  EXPECT_EQ(ask("GET /livez HTTP/1.1\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(ask("GET /livez HTTP/1.1\r\nHost: x\r\nHost: x\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(ask("GET /livez HTTP/1.1\r\nHost:\r\n x\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(ask("GET /livez HTTP/1.1\r\nHost: a b, c\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(ask("GET /livez HTTP/1.1\r\nHost: x/y\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(ask("GET /livez HTTP/1.1\r\nHost: [::1]:6443\r\n"), "HTTP/1.1 200");
  EXPECT_EQ(ask("GET /livez HTTP/1.1\r\nHost:\r\n"), "HTTP/1.1 200") << "as Go's server does";
  EXPECT_EQ(ask("GET /livez HTTP/1.0\r\n"), "HTTP/1.1 200") << "the old version had none";
}

// S-H4: bodies that nobody wants were once kept, three megabytes each.
TEST_F(AttackTest, ABodyThatNobodyWantsIsNotKept) {
  const Site site;
  const std::string part(1U << 20U, 'x');
  const std::vector<std::string> requests = {"GET /version",
                                             "GET " + kPods,
                                             "POST /no/such/path",
                                             "GET /livez",
                                             "DELETE /api/v1/nodes/none/unknown",
                                             "GET " + kPods + "?watch=1"};
  for (const std::string& request : requests) {
    for (const bool known : {true, false}) {
      std::vector<std::unique_ptr<Wire>> wires;
      for (int i = 0; i < 4; ++i) {
        wires.push_back(
            std::make_unique<Wire>(site, Wire::Options{.client = known ? &site.admin : nullptr}));
        wires.back()->write(request + " HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" +
                            part.substr(0, 200'000));
      }
      // What is being read now, a piece of at most 64 KiB each; not the 200 kB that were sent.
      EXPECT_LE(bytes_held(site), 4 * (96 << 10)) << request;
      for (const auto& wire : wires) {
        wire->write(part);
        EXPECT_GE(wire->read_head().code, 200) << request;
      }
    }
  }
  // Small ones are read over, and the connection goes on.
  Wire wire(site, {.client = &site.admin});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(wire.ask({.target = "/version", .body = std::string(10'000, 'x')}).code, 200);
}

// S-H1: one connection that always has more to send once held its thread.
TEST_F(AttackTest, AStreamOfInputHoldsNobodyUp) {
  ListenOptions options;
  options.threads = 1;
  const Site site(options);
  std::atomic<bool> stop{false};
  std::atomic<int> answered{0};
  std::vector<std::thread> streams;
  for (int i = 0; i < 2; ++i)
    streams.emplace_back([&] {
      Wire wire(site, {});
      const std::string one = "GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" +
                              std::string(60'000, 'x');
      while (!stop.load() && wire.write(one)) {
        wire.read_reply();
        answered.fetch_add(1);
      }
    });
  for (int i = 0; i < 50; ++i) expect_neighbour_served(site);
  stop = true;
  for (std::thread& stream : streams) stream.join();
  EXPECT_GT(answered.load(), 0);
}

// --- Connections.

ListenOptions impatient() {
  ListenOptions options;
  using std::chrono::milliseconds;
  options.limits.deadlines = {.handshake = milliseconds(1'000),
                              .head = milliseconds(1'000),
                              .body = milliseconds(1'000),
                              .idle = milliseconds(1'000),
                              .answer = milliseconds(60'000),
                              .send = milliseconds(1'000),
                              .send_bytes_per_second = 1U << 30U,
                              .watch_stall = milliseconds(1'000),
                              .linger = milliseconds(1'000),
                              .access_check = milliseconds(20)};
  return options;
}

// S-H2: whatever state a connection is in, doing nothing ends it.
TEST_F(AttackTest, ConnectionsThatDoNothingAreClosed) {
  const Site site(impatient());
  {
    Wire maker(site, {.client = &site.admin});
    for (int i = 0; i < 20; ++i)
      maker.ask(
          {.method = "POST", .target = kMaps, .body = map_json("m" + std::to_string(i), 500'000)});
  }
  using Attack = std::function<std::unique_ptr<Wire>()>;
  const auto connect = [&](Wire::Options options) { return std::make_unique<Wire>(site, options); };
  const auto after_writing = [&](Wire::Options options, const std::string& bytes) -> Attack {
    return [=] {
      auto wire = connect(options);
      wire->write(bytes);
      return wire;
    };
  };
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  // HEADERS on stream 1 without END_HEADERS: ":method: GET" by index, then nothing.
  const std::string open_headers("\0\0\1\1\1\0\0\0\1\x82", 10);
  const Wire::Options http1{.client = &site.admin};
  const Wire::Options http2{.client = &site.admin, .http2 = true};
  const std::pair<const char*, Attack> attacks[] = {
      {"no handshake", after_writing({.plain = true}, "")},
      {"half a handshake", after_writing({.plain = true}, "\x16\x03\x01\x02")},
      {"no request", after_writing(http1, "")},
      {"half a head", after_writing(http1, "GET / HTTP/1.1\r\nHost: x\r\n")},
      {"half a body", after_writing(http1, "POST " + kPods +
                                               " HTTP/1.1\r\nHost: x\r\n"
                                               "Content-Length: 100\r\n\r\n{")},
      {"half a chunk", after_writing(http1, "POST " + kPods +
                                                " HTTP/1.1\r\nHost: x\r\n"
                                                "Transfer-Encoding: chunked\r\n\r\n5\r\n{")},
      {"idle after a request", after_writing(http1, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")},
      {"an answer unread", after_writing({.client = &site.admin, .receive_buffer = 4096},
                                         "GET " + kMaps + " HTTP/1.1\r\nHost: x\r\n\r\n")},
      {"a watch unread", after_writing({.client = &site.admin, .receive_buffer = 4096},
                                       "GET " + kMaps + "?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n")},
      {"HTTP/2: no preface", after_writing(http2, "")},
      {"HTTP/2: no request", after_writing(http2, preface + settings)},
      {"HTTP/2: HEADERS without END_HEADERS",
       after_writing(http2, preface + settings + open_headers)},
      {"HTTP/2: half a frame",
       after_writing(http2, preface + settings + open_headers.substr(0, 5))},
  };
  await([&] { return connections(site) == 0; });
  std::vector<std::unique_ptr<Wire>> open;
  for (const auto& [name, attack] : attacks) open.push_back(attack());
  EXPECT_GT(connections(site), 0);
  await([&] { return connections(site) == 0; });
  await([&] { return bytes_held(site) == 0; });
  expect_neighbour_served(site);
}

// S-H2, S-H3: idle strangers once shut everybody out.
TEST_F(AttackTest, IdleStrangersAreSentAwayBeforeAnybodyIsKeptOut) {
  ListenOptions options;
  options.limits.clients.connections = {.total = 12, .each = 8, .reserved = 4};
  options.limits.clients.connections_per_address = 12;
  options.limits.clients.connections_unproven = 6;
  const Site site(options);
  std::vector<std::unique_ptr<Wire>> strangers;
  for (int i = 0; i < 40; ++i) {
    strangers.push_back(std::make_unique<Wire>(site, Wire::Options{}));
    EXPECT_LE(connections(site), 16);
  }
  expect_neighbour_served(site);
  // Those who have said who they are stay, however many strangers come.
  Wire known(site, {.client = &site.admin});
  EXPECT_EQ(known.get("/livez").body, "ok");
  for (int i = 0; i < 40; ++i) strangers.push_back(std::make_unique<Wire>(site, Wire::Options{}));
  EXPECT_EQ(known.get("/livez").body, "ok");
}

TEST_F(AttackTest, OneUserCannotHaveAllConnections) {
  ListenOptions options;
  options.limits.clients.connections = {.total = 8, .each = 3, .reserved = 2};
  options.limits.clients.connections_per_address = 8;
  const Site site(options);
  const Credential jane = make_user(site, "jane");
  const Credential joe = make_user(site, "joe");
  const Credential jim = make_user(site, "jim");
  await([&] { return connections(site) == 0; });
  std::vector<std::unique_ptr<Wire>> open;
  const auto connect = [&](const Credential& who) {
    open.push_back(std::make_unique<Wire>(site, Wire::Options{.client = &who}));
    return open.back()->get("/version").code;
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(connect(jane), 200);
  const auto hang_up = [&] {
    open.pop_back();
    await([&] { return connections(site) == static_cast<std::int64_t>(open.size()); });
  };
  EXPECT_EQ(connect(jane), 429) << "politely";
  hang_up();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(connect(joe), 200);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(connect(jim), 200);
  EXPECT_EQ(connect(jim), 429) << "all eight are in use";
  hang_up();
  EXPECT_EQ(connect(site.admin), 200) << "two more are kept for administrators";
  EXPECT_EQ(open.front()->get("/version").code, 200);
}

// --- Memory.

// S-M4: answers and events that are not read are bounded by bytes, by user and in total.
TEST_F(AttackTest, UnreadAnswersAreBoundedByBytes) {
  ListenOptions options;
  options.limits.clients.bytes = {.total = 24U << 20U, .each = 8U << 20U, .reserved = 8U << 20U};
  options.limits.clients.bytes_per_connection = 4U << 20U;
  const Site site(options);
  const Credential jane = make_user(site, "jane");
  Wire maker(site, {.client = &site.admin});
  constexpr std::int64_t kObject = 400'000;
  constexpr std::int64_t kObjects = 8;
  for (int i = 0; i < kObjects; ++i)
    ASSERT_EQ(maker
                  .ask({.method = "POST",
                        .target = kMaps,
                        .body = map_json("m" + std::to_string(i), kObject)})
                  .code,
              201);
  // Lists and watches, unread, on several connections.
  std::vector<std::unique_ptr<Http2Wire>> attackers;
  for (int connection = 0; connection < 4; ++connection) {
    attackers.push_back(
        std::make_unique<Http2Wire>(site, Wire::Options{.client = &jane, .receive_buffer = 4096}));
    for (int stream = 0; stream < 20; ++stream)
      attackers.back()->ask("GET", kMaps + (stream % 2 == 0 ? "" : "?watch=1"));
    attackers.back()->send();
  }
  std::int64_t most = 0;
  for (int i = 0; i < 100; ++i) {
    most = std::max(most, bytes_held(site));
    expect_neighbour_served(site);
  }
  // The share, and one answer beyond it per connection at most.
  EXPECT_LE(most, (8 << 20) + 4 * kObject * (kObjects + 2)) << "held";
  EXPECT_EQ(maker.get(kMaps).code, 200) << "an administrator's list still has room";
  attackers.clear();
  await([&] { return bytes_held(site) < (1 << 20); });
}

TEST_F(AttackTest, BodiesThatNeverEndAreBoundedByBytes) {
  ListenOptions options;
  options.limits.clients.bytes = {.total = 8U << 20U, .each = 4U << 20U, .reserved = 2U << 20U};
  const Site site(options);
  std::vector<std::unique_ptr<Wire>> wires;
  const std::string head =
      "POST " + kPods + " HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n";
  const std::string part(1U << 20U, ' ');
  for (int i = 0; i < 20; ++i) {
    wires.push_back(std::make_unique<Wire>(site, Wire::Options{.client = &site.admin}));
    wires.back()->write(head + part);
    EXPECT_LE(bytes_held(site), (8 << 20) + (4 << 20));
  }
  for (const auto& wire : wires) wire->write(part);
  expect_neighbour_served(site);
  EXPECT_LE(bytes_held(site), (8 << 20) + (4 << 20));
}

// --- Exceptions.

TEST_F(AttackTest, AnExceptionEndsItsConnectionAndNothingElse) {
  for (const std::string_view step : {"admit", "run", "respond", "pull"}) {
    std::atomic<bool> armed{false};
    ListenOptions options;
    options.before_step = [&armed, step](std::string_view name) {
      if (name == step && armed.exchange(false)) throw std::runtime_error("for a test");
    };
    const Site site(options);
    for (const bool http2 : {false, true}) {
      Wire neighbour(site, {.client = &site.admin});
      EXPECT_EQ(neighbour.get("/livez").body, "ok");
      const std::string target = step == "pull" ? kPods + "?watch=1" : kPods;
      armed = true;
      if (http2) {
        Http2Wire wire(site);
        const std::int32_t asked = wire.ask("GET", target);
        while (wire.turn()) {
        }
        EXPECT_FALSE(wire.closed.contains(asked) && wire.replies[asked].code == 200) << step;
      } else {
        Wire wire(site, {.client = &site.admin});
        wire.send({.target = target});
        wire.read_all();  // until the server hangs up
      }
      EXPECT_FALSE(armed.load()) << step << " was never reached";
      EXPECT_EQ(neighbour.get("/livez").body, "ok") << step;
      EXPECT_EQ(neighbour
                    .ask({.method = "POST",
                          .target = kPods,
                          .body = pod_json("p" + std::to_string(static_cast<int>(http2)))})
                    .code,
                201);
    }
  }
}

// --- Rights that end.

TEST_F(AttackTest, AWatchEndsWithTheRightToWatch) {
  ListenOptions options;
  options.limits.deadlines.access_check = std::chrono::milliseconds(20);
  const Site site(options);
  const Credential jane = make_user(site, "jane");
  Wire admin(site, {.client = &site.admin});
  Wire watch(site, {.client = &jane});
  watch.send({.target = kPods + "?watch=1&resourceVersion=1"});
  ASSERT_EQ(watch.read_head().code, 200);
  Http2Wire other(site, {.client = &jane});
  const std::int32_t asked = other.ask("GET", kPods + "?watch=1&resourceVersion=1");
  while (other.replies[asked].code == 0 && other.turn()) {
  }
  EXPECT_EQ(admin
                .ask({.method = "DELETE",
                      .target = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/jane"})
                .code,
            200);
  std::string last;
  for (std::string line = watch.read_line(); !line.empty(); line = watch.read_line()) last = line;
  EXPECT_NE(last.find(R"("type":"ERROR")"), std::string::npos) << last;
  EXPECT_NE(last.find(R"("reason":"Forbidden")"), std::string::npos) << last;
  EXPECT_NE(other.wait_for(asked).body.find(R"("reason":"Forbidden")"), std::string::npos);
}

}  // namespace
}  // namespace muster::server
