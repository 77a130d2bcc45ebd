#include <fmt/format.h>

#include "api/decode.h"
#include "api/validation/job.h"
#include "api/validation/validation_testing.h"

// The rules of Jobs at their bounds, and what updates may change.
namespace muster::api {
namespace {

// A Job as the server would hand it to validation; `members` of its spec, `pod` of its pod's.
Json job(std::string_view members = "", std::string_view pod = R"("restartPolicy":"Never")",
         std::string_view metadata = "") {
  const schema::Message& message = schema::message("batch/v1", "Job");
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"j","namespace":"n","uid":"u1"{}}},"spec":{{)"
      R"("template":{{"spec":{{"initContainers":[{{"name":"i","image":"i"}}],"containers":[{{"name":"c","image":"i"}}]{}{}}}}}{}{}}}}})",
      metadata, pod.empty() ? "" : ",", pod, members.empty() ? "" : ",", members);
  auto decoded = decode(message, {parse_json(text)->value, {}});
  EXPECT_TRUE(decoded) << text << (decoded ? "" : decoded.error().message);
  if (!decoded) return {};
  EXPECT_TRUE(decoded->unknown.empty()) << decoded->unknown.front();
  apply_defaults(message, decoded->document);
  default_job(decoded->document.get_object());
  select_pods_of_job(decoded->document);
  return decoded->document;
}

Sentences told(const FieldErrors& errors) { return sentences(errors); }

struct Case {
  Json job;
  Sentences want;
};
void check(std::span<const Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(told(validate_job(c.job, {})), c.want) << to_text(c.job);
}

constexpr std::string_view kIndexed = R"("completionMode":"Indexed","completions":4)";
const std::string kNotNegative = "must be greater than or equal to 0";

TEST(JobNumbers, AreNotNegative) {
  for (const std::string_view member : {"parallelism", "completions", "activeDeadlineSeconds",
                                        "backoffLimit", "ttlSecondsAfterFinished"}) {
    EXPECT_EQ(told(validate_job(job(fmt::format(R"("{}":-1)", member)), {})),
              Sentences{fmt::format("spec.{}: Invalid value: -1: {}", member, kNotNegative)});
    EXPECT_EQ(told(validate_job(job(fmt::format(R"("{}":0)", member)), {})), Sentences{}) << member;
  }
  EXPECT_EQ(
      told(validate_job(
          job(std::string(kIndexed) + R"(,"backoffLimitPerIndex":-1,"maxFailedIndexes":-1)"), {})),
      (Sentences{"spec.backoffLimitPerIndex: Invalid value: -1: " + kNotNegative,
                 "spec.maxFailedIndexes: Invalid value: -1: " + kNotNegative}));
}

TEST(JobNumbers, OfIndexesFitTogether) {
  const Case cases[] = {
      {job(R"("completionMode":"Indexed","completions":4,"backoffLimitPerIndex":0,"maxFailedIndexes":4)"),
       {}},
      {job(R"("completionMode":"Indexed","completions":200000,"maxFailedIndexes":100001,"backoffLimitPerIndex":1)"),
       {"spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000",
        "spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 10000 when "
        "completions are above 100000 and used with backoff limit per index"}},
      {job(R"("completionMode":"Indexed","completions":200000)"), {}},
      {job(R"("completionMode":"Indexed","completions":0)"), {}},
      {job(R"("completionMode":"NonIndexed")"), {}},
  };
  check(cases);
}

TEST(JobPods, RestartAndReplacePoliciesGoWithFailurePolicies) {
  constexpr std::string_view kPolicy = R"("podFailurePolicy":{"rules":[]})";
  const Case cases[] = {
      {job("", R"("restartPolicy":"OnFailure")"), {}},
      {job("", R"("restartPolicy":"Always")"),
       {"spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
        "\"Never\""}},
      {job(R"("podReplacementPolicy":"Failed")"), {}},
      {job(R"("podReplacementPolicy":"TerminatingOrFailed")"), {}},
      {job(R"("podReplacementPolicy":"Often")"),
       {"spec.podReplacementPolicy: Unsupported value: \"Often\": supported values: \"Failed\", "
        "\"TerminatingOrFailed\""}},
      {job(std::string(kPolicy) + R"(,"podReplacementPolicy":"TerminatingOrFailed")"),
       {"spec.podReplacementPolicy: Unsupported value: \"TerminatingOrFailed\": supported values: "
        "\"Failed\""}},
      {job(kPolicy), {}},
  };
  check(cases);
}

