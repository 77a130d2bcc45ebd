#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

// LeaderWorkerSets as their webhooks judge them.
namespace muster::api {
namespace {

constexpr std::string_view kGroup = "leaderworkerset.x-k8s.io";
constexpr std::string_view kKind = "LeaderWorkerSet";

// A set with these members of its spec and of its leaderWorkerTemplate.
std::string set_of(std::string_view spec, std::string_view group = "",
                   std::string_view metadata = R"("name":"l")") {
  std::string worker = pod_template();
  worker.replace(worker.find("template"), 8, "workerTemplate");
  return fmt::format(R"({{"metadata":{{{}}},"spec":{{{}{}"leaderWorkerTemplate":{{{}{}{}}}}}}})",
                     metadata, spec, spec.empty() ? "" : ",", worker, group.empty() ? "" : ",",
                     group);
}
std::string rolling(std::string_view replicas, std::string_view members) {
  return set_of(
      fmt::format(R"("replicas":{},"rolloutStrategy":{{"rollingUpdateConfiguration":{{{}}}}})",
                  replicas, members));
}

struct Case {
  std::string text;
  Sentences want;
};
void check(std::span<const Case> cases) {
  for (const Case& c : cases) expect({kGroup, kKind, c.text, c.want});
}

TEST(LwsRollout, MakesRoomForAGroupAtLeast) {
  const std::string path = "spec.rolloutStrategy.rollingUpdateConfiguration.";
  const auto stuck = [&](std::string_view shown) {
    return Sentences{fmt::format(
        "{}maxUnavailable: Invalid value: {}: must not be 0 when `maxSurge` is 0", path, shown)};
  };
  const Case cases[] = {
      {rolling("3", R"("maxUnavailable":0,"maxSurge":0)"), stuck("0")},
      {rolling("0", R"("maxUnavailable":0,"maxSurge":0)"), {}},
      {rolling("3", R"("maxUnavailable":0,"maxSurge":1)"), {}},
      {rolling("10", R"("maxUnavailable":"10%")"), {}},
      {rolling("9", R"("maxUnavailable":"10%")"), stuck("\"10%\"")},
      {rolling("9", R"("maxUnavailable":"0%","maxSurge":"1%")"), {}},
      {rolling("3", R"("maxUnavailable":"101%","maxSurge":"101%","partition":-1)"),
       {path + "maxUnavailable: Invalid value: \"101%\": must not be greater than 100%",
        path + "maxSurge: Invalid value: \"101%\": must not be greater than 100%",
        path + "partition: Invalid value: -1: must be greater than or equal to 0"}},
      {rolling("3", R"("maxUnavailable":-1)"),
       {path + "maxUnavailable: Invalid value: -1: must be greater than or equal to 0"}},
  };
  check(cases);
  const Json made = prepared(*find_kind(kGroup, kKind), set_of(""));
  EXPECT_EQ(to_text(*find_path(made, "spec.rolloutStrategy.rollingUpdateConfiguration")),
            R"({"partition":0,"maxUnavailable":1,"maxSurge":0})");
  const Json own = prepared(*find_kind(kGroup, kKind),
                            rolling("3", R"("partition":1,"maxUnavailable":2,"maxSurge":3)"));
  EXPECT_EQ(to_text(*find_path(own, "spec.rolloutStrategy.rollingUpdateConfiguration")),
            R"({"partition":1,"maxUnavailable":2,"maxSurge":3})");
}

TEST(LwsSizes, AreCountedTogether) {
  const Case cases[] = {
      {set_of(R"("replicas":0)"), {}},
      {set_of(R"("replicas":-1)"),
       {"spec.replicas: Invalid value: -1: replicas must be equal or greater than 0"}},
      {set_of(R"("replicas":2)", R"("size":1073741823)"), {}},
      {set_of(R"("replicas":2)", R"("size":1073741824)"),
       {"spec.replicas: Invalid value: 2: the product of replicas and worker replicas must not "
        "exceed 2147483647"}},
      {set_of("", "", R"("name":"1")"),
       {"metadata.name: Invalid value: \"1\": a DNS-1035 label must consist of lower case "
        "alphanumeric characters or '-', start with an alphabetic character, and end with an "
        "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
        "'[a-z]([-a-z0-9]*[a-z0-9])?')"}},
  };
  check(cases);
}

TEST(LwsSubgroups, DivideTheGroup) {
  const std::string at = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize: Invalid value: ";
  const auto parts = [](int size, int part, std::string_view type = "LeaderWorker") {
    return set_of(
        "",
        fmt::format(R"("size":{},"subGroupPolicy":{{"subGroupSize":{},"subGroupPolicyType":"{}"}})",
                    size, part, type));
  };
  const Case cases[] = {
      {parts(4, 4), {}},
      {parts(4, 1), {}},
      {parts(5, 4), {}},
      {parts(5, 4, "LeaderExcluded"), {}},
      {parts(4, 0), {at + "0: subGroupSize must be equal or greater than 1"}},
      {set_of("", R"("size":4,"subGroupPolicy":{})"),
       {at + "0: subGroupSize must be equal or greater than 1"}},
      {parts(4, 2, "LeaderExcluded"),
       {at + "2: size-1 must be divisible by subGroupSize when using LeaderExcluded"}},
      {set_of(
           "", "",
           R"("name":"l","annotations":{"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology":"t"})"),
       {"metadata.annotations.leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology: Invalid "
        "value: \"t\": cannot have subgroup-exclusive-topology without subGroupSize set"}},
      {set_of(
           "", R"("size":4,"subGroupPolicy":{"subGroupSize":2})",
           R"("name":"l","annotations":{"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology":"t"})"),
       {}},
  };
  check(cases);
  expect({kGroup, kKind, parts(4, 4), {}, parts(4, 4)});
  expect({kGroup,
          kKind,
          parts(5, 4, "LeaderExcluded"),
          {"spec.leaderWorkerTemplate.SubGroupPolicy.subGroupPolicyType: Invalid value: "
           "\"LeaderExcluded\": field is immutable"},
          parts(5, 4)});
  expect({kGroup, kKind, set_of(R"("replicas":5)"), {}, set_of("")});
}

TEST(LwsTemplates, MountTheClaimsOfTheSet) {
  const auto with = [](std::string_view claim) {
    std::string text = set_of(
        "", fmt::format(R"("volumeClaimTemplates":[{{"metadata":{{"name":"{}"}},"spec":{{}}}}])",
                        claim));
    const std::string_view image = R"("image":"i")";
    text.replace(text.find(image), image.size(),
                 R"("image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}])");
    return text;
  };
  const Case cases[] = {
      {with("data"), {}},
      {with("other"),
       {"spec.leaderWorkerTemplate.workerTemplate.spec.containers[0].volumeMounts[0].name: Not "
        "found: \"data\""}},
      {set_of("", R"("leaderTemplate":{"spec":{"containers":[]}})"),
       {"spec.leaderWorkerTemplate.leaderTemplate.spec.containers: Required value"}},
  };
  check(cases);
  const Json made = prepared(
      *find_kind(kGroup, kKind),
      set_of(
          R"("networkConfig":{"subdomainPolicy":"UniquePerReplica"})",
          R"("leaderTemplate":{"spec":{"containers":[{"name":"c","image":"i:1"}]}},"restartPolicy":"RecreateGroupOnPodRestart")"));
  EXPECT_EQ(find_path(made, "spec.networkConfig.subdomainPolicy")->get_string(),
            "UniquePerReplica");
  EXPECT_EQ(find_path(made, "spec.leaderWorkerTemplate.restartPolicy")->get_string(),
            "RecreateGroupOnPodRestart");
  for (const auto& [path, policy] :
       {std::pair{"spec.leaderWorkerTemplate.leaderTemplate.spec.containers", "IfNotPresent"},
        std::pair{"spec.leaderWorkerTemplate.workerTemplate.spec.containers", "Always"}})
    EXPECT_EQ(find_string(find_path(made, path)->get_array()[0], "imagePullPolicy"), policy);
}

}  // namespace
}  // namespace muster::api
