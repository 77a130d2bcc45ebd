#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

// JobSets rule by rule, and what updates may change.
namespace muster::api {
namespace {

constexpr std::string_view kGroup = "jobset.x-k8s.io";
constexpr std::string_view kJobSet = "JobSet";

// A replicated job of this name; `members` of it, `job` of the spec of its Jobs.
std::string replicated(std::string_view name, std::string_view members = "",
                       std::string_view job = "") {
  return fmt::format(R"({{"name":"{}","template":{{"spec":{{{}{}{}}}}}{}{}}})", name, job,
                     job.empty() ? "" : ",", pod_template(), members.empty() ? "" : ",", members);
}

// A set of these replicated jobs; `members` of its spec.
std::string set_of(std::string_view jobs, std::string_view members = "",
                   std::string_view name = "js") {
  return fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"replicatedJobs":[{}]{}{}}}}})", name,
                     jobs, members.empty() ? "" : ",", members);
}

struct Case {
  std::string text;
  Sentences want;
};
void check(std::span<const Case> cases) {
  for (const Case& c : cases) expect({kGroup, kJobSet, c.text, c.want});
}

const std::string kBad1035 =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const std::string kNotNegative = "must be greater than or equal to 0";

TEST(JobSetJobs, HaveNamesFromWhichOthersAreMade) {
  const std::string too_long =
      ": JobSet name is too long, job names generated for this JobSet will exceed 63 characters";
  const std::string pods_too_long =
      ": JobSet name is too long, pod names generated for this JobSet will exceed 63 characters";
  // js-<name>-0
  const std::string longest(58, 'a');
  // js-<name>-0-<pod>-abcde
  const std::string longest_of_pods(50, 'a');
  const Case cases[] = {
      {set_of(replicated("")), {"spec.replicatedJobs[0].name: Required value"}},
      {set_of(replicated(longest, "", R"("completionMode":"NonIndexed")")), {}},
      {set_of(replicated(longest + "a", "", R"("completionMode":"NonIndexed")")),
       {"spec.replicatedJobs[0].name: Invalid value: \"" + longest + "a\"" + too_long}},
      {set_of(replicated(longest, R"("replicas":11)", R"("completionMode":"NonIndexed")")),
       {"spec.replicatedJobs[0].name: Invalid value: \"" + longest + "\"" + too_long}},
      {set_of(replicated(longest_of_pods, "", R"("completions":10)")), {}},
      {set_of(replicated(longest_of_pods, "", R"("completions":11)")),
       {"spec.replicatedJobs[0].name: Invalid value: \"" + longest_of_pods + "\"" + pods_too_long}},
      {set_of(replicated("A")), {"spec.replicatedJobs[0].name: Invalid value: \"A\": " + kBad1035}},
      {set_of(replicated("a") + "," + replicated("a")),
       {"spec.replicatedJobs[1].name: Duplicate value: \"a\""}},
      {set_of(replicated("a", R"("groupName":"g")")), {}},
      {set_of(replicated("a", R"("groupName":"1")")),
       {"spec.replicatedJobs[0].groupName: Invalid value: \"1\": " + kBad1035}},
  };
  check(cases);
}

TEST(JobSetJobs, HaveNumbersThatFit) {
  const Case cases[] = {
      {set_of(replicated("a", R"("replicas":0)")), {}},
      {set_of(replicated("a", R"("replicas":-1)",
                         R"("parallelism":-1,"completions":-1,"backoffLimit":-1)")),
       {"spec.replicatedJobs[0].replicas: Invalid value: -1: " + kNotNegative,
        "spec.replicatedJobs[0].template.spec.parallelism: Invalid value: -1: " + kNotNegative,
        "spec.replicatedJobs[0].template.spec.completions: Invalid value: -1: " + kNotNegative,
        "spec.replicatedJobs[0].template.spec.backoffLimit: Invalid value: -1: " + kNotNegative}},
      {set_of(replicated("a", R"("replicas":2)", R"("parallelism":1073741823)")), {}},
      {set_of(replicated("a", R"("replicas":2)", R"("parallelism":1073741824)")),
       {"spec.replicatedJobs[0].replicas: Invalid value: 2: the product of replicas and "
        "parallelism must not exceed 2147483647 for replicatedJob 'a'"}},
      {set_of(replicated("a"), R"("ttlSecondsAfterFinished":-1)"),
       {"spec.ttlSecondsAfterFinished: Invalid value: -1: " + kNotNegative}},
  };
  check(cases);
}