TEST(JobManager, IsADomainAndAPath) {
  const std::string not_a_path = ": must be a domain-prefixed path (such as \"acme.io/foo\")";
  const std::string longest = "acme.io/" + std::string(55, 'a');
  const Case cases[] = {
      {job(R"("managedBy":"acme.io/foo/bar")"), {}},
      {job(R"("managedBy":"acme.io/")"),
       {"spec.managedBy: Invalid value: \"acme.io/\"" + not_a_path}},
      {job(R"("managedBy":"Acme/foo")"),
       {"spec.managedBy: Invalid value: \"Acme/foo\"" + not_a_path}},
      {job(R"("managedBy":"acme.io/a b")"),
       {"spec.managedBy: Invalid value: \"acme.io/a b\"" + not_a_path}},
      {job(fmt::format(R"("managedBy":"{}")", longest)), {}},
      {job(fmt::format(R"("managedBy":"{}a")", longest)),
       {"spec.managedBy: Too long: may not be more than 63 bytes"}},
  };
  check(cases);
}

TEST(JobFailurePolicy, RulesSayOneThingEach) {
  const auto rule = [](std::string_view text) {
    return job(fmt::format(R"("podFailurePolicy":{{"rules":[{}]}})", text));
  };
  const auto codes = [&](std::string_view text) {
    return rule(fmt::format(R"({{"action":"Ignore","onExitCodes":{{"operator":{}}}}})", text));
  };
  const std::string at = "spec.podFailurePolicy.rules[0]";
  const Case cases[] = {
      {codes(R"("In","values":[1],"containerName":"c")"), {}},
      {codes(R"("NotIn","values":[0,1,1000],"containerName":"i")"), {}},
      {codes(R"("In","values":[1],"containerName":"d")"),
       {at + ".onExitCodes.containerName: Invalid value: \"d\": must be one of the container or "
             "initContainer names in the pod template"}},
      {codes(R"("Near","values":[1])"),
       {at + ".onExitCodes.operator: Unsupported value: \"Near\": supported values: \"In\", "
             "\"NotIn\""}},
      {codes(R"("In","values":[])"),
       {at + ".onExitCodes.values: Invalid value: []: at least one value is required"}},
      {codes(R"("In","values":[3,3])"), {at + ".onExitCodes.values[1]: Duplicate value: 3"}},
      {rule(
           R"({"action":"Count","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]})"),
       {}},
      {rule(R"({"action":"Stop","onPodConditions":[{"type":"-","status":"Maybe"}]})"),
       {at + ".action: Unsupported value: \"Stop\": supported values: \"Count\", \"FailIndex\", "
             "\"FailJob\", \"Ignore\"",
        at + ".onPodConditions[0].type: Invalid value: \"-\": " + kBadNamePart,
        at + ".onPodConditions[0].status: Unsupported value: \"Maybe\": supported values: "
             "\"False\", \"True\", \"Unknown\""}},
      {rule(R"({"action":"Count","onExitCodes":{"operator":"In","values":[1]},
                "onPodConditions":[{"type":"a","status":"True"}]})"),
       {at + ": Invalid value: specifying both OnExitCodes and OnPodConditions is not supported"}},
      {job(std::string(kIndexed) +
           R"(,"backoffLimitPerIndex":1,"podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"In","values":[1]}}]})"),
       {}},
  };
  check(cases);
}

