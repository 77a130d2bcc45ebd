// What a namespace full of objects costs others.
#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "asks.h"
#include "bodies.h"
#include "cases.h"

namespace muster::attack {
namespace {

constexpr int kCrowd = 100'000;

const std::string kRbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/tenant/";
const std::string kBudgets = "/apis/policy/v1/namespaces/tenant/poddisruptionbudgets";

Asks maps() {
  return [](int i) {
    return Wire::Ask{
        .method = "POST", .target = kMaps, .body = large_map(fmt::format("many-{}", i), 10)};
  };
}
void make_maps(const Cast& cast) { make_many(tenant(cast), kCrowd, maps()); }

void delete_all(const Cast& cast, Run& run, const std::string& target) {
  Wire wire(cast.server, {.client = target == kMaps ? &cast.tenant : &cast.server.admin});
  const int code = wire.ask({.method = "DELETE", .target = target}).code;
  run.answered(code, 0);
  if (code >= 300 || code == 0) run.complain(fmt::format("the deletion got {}", code));
  const auto is_gone = [&] {
    Wire reader(cast.server, {.client = &cast.server.admin});
    return reader.get(kMaps + "?limit=1").body.find(R"("items":[])") != std::string::npos;
  };
  while (!run.over() && !is_gone()) pause_ms(200);
  run.end();
}

void make_roles(const Cast& cast) {
  make_many(tenant(cast), kCrowd / 2, [](int i) {
    return Wire::Ask{
        .method = "POST",
        .target = kRbac + "roles",
        .body = fmt::format(R"({{"metadata":{{"name":"r{}"}},"rules":[{{"apiGroups":[""],)"
                            R"("resources":["pods"],"verbs":["get"]}}]}})",
                            i)};
  });
  make_many(tenant(cast), kCrowd / 2, [](int i) {
    return Wire::Ask{
        .method = "POST",
        .target = kRbac + "rolebindings",
        .body = fmt::format(R"({{"metadata":{{"name":"b{}"}},"roleRef":{{"apiGroup":)"
                            R"("rbac.authorization.k8s.io","kind":"Role","name":"r{}"}},)"
                            R"("subjects":[{{"kind":"User","name":"tenant"}}]}})",
                            i, i)};
  });
}

Wire::Ask budget(int i, int requirements) {
  std::string expressions;
  for (int k = 0; k < requirements; ++k)
    expressions +=
        fmt::format(R"({}{{"key":"k{}","operator":"DoesNotExist"}})", k == 0 ? "" : ",", k);
  return {
      .method = "POST",
      .target = kBudgets,
      .body = fmt::format(R"({{"metadata":{{"name":"b{}"}},"spec":{{"minAvailable":1,"selector":{{)"
                          R"("matchLabels":{{"no":"pod"}},"matchExpressions":[{}]}}}}}})",
                          i, expressions)};
}
std::function<void(const Cast&)> budgets(int count, int requirements) {
  return [=](const Cast& cast) {
    make_many(tenant(cast), count, [=](int i) { return budget(i, requirements); });
  };
}

// Pods that are made, and evicted again and again: none of the budgets is theirs.
void evict(const Cast& cast, Run& run) {
  repeat(
      tenant(cast),
      [](int i) {
        const std::string name = fmt::format("evicted-{}", i / 2);
        if (i % 2 == 0)
          return Wire::Ask{
              .method = "POST",
              .target = kCore + "pods",
              .body = fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"nodeName":"none",)"
                                  R"("containers":[{{"name":"c","image":"i"}}]}}}})",
                                  name)};
        return Wire::Ask{.method = "POST",
                         .target = kCore + "pods/" + name + "/eviction",
                         .body = fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name)};
      },
      run);
}

Asks made(const std::string& target, const std::string& prefix, const std::string& spec) {
  return [=](int i) {
    return Wire::Ask{
        .method = "POST",
        .target = target,
        .body = fmt::format(R"({{"metadata":{{"name":"{}{}"}},"spec":{}}})", prefix, i, spec)};
  };
}

void make_pods(const Cast& cast, Run& run) {
  repeat(tenant(cast),
         made(kCore + "pods", "p",
              R"({"schedulingGates":[{"name":"a/b"}],"containers":[{"name":"c","image":"i",)"
              R"("resources":{"requests":{"cpu":"1m"}}}]})"),
         run);
}
void make_quotas(const Cast& cast) {
  make_many(tenant(cast), 1'000,
            made(kCore + "resourcequotas", "q", R"({"hard":{"pods":"100000","cpu":"10k"}})"));
}

}  // namespace

std::vector<Case> crowd_cases() {
  const auto role = [](int i) {
    return Wire::Ask{.method = "PATCH",
                     .target = kRbac + fmt::format("roles/r{}", i % 100),
                     .headers = of_type("application/merge-patch+json"),
                     .body = fmt::format(R"({{"metadata":{{"labels":{{"x":"{}"}}}}}})", i)};
  };
  return {{.name = "100,000 objects deleted in one request",
           .who = "tenant",
           .prepare = make_maps,
           .attack = [](const Cast& cast, Run& run) { delete_all(cast, run, kMaps); },
           .ends = true},
          {.name = "a namespace of 100,000 objects deleted",
           .who = "admin",
           .prepare = make_maps,
           .attack = [](const Cast& cast,
                        Run& run) { delete_all(cast, run, "/api/v1/namespaces/tenant"); },
           .ends = true},
          {.name = "Roles and bindings, as many as fit, changed",
           .who = "tenant",
           .threads = 4,
           .prepare = make_roles,
           .attack = repeated(tenant, role),
           .alone = true},
          {.name = "budgets, as many as fit, pods evicted",
           .who = "tenant",
           .threads = 2,
           .prepare = budgets(10'000, 0),
           .attack = evict,
           .alone = true},
          {.name = "budgets of 5,000 requirements, as many as fit, pods evicted",
           .who = "tenant",
           .threads = 2,
           .prepare = budgets(300, 5'000),
           .attack = evict,
           .alone = true},
          {.name = "quotas, as many as fit, pods created",
           .who = "tenant",
           .threads = 2,
           .prepare = make_quotas,
           .attack = make_pods,
           .alone = true},
          {.name = "Services, one after the other",
           .who = "tenant",
           .threads = 4,
           .attack =
               [n = std::make_shared<std::atomic<int>>(0)](const Cast& cast, Run& run) {
                 repeat(
                     tenant(cast),
                     [&](int) {
                       return made(kCore + "services", "s", R"({"ports":[{"port":80}]})")((*n)++);
                     },
                     run);
               },
           .alone = true}};
}

}  // namespace muster::attack
