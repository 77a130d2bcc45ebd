#include "cases.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "asks.h"
#include "bodies.h"
#include "server/http/testing_http2.h"

namespace muster::attack {
namespace {

using server::testing::Http2Wire;
using server::testing::Wire;

const std::string kReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const std::string kDeployments = "/apis/apps/v1/namespaces/tenant/deployments";
const std::string kRoles = "/apis/rbac.authorization.k8s.io/v1/namespaces/tenant/roles";
const std::string kGroups = "/apis/scheduling.k8s.io/v1alpha3/namespaces/tenant/podgroups";

constexpr int kGang = 10'000;

// --- Bytes without end.

// A head, then `again` until the server has had enough; then from the beginning.
void stream(const Who& who, const std::string& head, const std::string& again, Run& run) {
  std::string block;
  while (block.size() < 64'000) block += again;
  while (!run.over()) {
    Wire wire(who.server, {.client = who.credential});
    bool open = wire.write(head);
    while (open && !run.over()) {
      open = wire.write(block);
      if (open) run.sent(block.size());
    }
    run.answered(open ? 0 : wire.read_head().code, 0);
  }
}

std::string chunked_head(const std::string& request) {
  return request + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
}

std::function<void(const Cast&, Run&)> framing(const std::string& start, const std::string& again) {
  return [=](const Cast& cast, Run& run) {
    stream(stranger(cast), chunked_head("POST " + kMaps) + start, again, run);
  };
}

// --- Connections that are held.

void hold_open_headers(const Cast& cast, Run& run) {
  constexpr int kConnections = 9'997 / 4;  // by four threads
  const std::string bytes = std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") +
                            std::string("\0\0\0\4\0\0\0\0\0", 9) +
                            std::string("\0\0\1\1\1\0\0\0\1\x82", 10);
  std::vector<std::unique_ptr<Wire>> held;
  while (!run.over()) {
    if (held.size() >= kConnections) held.erase(held.begin(), held.begin() + kConnections / 2);
    held.push_back(std::make_unique<Wire>(cast.server, Wire::Options{.http2 = true}));
    held.back()->write(bytes);
    run.sent(bytes.size());
  }
}

void hold_connections(const Cast& cast, Run& run) {
  std::vector<std::unique_ptr<Wire>> held;
  while (!run.over()) {
    if (held.size() < 1'000) {
      held.push_back(std::make_unique<Wire>(cast.server, Wire::Options{}));
      held.back()->write("GET /version HTTP/1.1\r\n");
    } else {
      pause_ms(10);
    }
  }
}

void send_unwanted_bodies(const Cast& cast, Run& run) {
  const std::string body(3U << 20U, 'x');
  const std::string head =
      "GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size() + 1) +
      "\r\n\r\n";
  while (!run.over()) {
    std::vector<std::unique_ptr<Wire>> held;
    for (int i = 0; i < 200 && !run.over(); ++i) {
      held.push_back(std::make_unique<Wire>(cast.server, Wire::Options{}));
      held.back()->write(head);
      if (held.back()->write(body)) run.sent(body.size());
    }
  }
}

// Lists and watches of large objects that nobody reads, a hundred a connection.
void leave_unread(const Cast& cast, Run& run, int connections) {
  while (!run.over()) {
    std::vector<std::unique_ptr<Http2Wire>> held;
    for (int i = 0; i < connections && !run.over(); ++i) {
      held.push_back(std::make_unique<Http2Wire>(
          cast.server, Wire::Options{.client = &cast.tenant, .receive_buffer = 4096}));
      for (int stream = 0; stream < 100; ++stream)
        held.back()->ask("GET", kMaps + (stream % 2 == 0 ? "" : "?watch=1"));
      held.back()->send();
      run.sent(10'000);
    }
    for (int i = 0; i < 50 && !run.over(); ++i) pause_ms(100);
  }
}

// --- Many objects.

void fill_large_maps(const Cast& cast) {
  for (int i = 0; i < 64; ++i)
    must(tenant(cast), {.method = "POST",
                        .target = kMaps,
                        .body = large_map(fmt::format("large-{}", i), 1'000'000)});
}

// Creates pods 0…count-1 of a thread's share, then deletes them all in one request.
void run_gangs(const Cast& cast, Run& run) {
  Wire wire(cast.server, {.client = &cast.tenant});
  const auto ask = [&](const Wire::Ask& what) {
    const int code = wire.ask(what).code;
    run.answered(code, what.body.size());
    if (code >= 400 || code == 0)
      run.complain(fmt::format("{} {} got {}", what.method, what.target, code));
  };
  const auto bound = [&] {
    const std::string list = wire.get(kCore + "pods?fieldSelector=spec.nodeName%3D&limit=1").body;
    return list.find(R"("nodeName")") == std::string::npos &&
           list.find(R"("items":[])") != std::string::npos;
  };
  for (int round = 0; !run.over(); ++round) {
    ask({.method = "POST",
         .target = kGroups,
         .body = fmt::format(R"({{"metadata":{{"name":"gang-{}"}},"spec":{{"schedulingPolicy":)"
                             R"({{"gang":{{"minCount":{}}}}}}}}})",
                             round, kGang)});
    for (int i = 0; i < kGang; ++i)
      ask({.method = "POST",
           .target = kCore + "pods",
           .body = fmt::format(
               R"({{"metadata":{{"name":"p-{}-{}"}},"spec":{{"schedulingGroup":{{"podGroupName":)"
               R"("gang-{}"}},"containers":[{{"name":"c","image":"i","resources":{{"requests":)"
               R"({{"cpu":"1m"}}}}}}]}}}})",
               round, i, round)});
    int waited = 0;
    while (!bound() && waited < 60'000) {
      pause_ms(100);
      waited += 100;
    }
    if (waited >= 60'000) run.complain("the gang was not bound within a minute");
    ask({.method = "DELETE", .target = kCore + "pods?gracePeriodSeconds=0"});
    ask({.method = "DELETE", .target = kGroups + fmt::format("/gang-{}", round)});
    run.end();  // one round is what is measured
  }
}

// A thousand watches from one address; each must see every change.
void watch_a_thousand(const Cast& cast, Run& run) {
  constexpr int kWatches = 1'000;
  constexpr int kChanges = 20;
  std::vector<std::unique_ptr<Wire>> wires;
  for (int i = 0; i < kWatches; ++i) {
    wires.push_back(std::make_unique<Wire>(cast.server, Wire::Options{.client = &cast.tenant}));
    wires.back()->send({.target = kCore + "secrets?watch=1"});
    const int code = wires.back()->read_head().code;
    run.answered(code, 0);
    if (code != 200) return run.complain("a watch was refused");
  }
  for (int i = 0; i < kChanges; ++i)
    must(tenant(cast), {.method = "POST",
                        .target = kCore + "secrets",
                        .body = fmt::format(R"({{"metadata":{{"generateName":"seen-{}-"}}}})", i)});
  for (const auto& wire : wires)
    for (int i = 0; i < kChanges && !run.over(); ++i)
      if (wire->read_line().find(fmt::format(R"("generateName":"seen-{}-")", i)) ==
          std::string::npos)
        return run.complain(fmt::format("a watch missed change {}", i));
  run.end();
}

// --- What two readers could understand differently.

void smuggle(const Cast& cast, Run& run) {
  const char* const headers[] = {"Transfer-Encoding: gzip, chunked",
                                 "Transfer-Encoding: chunked, gzip",
                                 "Transfer-Encoding: identity",
                                 "Transfer-Encoding: xchunked",
                                 "Transfer-Encoding: chunked, chunked",
                                 "Transfer-Encoding: chunked;q=1",
                                 "Transfer-Encoding:",
                                 "Transfer-Encoding: chunked\r\nContent-Length: 4",
                                 "Content-Length: 4\r\nContent-Length: 4",
                                 "Content-Length: +4",
                                 "X: a\r\n Transfer-Encoding: chunked"};
  while (!run.over())
    for (const char* header : headers) {
      Wire wire(cast.server, {.client = &cast.nobody});
      wire.write("POST /version HTTP/1.1\r\nHost: x\r\n" + std::string(header) +
                 "\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
      const std::string heard = wire.read_all();
      const bool refused =
          heard.starts_with("HTTP/1.1 400 ") && heard.find("HTTP/1.1", 8) == std::string::npos;
      run.answered(heard.empty() ? 0 : refused ? 400 : 200, 0);
      if (!refused && !heard.empty()) run.complain("a length that is ambiguous was not refused");
    }
}

// What a neighbour waits for anyway.
void do_nothing(const Cast&, Run& run) {
  while (!run.over()) pause_ms(10);
}

std::vector<Case> framing_cases() {
  return {{.name = "none", .who = "-", .attack = do_nothing},
          {.name = "S-C1 chunk extensions",
           .who = "stranger",
           .threads = 2,
           .attack = framing("1;", "x=y;")},
          {.name = "S-C1 zeros of a chunk size",
           .who = "stranger",
           .threads = 2,
           .attack = framing("", "0000")},
          {.name = "S-C1 trailers",
           .who = "stranger",
           .threads = 2,
           .attack = framing("0\r\n", "X-Filler: yyyyyyyyyyyyyy\r\n")},
          {.name = "S-H1 bodies without end",
           .who = "stranger",
           .threads = 2,
           .attack = framing("", "1000\r\n" + std::string(4096, 'x') + "\r\n")},
          {.name = "S-H1 large bodies, one after the other",
           .who = "nobody",
           .threads = 4,
           .attack = repeated(nobody, always("POST", kReviews, "application/json",
                                             std::string(2'900'000, ' ') + "{}"))}};
}

std::vector<Case> document_cases() {
  const std::string json = "application/json";
  const std::string yaml = "application/yaml";
  return {
      {.name = "S-C2 duplicate keys, 125 kB",
       .who = "nobody",
       .threads = 4,
       .attack = repeated(nobody, always("POST", kReviews, json, duplicate_keys(125'000)))},
      {.name = "S-C2 duplicate keys, 1 MB",
       .who = "nobody",
       .threads = 4,
       .attack = repeated(nobody, always("POST", kReviews, json, duplicate_keys(1'000'000)))},
      {.name = "S-C2 duplicate keys, deep, 1 MB",
       .who = "nobody",
       .threads = 4,
       .attack = repeated(nobody, always("POST", kReviews, json, deep_duplicate_keys(1'000'000)))},
      {.name = "S-C3 YAML aliases of a text, 1 MB",
       .who = "nobody",
       .threads = 4,
       .attack = repeated(nobody, always("POST", kReviews, yaml, aliased_text(1'000'000)))},
      {.name = "S-C3 YAML aliases of lists",
       .who = "nobody",
       .threads = 4,
       .attack = repeated(nobody, always("POST", kReviews, yaml, aliased_lists()))},
      {.name = "S-H6 unknown fields, 869 kB",
       .who = "nobody",
       .threads = 4,
       .attack = repeated(nobody, always("POST", kReviews, json, unknown_fields(869'000)))},
      {.name = "S-C5 scopes of a quota, 53 kB",
       .who = "tenant",
       .threads = 4,
       .attack =
           repeated(tenant, always("POST", kCore + "resourcequotas", json, wrong_scopes(53'000)))},
      {.name = "S-C5 scopes of a quota, 189 kB",
       .who = "tenant",
       .threads = 4,
       .attack = repeated(tenant,
                          always("POST", kCore + "resourcequotas", json, wrong_scopes(189'000)))}};
}

std::vector<Case> write_cases() {
  const std::string json_patch = "application/json-patch+json";
  const std::string strategic = "application/strategic-merge-patch+json";
  const std::string web = kDeployments + "/web";
  return {
      {.name = "S-C4 JSON patch, moves, 224 kB",
       .who = "tenant",
       .threads = 4,
       .attack = repeated(tenant, patches(kMaps + "/half", json_patch, {moves(224'000)}))},
      {.name = "S-C4 JSON patch, copies, 224 kB",
       .who = "tenant",
       .threads = 4,
       .attack = repeated(tenant, patches(kMaps + "/half", json_patch, {copies(224'000)}))},
      {.name = "S-H5 role of 120 x 120 x 120 rights",
       .who = "tenant",
       .threads = 4,
       .attack = repeated(tenant,
                          [](int i) {
                            return Wire::Ask{
                                .method = "POST", .target = kRoles, .body = wide_role(i)};
                          })},
      {.name = "S-H7 strategic lists",
       .who = "tenant",
       .threads = 4,
       .attack = repeated(
           tenant, patches(web, strategic, {many_containers(6'000), many_deletions(6'000)}))},
      {.name = "S-H7 retained keys and nulls",
       .who = "tenant",
       .threads = 4,
       .attack = repeated(
           tenant, patches(web, strategic, {many_retained_keys(60'000), many_nulls(60'000)}))},
      {.name = "S-H7 owner references",
       .who = "tenant",
       .threads = 4,
       .attack = repeated(tenant, always("PUT", kMaps + "/owned", "application/json",
                                         many_owners("owned", 20'000)))},
      {.name = "applied to by 2,000 managers",
       .who = "tenant",
       .threads = 4,
       .prepare =
           [](const Cast& cast) {
             must(tenant(cast),
                  {.method = "POST", .target = kMaps, .body = many_managers("managed", 2'000)});
           },
       .attack = repeated(
           tenant,
           [](int i) {
             return Wire::Ask{
                 .method = "PATCH",
                 .target = fmt::format("{}/managed?fieldManager=m{}&force=true", kMaps, i % 2'000),
                 .headers = of_type("application/apply-patch+yaml"),
                 .body = fmt::format(
                     R"({{"apiVersion":"v1","kind":"ConfigMap","data":{{"shared":"{}"}}}})", i)};
           })},
      {.name = "large objects, written again and again",
       .who = "tenant",
       .threads = 4,
       .attack = repeated(
           tenant,
           [](int i) {
             return Wire::Ask{.method = "PUT",
                              .target = kMaps + "/half",
                              .body = large_map("half", static_cast<std::size_t>(500'000 + i % 7))};
           })},
      {.name = "a gang of 10,000 pods, bound and deleted",
       .who = "tenant",
       .attack = run_gangs,
       .ends = true,
       .flags = {"--nodes-per-rack", "100", "--node-resources", "cpu=32,memory=128Gi,pods=200"}}};
}

std::vector<Case> connection_cases() {
  return {{.name = "S-H2 9,997 connections with open headers",
           .who = "stranger",
           .threads = 4,
           .attack = hold_open_headers},
          {.name = "S-H3 1,000 connections, 1,024 descriptors",
           .who = "stranger",
           .attack = hold_connections,
           .flags = {"--nodes-per-rack", "8"},
           .descriptors = 1'024},
          {.name = "S-H4 3 MiB nobody wants, 200 at once",
           .who = "stranger",
           .threads = 2,
           .attack = send_unwanted_bodies},
          {.name = "S-M1, S-M2 lengths that are ambiguous", .who = "nobody", .attack = smuggle},
          {.name = "S-M4 unread lists and watches, 3 connections",
           .who = "tenant",
           .prepare = fill_large_maps,
           .attack = [](const Cast& cast, Run& run) { leave_unread(cast, run, 3); }},
          {.name = "S-M4 the same, 30 connections",
           .who = "tenant",
           .prepare = fill_large_maps,
           .attack = [](const Cast& cast, Run& run) { leave_unread(cast, run, 30); }},
          {.name = "1,000 watches from one address",
           .who = "tenant",
           .attack = watch_a_thousand,
           .ends = true}};
}

}  // namespace

void Run::answered(int code, std::size_t bytes) {
  bytes_ += bytes;
  const std::lock_guard lock(mutex_);
  ++codes_[code];
}

void Run::complain(std::string text) {
  const std::lock_guard lock(mutex_);
  if (complaints_.size() < 10) complaints_.push_back(std::move(text));
}

std::string Run::codes() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [code, count] : codes_)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ",
                        code == 0 ? "none" : std::to_string(code), count);
  return text;
}

std::vector<std::string> Run::complaints() const {
  const std::lock_guard lock(mutex_);
  return complaints_;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    for (const auto& some : {framing_cases(), document_cases(), write_cases(), connection_cases(),
                             http2_cases(), read_cases(), crowd_cases(), watch_cases(),
                             product_cases(), object_cases(), backlog_cases(), group_cases()})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }();
  return cases;
}

void set_up(const Cast& cast) {
  for (const std::string name : {"tenant", "neighbour"}) {
    must(admin(cast), {.method = "POST",
                       .target = "/api/v1/namespaces",
                       .body = R"({"metadata":{"name":")" + name + R"("}})"});
    must(admin(cast),
         {.method = "POST",
          .target = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + name + "/rolebindings",
          .body = R"({"metadata":{"name":"own"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
                  R"("kind":"ClusterRole","name":"admin"},"subjects":[{"kind":"User","name":")" +
                  name + R"("}]})"});
  }
  must(admin(cast), {.method = "POST",
                     .target = kRoles,
                     .body = R"({"metadata":{"name":"quotas"},"rules":[{"apiGroups":[""],)"
                             R"("resources":["resourcequotas","limitranges"],"verbs":["*"]}]})"});
  must(
      admin(cast),
      {.method = "POST",
       .target = "/apis/rbac.authorization.k8s.io/v1/namespaces/tenant/rolebindings",
       .body = R"({"metadata":{"name":"quotas"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
               R"("kind":"Role","name":"quotas"},"subjects":[{"kind":"User","name":"tenant"}]})"});
  for (const char* name : {"own", "applied"})
    must(admin(cast), {.method = "POST",
                       .target = "/api/v1/namespaces/neighbour/configmaps",
                       .body = large_map(name, 10)});
  must(tenant(cast), {.method = "POST", .target = kMaps, .body = large_map("half", 500'000)});
  must(tenant(cast), {.method = "POST", .target = kMaps, .body = large_map("owned", 1)});
  must(tenant(cast),
       {.method = "POST",
        .target = kDeployments,
        .body = R"({"metadata":{"name":"web"},"spec":{"replicas":0,"selector":{"matchLabels":)"
                R"({"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":)"
                R"({"containers":[{"name":"c0","image":"i"}]}}}})"});
}

}  // namespace muster::attack