TEST(JobSetJobs, DependOnThoseBefore) {
  constexpr std::string_view kOnA = R"("dependsOn":[{"name":"a","status":"Ready"}])";
  const Case cases[] = {
      {set_of(replicated("a") + "," + replicated("b", kOnA)), {}},
      {set_of(replicated("a") + "," + replicated("b") + "," + replicated("c", kOnA)), {}},
      {set_of(replicated("a", kOnA)),
       {"spec.replicatedJobs[0].dependsOn: Forbidden: DependsOn can't be set for the first "
        "ReplicatedJob"}},
      {set_of(replicated("a") + "," +
              replicated(
                  "b",
                  R"("dependsOn":[{"name":"a","status":"Ready"},{"name":"c","status":"Ready"}])") +
              "," + replicated("c")),
       {"spec.replicatedJobs[1].dependsOn[1].name: Invalid value: \"c\": replicatedJob: b cannot "
        "depend on replicatedJob: c"}},
      {set_of(replicated("a") + "," + replicated("b", kOnA),
              R"("startupPolicy":{"startupPolicyOrder":"AnyOrder"})"),
       {}},
      {set_of(replicated("a"), R"("startupPolicy":{"startupPolicyOrder":"InOrder"})"), {}},
      {set_of(replicated("a"), R"("startupPolicy":{"startupPolicyOrder":"Backwards"})"),
       {"spec.startupPolicy.startupPolicyOrder: Unsupported value: \"Backwards\": supported "
        "values: "
        "\"AnyOrder\", \"InOrder\""}},
  };
  check(cases);
}

TEST(JobSetNetwork, SubdomainsAreLabels) {
  const auto with = [](std::string_view subdomain) {
    return set_of(replicated("a"), fmt::format(R"("network":{{"subdomain":"{}"}})", subdomain));
  };
  const Case cases[] = {
      {with("s"), {}},
      {with(std::string(63, 's')), {}},
      {with(std::string(64, 's')),
       {"spec.network.subdomain: Invalid value: \"" + std::string(64, 's') +
        "\": .spec.network.subdomain is too long, must be less than 63 characters"}},
      {with("S"),
       {"spec.network.subdomain: Invalid value: \"S\": " + kBadSubdomain,
        "spec.network.subdomain: Invalid value: \"S\": " + kBad1035}},
  };
  check(cases);
}