TEST(JobFailurePolicy, ListsHaveTheirLimits) {
  const auto repeated = [](std::string_view item, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out.append(i == 0 ? "" : ",").append(item);
    return out;
  };
  const auto errors_of = [](const std::string& rules) {
    return told(
        validate_job(job(fmt::format(R"("podFailurePolicy":{{"rules":[{}]}})", rules)), {}));
  };
  constexpr std::string_view kRule =
      R"({"action":"Count","onPodConditions":[{"type":"a","status":"True"}]})";
  EXPECT_EQ(errors_of(repeated(kRule, 20)), Sentences{});
  EXPECT_EQ(errors_of(repeated(kRule, 21)),
            Sentences{"spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items"});
  const auto conditions = [&](std::size_t count) {
    return fmt::format(R"({{"action":"Count","onPodConditions":[{}]}})",
                       repeated(R"({"type":"a","status":"True"})", count));
  };
  EXPECT_EQ(errors_of(conditions(20)), Sentences{});
  EXPECT_EQ(errors_of(conditions(21)),
            Sentences{"spec.podFailurePolicy.rules[0].onPodConditions: Too many: 21: must have at "
                      "most 20 items"});
  const auto codes = [](std::size_t count) {
    std::string values = "1";
    for (std::size_t i = 2; i <= count; ++i) values += fmt::format(",{}", i);
    return fmt::format(R"({{"action":"Count","onExitCodes":{{"operator":"In","values":[{}]}}}})",
                       values);
  };
  EXPECT_EQ(errors_of(codes(255)), Sentences{});
  EXPECT_EQ(errors_of(codes(256)),
            Sentences{"spec.podFailurePolicy.rules[0].onExitCodes.values: Too many: 256: must have "
                      "at most 255 items"});
}

TEST(JobSuccessPolicy, CountsWhatThereIs) {
  const auto errors_of = [](std::string_view rules) {
    Sentences out;
    constexpr std::string_view kPrefix = "spec.successPolicy.rules";
    for (const std::string& sentence : told(validate_job(
             job(fmt::format(R"({},"successPolicy":{{"rules":[{}]}})", kIndexed, rules)), {})))
      out.push_back(sentence.starts_with(kPrefix) ? sentence.substr(kPrefix.size()) : sentence);
    return out;
  };
  EXPECT_EQ(errors_of(R"({"succeededCount":4})"), Sentences{});
  EXPECT_EQ(errors_of(R"({"succeededCount":0})"), Sentences{});
  EXPECT_EQ(errors_of(R"({"succeededIndexes":"0-3","succeededCount":4})"), Sentences{});
  EXPECT_EQ(errors_of(R"({"succeededIndexes":"+1"})"), Sentences{});
  EXPECT_EQ(errors_of(R"({"succeededIndexes":"0,2-3","succeededCount":3})"), Sentences{});
  EXPECT_EQ(errors_of(R"({"succeededIndexes":"4"})"),
            Sentences{"[0].succeededIndexes: Invalid value: \"4\": error parsing succeededIndexes: "
                      "too large index: \"4\""});
  EXPECT_EQ(errors_of(R"({"succeededIndexes":"1-1"})"),
            Sentences{"[0].succeededIndexes: Invalid value: \"1-1\": error parsing "
                      "succeededIndexes: non-increasing order, previous: 1, current: 1"});
  EXPECT_EQ(errors_of(R"({"succeededIndexes":"1,1"})"),
            Sentences{"[0].succeededIndexes: Invalid value: \"1,1\": error parsing "
                      "succeededIndexes: non-increasing order, previous: 1, current: 1"});
  EXPECT_EQ(errors_of(R"({"succeededIndexes":"0-2,1"})"),
            Sentences{"[0].succeededIndexes: Invalid value: \"0-2,1\": error parsing "
                      "succeededIndexes: non-increasing order, previous: 2, current: 1"});
  EXPECT_EQ(errors_of(R"({"succeededCount":-1},{},{"succeededCount":5})"),
            (Sentences{"[0].succeededCount: Invalid value: -1: " + kNotNegative,
                       "[1]: Required value: at least one of succeededCount or succeededIndexes "
                       "must be specified",
                       "[2].succeededCount: Invalid value: 5: must be less than or equal to 4 (the "
                       "number of specified completions)"}));
  EXPECT_EQ(errors_of(""),
            Sentences{": Required value: at least one rules must be specified when the "
                      "successPolicy is specified"});
  std::string many = R"({"succeededCount":1})";
  for (int i = 1; i < 20; ++i) many += R"(,{"succeededCount":1})";
  EXPECT_EQ(errors_of(many), Sentences{});
  EXPECT_EQ(errors_of(many + R"(,{"succeededCount":1})"),
            Sentences{": Too many: 21: must have at most 20 items"});
}

