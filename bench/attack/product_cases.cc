// Objects that are small one by one and dear times each other: a template and its replicas,
// sidecars and init containers, defaults and containers, rules and rules.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "asks.h"
#include "bodies.h"
#include "cases.h"
#include "server/http/testing_http2.h"

namespace muster::attack {
namespace {

using server::testing::Http2Wire;

const std::string kPods = kCore + "pods";
const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/tenant/";
const std::string kComposites =
    "/apis/scheduling.k8s.io/v1alpha3/namespaces/tenant/compositepodgroups";

// "{…},{…},…", `one(i)` for each.
template <typename One>
std::string listed(int count, One&& one) {
  std::string out;
  for (int i = 0; i < count; ++i) out += (i == 0 ? "" : ",") + one(i);
  return out;
}

std::string resources(int count, int from = 0) {
  return listed(count, [=](int i) { return fmt::format(R"("example.com/r{:05}":"1")", from + i); });
}

// --- Templates of a megabyte, whose pods can never be made: their ServiceAccount is missing.

void make_sets(const Cast& cast, Run& run) {
  for (int i = 0; i < 20 && !run.over(); ++i) {
    const std::string body = fmt::format(
        R"({{"metadata":{{"name":"set-{}"}},"spec":{{"replicas":1000,"selector":{{"matchLabels":{{"a":"b"}}}},)"
        R"("template":{{"metadata":{{"labels":{{"a":"b"}}}},"spec":{{"serviceAccountName":"missing","containers":)"
        R"([{{"name":"c","image":"i","env":[{{"name":"E","value":"{}"}}]}}]}}}}}}}})",
        i, std::string(1'300'000, 'x'));
    Wire wire(cast.server, {.client = &cast.tenant});
    run.answered(wire.ask({.method = "POST",
                           .target = "/apis/apps/v1/namespaces/tenant/replicasets",
                           .headers = of_type("application/json"),
                           .body = body})
                     .code,
                 body.size());
  }
  while (!run.over()) pause_ms(10);
}

// --- A sidecar with thousands of resources, before thousands of init containers.

std::string pod_with_sidecar() {
  const std::string many = resources(4'000);
  return fmt::format(
      R"({{"metadata":{{"name":"sidecar"}},"spec":{{"schedulingGates":[{{"name":"a/b"}}],"initContainers":[)"
      R"({{"name":"s","image":"i","restartPolicy":"Always","resources":{{"requests":{{{0}}},"limits":{{{0}}}}}}},)"
      R"({1}],"containers":[{{"name":"c","image":"i"}}]}}}})",
      many, listed(900, [](int i) { return fmt::format(R"({{"name":"i{}","image":"i"}})", i); }));
}
void make_pod_with_sidecar(const Cast& cast) {
  must(tenant(cast), {.method = "POST", .target = kPods, .body = pod_with_sidecar()});
}

// --- Defaults times containers.

void make_defaults(const Cast& cast) {
  const std::string many = resources(3'000);
  must(
      tenant(cast),
      {.method = "POST",
       .target = kCore + "limitranges",
       .body = fmt::format(
           R"({{"metadata":{{"name":"l"}},"spec":{{"limits":[{{"type":"Container","default":{{{0}}},"defaultRequest":{{{0}}}}}]}}}})",
           many)});
}
std::string pod_of_containers(int count) {
  return fmt::format(
      R"({{"metadata":{{"generateName":"p"}},"spec":{{"containers":[{}]}}}})",
      listed(count, [](int i) { return fmt::format(R"({{"name":"c{}","image":"i"}})", i); }));
}

// --- Rules times rules: those of all roles of a user are listed, each once.

std::string of_role(int i) {
  return fmt::format(
      R"({{"metadata":{{"name":"rules-{0}"}},"roleRef":{{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"rules-{0}"}},)"
      R"("subjects":[{{"kind":"User","name":"nobody"}}]}})",
      i);
}
void make_rules(const Cast& cast) {
  for (int i = 0; i < 15; ++i) {
    const auto rule = [i](int k) {
      return fmt::format(
          R"({{"apiGroups":[""],"resources":["pods"],"verbs":["get"],"resourceNames":["x{}-{}"]}})",
          i, k);
    };
    must(tenant(cast), {.method = "POST",
                        .target = kRbac + "roles",
                        .body = fmt::format(R"({{"metadata":{{"name":"rules-{}"}},"rules":[{}]}})",
                                            i, listed(3'000, rule))});
    must(tenant(cast), {.method = "POST", .target = kRbac + "rolebindings", .body = of_role(i)});
  }
}

// --- Thousands of bindings for one who asks for what none of them allows.

void make_bindings(const Cast& cast) {
  constexpr int kMost = 20'000;  // more than fit
  make_many(tenant(cast), kMost, [](int i) {
    return Wire::Ask{
        .method = "POST",
        .target = kRbac + "roles",
        .body = fmt::format(R"({{"metadata":{{"name":"rules-{}"}},"rules":[{{"apiGroups":[""],)"
                            R"("resources":["pods"],"verbs":["get"]}}]}})",
                            i)};
  });
  make_many(tenant(cast), kMost / 4, [](int i) {
    return Wire::Ask{.method = "POST", .target = kRbac + "rolebindings", .body = of_role(i)};
  });
}
void ask_in_a_row(const Cast& cast, Run& run) {
  const std::string one = "GET " + kCore + "secrets HTTP/1.1\r\nHost: x\r\n\r\n";
  std::string many;
  while (many.size() < 16'000) many += one;
  while (!run.over()) {
    Wire wire(cast.server, {.client = &cast.nobody});
    wire.write(many);
    run.sent(many.size());
    for (std::size_t i = 0; i < many.size() / one.size() && !run.over(); ++i)
      run.answered(wire.read_reply().code, 0);
  }
}

// --- Deletions of large objects whose answers nobody reads.

void make_large_maps(const Cast& cast) {
  for (int i = 0; i < 200; ++i)
    must(tenant(cast), {.method = "POST",
                        .target = kMaps,
                        .body = large_map(fmt::format("large-{}", i), 1'000'000)});
}
void leave_deletions_unread(const Cast& cast, Run& run) {
  std::vector<std::unique_ptr<Http2Wire>> held;
  while (!run.over()) {
    if (held.size() < 3) {
      held.push_back(std::make_unique<Http2Wire>(
          cast.server, Wire::Options{.client = &cast.tenant, .receive_buffer = 4096}));
      for (int i = 0; i < 50; ++i) held.back()->ask("DELETE", kMaps + "?dryRun=All");
      held.back()->send();
      run.sent(5'000);
    }
    pause_ms(10);
  }
}

// --- A chain of groups, each the parent of the next, deleted as a whole.

void make_chain(const Cast& cast) {
  const auto of_chain = [](int i) {
    const std::string parent =
        i == 0 ? "" : fmt::format(R"(,"parentCompositePodGroupName":"link-{}")", i - 1);
    return Wire::Ask{
        .method = "POST",
        .target = kComposites,
        .body = fmt::format(
            R"({{"metadata":{{"name":"link-{}"}},"spec":{{"schedulingPolicy":{{"basic":{{}}}},"workloadRef":{{"workloadName":"w","templateName":"t"}}{}}}}})",
            i, parent)};
  };
  for (int i = 0; i < 3'000; ++i) must(tenant(cast), of_chain(i));
}
void delete_chain(const Cast& cast, Run& run) {
  Wire wire(cast.server, {.client = &cast.tenant});
  run.answered(wire.ask({.method = "DELETE", .target = kComposites}).code, 0);
  const auto is_gone = [&] {
    Wire reader(cast.server, {.client = &cast.server.admin});
    return reader.get(kComposites + "?limit=1").body.find(R"("items":[])") != std::string::npos;
  };
  for (int i = 0; i < 300 && !run.over(); ++i) {
    if (is_gone()) return run.end();
    pause_ms(200);
  }
  run.complain("the chain is still there after a minute");
  run.end();
}

}  // namespace

std::vector<Case> product_cases() {
  const auto label = [](int i) {
    return Wire::Ask{.method = "PATCH",
                     .target = kPods + "/sidecar",
                     .headers = of_type("application/merge-patch+json"),
                     .body = fmt::format(R"({{"metadata":{{"labels":{{"x":"{}"}}}}}})", i)};
  };
  return {{.name = "20 ReplicaSets of 1,000 pods of 1.3 MB that cannot be made",
           .who = "tenant",
           .attack = make_sets,
           .alone = true},
          {.name = "a sidecar of 4,000 resources before 900 init containers, patched",
           .who = "tenant",
           .prepare = make_pod_with_sidecar,
           .attack = repeated(tenant, label)},
          {.name = "defaults of 6,000 resources for 4,000 containers",
           .who = "tenant",
           .prepare = make_defaults,
           .attack = repeated(tenant,
                              always("POST", kPods, "application/json", pod_of_containers(4'000)))},
          {.name = "45,000 rules of a user, listed",
           .who = "nobody",
           .threads = 2,
           .prepare = make_rules,
           .attack = repeated(
               nobody, always("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                              "application/json", R"({"spec":{"namespace":"tenant"}})")),
           .alone = true},
          {.name = "a user of 5,000 bindings, asking in a row",
           .who = "nobody",
           .threads = 4,
           .prepare = make_bindings,
           .attack = ask_in_a_row,
           .alone = true},
          {.name = "deletions of 200 MB that are only tried, unread",
           .who = "tenant",
           .prepare = make_large_maps,
           .attack = leave_deletions_unread,
           .alone = true},
          {.name = "a chain of 3,000 composites, deleted",
           .who = "tenant",
           .prepare = make_chain,
           .attack = delete_chain,
           .ends = true}};
}

}  // namespace muster::attack