TEST(JobSetFailurePolicy, RulesAreNamedAndKnow) {
  const auto rule = [](std::string_view members) {
    return set_of(replicated("a"), fmt::format(R"("failurePolicy":{{"rules":[{{{}}}]}})", members));
  };
  const std::string at = "spec.failurePolicy.rules[0]";
  const auto length = [](std::size_t bytes) {
    return fmt::format(
        ": invalid failure policy rule name of length {}, the rule name must be at least 1 "
        "characters long and at most 128 characters long",
        bytes);
  };
  const auto format = [](std::string_view name) {
    return fmt::format(
        ": invalid failure policy rule name '{}', a failure policy rule name must start with an "
        "alphabetic character, optionally followed by a string of alphanumeric characters or "
        "'_,:', and must end with an alphanumeric character or '_'",
        name);
  };
  const std::string longest(128, 'n');
  std::vector<Case> cases = {
      {rule(
           R"("action":"FailJobSet","targetReplicatedJobs":["a"],"onJobFailureReasons":["BackoffLimitExceeded",
            "DeadlineExceeded","FailedIndexes","MaxFailedIndexesExceeded","PodFailurePolicy"],
            "onJobFailureMessagePatterns":["^a.*b$"])"),
       {}},
      {rule(fmt::format(R"("action":"FailJobSet","name":"{}")", longest)), {}},
      {rule(fmt::format(R"("action":"FailJobSet","name":"{}n")", longest)),
       {at + ".name: Invalid value: \"" + longest + "n\"" + length(129)}},
      {set_of(
           replicated("a"),
           R"("failurePolicy":{"maxRestarts":-1,"rules":[{"name":"x","action":"FailJobSet"},{"name":"x","action":"FailJobSet"}]})"),
       {"spec.failurePolicy.maxRestarts: Invalid value: -1: " + kNotNegative,
        "spec.failurePolicy.rules[1].name: Duplicate value: \"x\""}},
      {rule(R"("action":"FailJobSet","onJobFailureMessagePatterns":["a(b"])"),
       {at + ".onJobFailureMessagePatterns[0]: Invalid value: \"a(b\": invalid job failure message "
             "pattern in failure policy is not a valid regular expression: error parsing regexp: "
             "missing ): a(b: `a(b`"}},
  };
  for (const std::string_view fine : {"a", "Z_", "a1", "a,b", "a:b_"})
    cases.push_back({rule(fmt::format(R"("action":"FailJobSet","name":"{}")", fine)), {}});
  for (const std::string_view odd : {"1", "_a", "a,", "a:", "a b", "a-b"})
    cases.push_back({rule(fmt::format(R"("action":"FailJobSet","name":"{}")", odd)),
                     {fmt::format("{}.name: Invalid value: \"{}\"{}", at, odd, format(odd))}});
  check(cases);
}

TEST(JobSetFailurePolicy, PatternsAreTwentyAtMost) {
  const auto with = [](int count) {
    std::string patterns = "\"x\"";
    for (int i = 1; i < count; ++i) patterns += ",\"x\"";
    return set_of(
        replicated("a"),
        fmt::format(
            R"("failurePolicy":{{"rules":[{{"action":"FailJobSet","onJobFailureMessagePatterns":[{}]}}]}})",
            patterns));
  };
  const Case cases[] = {
      {with(20), {}},
      {with(21),
       {"spec.failurePolicy.rules[0].onJobFailureMessagePatterns: Too many: 21: must have at most "
        "20 items"}},
  };
  check(cases);
}

TEST(JobSetFailurePolicy, SingleJobsRestartAmongAThousand) {
  const auto with = [](std::string_view action, std::string_view replicas) {
    return set_of(replicated("a", fmt::format(R"("replicas":{})", replicas)) + "," +
                      replicated("b", fmt::format(R"("replicas":{})", replicas)),
                  fmt::format(R"("failurePolicy":{{"rules":[{{"action":"{}"}}]}})", action));
  };
  const std::string too_many =
      "spec.failurePolicy.rules[0].action: Invalid value: \"RestartJob\": needs at most 1024 "
      "replicas of every replicatedJob";
  const Case cases[] = {
      {with("RestartJob", "1024"), {}},
      {with("RestartJob", "1025"), {too_many, too_many}},
      {with("RestartJobSet", "1025"), {}},
      {with("FailJobSet", "1025"), {}},
  };
  check(cases);
}

TEST(JobSetFailurePolicy, NothingRestartsInPlaceHere) {
  const auto with = [](std::string_view more) {
    return set_of(replicated("a"),
                  fmt::format(R"("failurePolicy":{{"restartStrategy":"InPlaceRestart"}}{})", more));
  };
  const Sentences refused{
      "spec.failurePolicy.restartStrategy: Forbidden: InPlaceRestart is not supported by this "
      "controller"};
  const Case cases[] = {
      {with(""), refused},
      {with(R"(,"managedBy":"jobset.sigs.k8s.io/jobset-controller")"), refused},
      {with(R"(,"managedBy":"a.b/c")"), {}},
      {set_of(replicated("a"), R"("failurePolicy":{"restartStrategy":"Recreate"})"), {}},
  };
  check(cases);
  expect({kGroup, kJobSet, with(""), {}, with("")});
}