TEST(JobSuccessPolicy, OfAJobWithoutIndexesIsNotLookedInto) {
  EXPECT_EQ(told(validate_job(job(R"("successPolicy":{"rules":[{"succeededCount":9},{}]})"), {})),
            Sentences{"spec.successPolicy: Invalid value: {\"rules\":[{\"succeededCount\":9},{}]}: "
                      "requires indexed completion mode"});
}

TEST(JobSelector, IsTheServersUnlessManual) {
  Json labelled = job();
  const std::string at = "spec.template.metadata.labels";
  ensure_object(ensure_object(labelled.get_object()["spec"].get_object()["template"].get_object(),
                              "metadata"),
                "labels")["job-name"] = "other";
  EXPECT_EQ(
      told(validate_job(labelled, {})),
      Sentences{at +
                "[job-name]: Invalid value: {\"batch.kubernetes.io/controller-uid\":\"u1\","
                "\"batch.kubernetes.io/job-name\":\"j\",\"controller-uid\":\"u1\",\"job-name\":"
                "\"other\"}: must be 'j'"});
  ensure_object(ensure_object(labelled.get_object()["spec"].get_object()["template"].get_object(),
                              "metadata"),
                "labels")
      .erase("job-name");
  EXPECT_EQ(told(validate_job(labelled, {})),
            Sentences{at + "[job-name]: Required value: must be 'j'"});
  Json manual = job(R"("manualSelector":true,"selector":{"matchLabels":{"a":"b"}})");
  EXPECT_EQ(told(validate_job(manual, {})),
            Sentences{at + ": Invalid value: null: `selector` does not match template `labels`"});
  ensure_object(
      ensure_object(manual.get_object()["spec"].get_object()["template"].get_object(), "metadata"),
      "labels")["a"] = "b";
  EXPECT_EQ(told(validate_job(manual, {})), Sentences{});
}

TEST(JobDefaults, LabelsAreThoseOfThePods) {
  const auto labels_of = [](std::string_view own) {
    Json made = document(fmt::format(
        R"({{"metadata":{{{}}},"spec":{{"template":{{"metadata":{{"labels":{{"a":"b"}}}}}}}}}})",
        own));
    default_job(made.get_object());
    return to_text(*find_path(made, "metadata.labels"));
  };
  EXPECT_EQ(labels_of(""), R"({"a":"b"})");
  EXPECT_EQ(labels_of(R"("labels":{})"), R"({"a":"b"})");
  EXPECT_EQ(labels_of(R"("labels":{"c":"d"})"), R"({"c":"d"})");
  EXPECT_EQ(find_path(job(), "metadata.labels"), nullptr) << "the template had none of its own";
}

TEST(JobUpdate, PoliciesStay) {
  const std::string base(kIndexed);
  const Json plain = job(base);
  for (
      const std::string_view member :
      {R"("podFailurePolicy":{"rules":[{"action":"Count","onExitCodes":{"operator":"In","values":[1]}}]})",
       R"("backoffLimitPerIndex":1)", R"("managedBy":"a.b/c")",
       R"("successPolicy":{"rules":[{"succeededCount":1}]})"}) {
    const auto errors = told(validate_job_update(job(base + "," + std::string(member)), plain, {}));
    ASSERT_EQ(errors.size(), 1U) << member;
    EXPECT_TRUE(errors[0].ends_with(": field is immutable")) << errors[0];
  }
  EXPECT_EQ(told(validate_job_update(job(R"("completions":4)"), plain, {})),
            Sentences{"spec.completionMode: Invalid value: \"NonIndexed\": field is immutable"});
  Json elsewhere = plain;
  ensure_object(elsewhere.get_object()["spec"].get_object(), "selector")["matchLabels"] =
      JsonObject{{"job-name", "j"}};
  EXPECT_EQ(told(validate_job_update(elsewhere, plain, {})),
            Sentences{"spec.selector: Invalid value: {\"matchLabels\":{\"job-name\":\"j\"}}: field "
                      "is immutable"});
}