TEST(JobSetCoordinator, IsAPodThatThereWillBe) {
  const auto with = [](std::string_view coordinator, std::string_view job = "") {
    return set_of(replicated("a", R"("replicas":2)", job),
                  fmt::format(R"("coordinator":{{"replicatedJob":"a"{}}})", coordinator));
  };
  const Case cases[] = {
      {with(R"(,"jobIndex":1,"podIndex":3)", R"("completions":4)"), {}},
      {with(R"(,"jobIndex":2)", R"("completions":4)"),
       {"spec.coordinator.jobIndex: Invalid value: 2: coordinator job index 2 is invalid for "
        "replicatedJob a"}},
      {with(R"(,"jobIndex":-1)", R"("completions":4)"),
       {"spec.coordinator.jobIndex: Invalid value: -1: coordinator job index -1 is invalid for "
        "replicatedJob a"}},
      {with(R"(,"podIndex":4)", R"("completions":4)"),
       {"spec.coordinator.podIndex: Invalid value: 4: coordinator pod index 4 is invalid for "
        "replicatedJob a job index 0"}},
      {with(R"(,"podIndex":-1)", R"("completions":4)"),
       {"spec.coordinator.podIndex: Invalid value: -1: coordinator pod index -1 is invalid for "
        "replicatedJob a job index 0"}},
      {with("", R"("completionMode":"NonIndexed")"),
       {"spec.coordinator: Invalid value: {\"replicatedJob\":\"a\"}: job for coordinator pod must "
        "be indexed completion mode"}},
  };
  check(cases);
}

TEST(JobSetClaims, AreVolumesOfItsPods) {
  const auto with = [](std::string_view templates, std::string_view mount) {
    std::string job = replicated("a");
    const std::string_view image = R"("image":"i")";
    job.replace(
        job.find(image), image.size(),
        fmt::format(R"("image":"i","volumeMounts":[{{"name":"{}","mountPath":"/d"}}])", mount));
    return set_of(job, fmt::format(R"("volumeClaimPolicies":[{{"templates":[{}]}}])", templates));
  };
  constexpr std::string_view kData = R"({"metadata":{"name":"data"},"spec":{}})";
  const std::string at = "spec.volumeClaimPolicies[0].templates";
  const Case cases[] = {
      {with(kData, "data"), {}},
      {with(kData, "other"),
       {"spec.replicatedJobs[0].template.spec.template.spec.containers[0].volumeMounts[0].name: "
        "Not "
        "found: \"other\""}},
      {with(std::string(kData) + R"(,{"metadata":{"name":"data"}},{"metadata":{"name":"1"}},{})",
            "data"),
       {at + "[1].metadata.name: Duplicate value: \"data\"",
        at + "[2].metadata.name: Invalid value: \"1\": " + kBad1035,
        at + "[3].metadata.name: Required value"}},
  };
  check(cases);
}