TEST(JobUpdate, OfASuspendedTemplateOnlyThePlaceMoves) {
  const Json old = job(R"("suspend":true)", R"("restartPolicy":"Never","nodeSelector":{"a":"b"})");
  const auto refused = [&](std::string_view pod) {
    return told(validate_job_update(job(R"("suspend":true)", pod), old, {})).size();
  };
  EXPECT_EQ(refused(R"("restartPolicy":"Never","tolerations":[{"operator":"Exists"}])"), 0U);
  EXPECT_EQ(refused(R"("restartPolicy":"Never","schedulingGates":[{"name":"a"}])"), 0U);
  EXPECT_EQ(refused(R"("restartPolicy":"Never","affinity":{"nodeAffinity":{}})"), 0U);
  EXPECT_EQ(refused(R"("restartPolicy":"Never","affinity":{"podAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"k"}]}})"),
            1U);
  EXPECT_EQ(refused(R"("restartPolicy":"OnFailure")"), 1U);
  Json bigger = old;
  for (const char* list : {"containers", "initContainers"})
    ensure_object(bigger.get_object()["spec"]
                      .get_object()["template"]
                      .get_object()["spec"]
                      .get_object()[list]
                      .get_array()[0]
                      .get_object(),
                  "resources")["requests"] = JsonObject{{"cpu", "1"}};
  EXPECT_EQ(told(validate_job_update(bigger, old, {})), Sentences{});
  Json labelled = old;
  ensure_object(ensure_object(labelled.get_object()["spec"].get_object()["template"].get_object(),
                              "metadata"),
                "annotations")["a"] = "b";
  EXPECT_EQ(told(validate_job_update(labelled, old, {})), Sentences{});
}

TEST(JobStatus, CountersAndEndsAreSane) {
  const auto with = [](std::string_view status) {
    Json made = job();
    made.get_object()["status"] = document(status);
    return made;
  };
  const Json none = job();
  EXPECT_EQ(
      told(validate_job_status_update(
          with(R"({"active":-1,"succeeded":-1,"failed":-1,"ready":-1,"terminating":-1})"), none)),
      (Sentences{"status.active: Invalid value: -1: " + kNotNegative,
                 "status.succeeded: Invalid value: -1: " + kNotNegative,
                 "status.failed: Invalid value: -1: " + kNotNegative,
                 "status.ready: Invalid value: -1: " + kNotNegative,
                 "status.terminating: Invalid value: -1: " + kNotNegative,
                 "status.failed: Invalid value: -1: cannot decrease the failed counter"}));
  EXPECT_EQ(
      told(validate_job_status_update(
          with(
              R"({"conditions":[{"type":"Complete","status":"True"},{"type":"Failed","status":"True"}]})"),
          none)),
      Sentences{"status.conditions: Invalid value: cannot set Complete=True and Failed=true "
                "conditions"});
  EXPECT_EQ(
      told(validate_job_status_update(
          with(
              R"({"conditions":[{"type":"Complete","status":"False"},{"type":"Failed","status":"True"}]})"),
          none)),
      Sentences{});
  for (const std::string_view end : {"Failed", "Complete", "FailureTarget"}) {
    const Json ended =
        with(fmt::format(R"({{"failed":1,"conditions":[{{"type":"{}","status":"True"}}]}})", end));
    EXPECT_EQ(told(validate_job_status_update(ended, ended)), Sentences{}) << end;
    EXPECT_EQ(told(validate_job_status_update(with(R"({"failed":1})"), ended)),
              Sentences{fmt::format("status.conditions: Invalid value: cannot disable the terminal "
                                    "{}=True condition",
                                    end)});
  }
}

}  // namespace
}  // namespace muster::api