TEST(JobSetUpdate, SizesMayChangeUntilTheEnd) {
  const auto sized = [](std::string_view numbers, std::string_view status = "") {
    std::string text = set_of(replicated("a", "", numbers));
    if (!status.empty())
      text.insert(
          text.size() - 1,
          fmt::format(
              R"(,"status":{{"conditions":[{{"type":"{}","status":"True","reason":"R","message":"",)"
              R"("lastTransitionTime":"2026-01-01T00:00:00Z"}}]}})",
              status));
    return text;
  };
  const auto errors_of = [](const std::string& now, const std::string& old) {
    const Kind& kind = *find_kind(kGroup, kJobSet);
    const Json before = prepared(kind, old);
    FieldErrors errors;
    find_kind_rules(kind)->validate(prepared(kind, now), &before, errors);
    return errors.size();
  };
  const std::string four = R"("parallelism":4,"completions":4)";
  const std::string six = R"("parallelism":6,"completions":6)";
  EXPECT_EQ(errors_of(sized(six), sized(four)), 0U);
  EXPECT_EQ(errors_of(sized(R"("parallelism":4,"completions":6)"), sized(four)), 1U);
  EXPECT_EQ(errors_of(sized(six), sized(four, "Suspended")), 0U);
  EXPECT_EQ(errors_of(sized(six), sized(four, "Completed")), 1U);
  EXPECT_EQ(errors_of(sized(six), sized(four, "Failed")), 1U);
  EXPECT_EQ(errors_of(sized(R"("completionMode":"NonIndexed","parallelism":6,"completions":6)"),
                      sized(R"("completionMode":"NonIndexed","parallelism":4,"completions":4)")),
            1U);
  EXPECT_EQ(errors_of(sized(R"("parallelism":0,"completions":0)"), sized(four)), 1U);
}

TEST(JobSetUpdate, ASuspendedSetMayMove) {
  const auto placed = [](std::string_view pod, bool suspend) {
    std::string job = replicated("a");
    const std::string_view spec = R"("spec":{"containers")";
    job.replace(job.find(spec), spec.size(), fmt::format(R"("spec":{{{}"containers")", pod));
    return set_of(job, suspend ? R"("suspend":true)" : R"("suspend":false)");
  };
  const auto fine = [](const std::string& now, const std::string& old) {
    const Kind& kind = *find_kind(kGroup, kJobSet);
    const Json before = prepared(kind, old);
    FieldErrors errors;
    find_kind_rules(kind)->validate(prepared(kind, now), &before, errors);
    return errors.empty();
  };
  for (const std::string_view pod :
       {R"("nodeSelector":{"a":"b"},)", R"("tolerations":[{"operator":"Exists"}],)",
        R"("schedulingGates":[{"name":"g"}],)"}) {
    EXPECT_TRUE(fine(placed(pod, true), placed("", true))) << pod;
    EXPECT_TRUE(fine(placed(pod, false), placed("", true))) << "as it is resumed";
    EXPECT_TRUE(fine(placed(pod, true), placed("", false))) << "as it is suspended";
    EXPECT_FALSE(fine(placed(pod, false), placed("", false))) << pod;
  }
  EXPECT_FALSE(fine(placed(R"("hostname":"h",)", true), placed("", true)));
}

TEST(JobSetUpdate, PoliciesStay) {
  const std::string plain = set_of(replicated("a"));
  const Case cases[] = {
      {R"("network":{"subdomain":"s"})", {"spec.network: Invalid value: Value is immutable"}},
      {R"("successPolicy":{"operator":"Any"})",
       {"spec.successPolicy: Invalid value: Value is immutable"}},
      {R"("failurePolicy":{"maxRestarts":1})",
       {"spec.failurePolicy: Invalid value: Value is immutable"}},
      {R"("startupPolicy":{"startupPolicyOrder":"InOrder"})",
       {"spec.startupPolicy: Invalid value: Value is immutable"}},
      {R"("volumeClaimPolicies":[{"templates":[{"metadata":{"name":"d"},"spec":{}}]}])",
       {"spec.volumeClaimPolicies: Invalid value: Value is immutable"}},
      {R"("managedBy":"a.b/c")", {"spec.managedBy: Invalid value: \"a.b/c\": field is immutable"}},
      {R"("suspend":true,"ttlSecondsAfterFinished":5)", {}},
  };
  for (const Case& c : cases)
    expect({kGroup, kJobSet, set_of(replicated("a"), c.text), c.want, plain});
}

}  // namespace
}  // namespace muster::api
