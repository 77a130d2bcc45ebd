#include "api/validation/job.h"

#include "api/decode.h"
#include "api/validation/workloads_testing.h"

namespace muster::api {
namespace {

const schema::Message& job_message() { return schema::message("batch/v1", "Job"); }
const schema::Message& cron_job_message() { return schema::message("batch/v1", "CronJob"); }

// A Job as the server would hand it to validation; `members` of its spec, `pod` of its pod's.
Json job(std::string_view members = "", std::string_view pod = R"("restartPolicy":"Never")",
         std::string_view name = "j") {
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"n","uid":"u1"}},"spec":{{)"
      R"("template":{{"spec":{{"containers":[{{"name":"c","image":"i"}}]{}{}}}}}{}{}}}}})",
      name, pod.empty() ? "" : ",", pod, members.empty() ? "" : ",", members);
  auto decoded = decode(job_message(), {parse_json(text)->value, {}});
  EXPECT_TRUE(decoded) << text;
  EXPECT_TRUE(decoded->unknown.empty()) << decoded->unknown.front();
  apply_defaults(job_message(), decoded->document);
  default_job(decoded->document.get_object());
  select_pods_of_job(decoded->document);
  return decoded->document;
}

Json cron_job(std::string_view members, std::string_view name = "c") {
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"n"}},"spec":{{"jobTemplate":{{"spec":{{)"
      R"("template":{{"spec":{{"restartPolicy":"Never","containers":[{{"name":"c","image":"i"}}]}}}}}}}},{}}}}})",
      name, members);
  auto decoded = decode(cron_job_message(), {parse_json(text)->value, {}});
  EXPECT_TRUE(decoded) << text;
  apply_defaults(cron_job_message(), decoded->document);
  default_cron_job(decoded->document.get_object());
  return decoded->document;
}

std::vector<std::string> told(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const Cause& cause : errors.causes()) out.push_back(cause.field + ": " + cause.message);
  return out;
}
using Texts = std::vector<std::string>;

TEST(Job, DefaultsDependOnEachOther) {
  const Json plain = job();
  EXPECT_EQ(to_text(*find_path(plain, "spec.parallelism")), "1");
  EXPECT_EQ(to_text(*find_path(plain, "spec.completions")), "1");
  EXPECT_EQ(to_text(*find_path(plain, "spec.backoffLimit")), "6");
  EXPECT_EQ(find_path(plain, "spec.podReplacementPolicy")->get_string(), "TerminatingOrFailed");
  EXPECT_EQ(find_path(job(R"("parallelism":3)"), "spec.completions"), nullptr);
  EXPECT_EQ(to_text(*find_path(
                job(R"("completionMode":"Indexed","completions":2,"backoffLimitPerIndex":1)"),
                "spec.backoffLimit")),
            "2147483647");
  EXPECT_EQ(find_path(job(R"("podFailurePolicy":{"rules":[]})"), "spec.podReplacementPolicy")
                ->get_string(),
            "Failed");
}

TEST(Job, SelectsItsPodsByUid) {
  const Json made = job();
  EXPECT_EQ(to_text(*find_path(made, "spec.selector")),
            R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u1"}})");
  EXPECT_EQ(to_text(*find_path(made, "spec.template.metadata.labels")),
            R"({"batch.kubernetes.io/controller-uid":"u1","batch.kubernetes.io/job-name":"j",)"
            R"("controller-uid":"u1","job-name":"j"})");
  EXPECT_TRUE(validate_job(made, {}).empty()) << validate_job(made, {}).text();
  const Json manual = job(R"("manualSelector":true)");
  EXPECT_EQ(find_path(manual, "spec.selector"), nullptr);
  EXPECT_EQ(told(validate_job(manual, {})),
            (Texts{"spec.selector: Required value",
                   "spec.template.metadata.labels: Invalid value: null: `selector` does not match "
                   "template `labels`"}));
}

TEST(Job, IsJudgedAsUpstreamDoes) {
  struct Case {
    Json job;
    Texts want;
  };
  const Case cases[] = {
      {job("", ""),
       {"spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
        "\"Never\""}},
      {job(R"("parallelism":-1)"),
       {"spec.parallelism: Invalid value: -1: must be greater than or equal to 0"}},
      {job(R"("completionMode":"Indexed","parallelism":1)"),
       {"spec.completions: Required value: when completion mode is Indexed"}},
      {job(R"("completionMode":"Indexed","completions":2,"parallelism":100001)"),
       {"spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when "
        "completion mode is Indexed"}},
      {job(R"("backoffLimitPerIndex":1)"),
       {"spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"}},
      {job(R"("completionMode":"Indexed","completions":100001,"parallelism":5,"backoffLimitPerIndex":1)"),
       {"spec.maxFailedIndexes: Required value: must be specified when completions is above "
        "100000"}},
      {job(R"("podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[3,2,0]}}]})",
           R"("restartPolicy":"OnFailure")"),
       {"spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Invalid value: 0: must not be 0 "
        "for the In operator",
        "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,2,0]: must be "
        "ordered",
        "spec.template.spec.restartPolicy: Invalid value: \"OnFailure\": only \"Never\" is "
        "supported when podFailurePolicy is specified"}},
      {job(R"("podFailurePolicy":{"rules":[{"action":"FailIndex","onPodConditions":[{"type":"DisruptionTarget"}]}]})"),
       {"spec.podFailurePolicy.rules[0].action: Invalid value: \"FailIndex\": requires the "
        "backoffLimitPerIndex to be set"}},
      {job(R"("successPolicy":{"rules":[{"succeededCount":1}]})"),
       {"spec.successPolicy: Invalid value: {\"rules\":[{\"succeededCount\":1}]}: requires indexed "
        "completion mode"}},
      {job(R"("completionMode":"Indexed","completions":4,"successPolicy":{"rules":[{"succeededIndexes":"0-1,3","succeededCount":4}]})"),
       {"spec.successPolicy.rules[0].succeededCount: Invalid value: 4: must be less than or equal "
        "to 3 (the number of indexes in the specified succeededIndexes field)"}},
      {job(R"("managedBy":"me")"),
       {"spec.managedBy: Invalid value: \"me\": must be a domain-prefixed path (such as "
        "\"acme.io/foo\")"}},
      {job(R"("completionMode":"Indexed","completions":10)", R"("restartPolicy":"Never")",
           std::string(62, 'a')),
       {"metadata.name: Invalid value: \"" + std::string(62, 'a') +
        "\": will not able to create pod with invalid DNS label: " + std::string(62, 'a') + "-9"}},
      {job(R"("completionMode":"Often")"),
       {"spec.completionMode: Unsupported value: \"Often\": supported values: \"NonIndexed\", "
        "\"Indexed\""}},
      {job(R"("maxFailedIndexes":1)"),
       {"spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
        "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode"}},
      {job(R"("selector":{"matchLabels":{"app":"web"}})"),
       {"spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\","
        "\"batch.kubernetes.io/controller-uid\":\"u1\"}}: `selector` not auto-generated",
        "spec.template.metadata.labels: Invalid value: {\"batch.kubernetes.io/controller-uid\":"
        "\"u1\",\"batch.kubernetes.io/job-name\":\"j\",\"controller-uid\":\"u1\","
        "\"job-name\":\"j\"}: `selector` does not match template `labels`"}},
      {job(R"("podFailurePolicy":{"rules":[{"action":"FailJob"},{"onExitCodes":{"values":[2,1,2]}}]})"),
       {("spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and "
         "OnPodConditions is required"),
        ("spec.podFailurePolicy.rules[1].action: Required value: valid values: [\"Count\" "
         "\"FailIndex\" \"FailJob\" \"Ignore\"]"),
        ("spec.podFailurePolicy.rules[1].onExitCodes.operator: Required value: valid values: "
         "[\"In\" \"NotIn\"]"),
        "spec.podFailurePolicy.rules[1].onExitCodes.values[2]: Duplicate value: 2",
        ("spec.podFailurePolicy.rules[1].onExitCodes.values: Invalid value: [2,1,2]: must be "
         "ordered")}},
  };
  for (const Case& c : cases) EXPECT_EQ(told(validate_job(c.job, {})), c.want) << to_text(c.job);
}

TEST(Job, SucceededIndexesAreReadAsUpstreamDoes) {
  struct Case {
    std::string_view indexes;
    std::string_view error;  // empty: none
  };
  const Case cases[] = {
      {"0,2-3", ""},
      {"", ""},
      {"0,9", R"(too large index: "9")"},
      {"1-x", R"(cannot convert string to integer for index: "x")"},
      {"1,", R"(cannot convert string to integer for index: "")"},
      {"2,1", "non-increasing order, previous: 2, current: 1"},
      {"3-1", "non-increasing order, previous: 3, current: 1"},
      {"0-1-2",
       "the fragment \"0-1-2\" violates the requirement that an index interval can have at most "
       "two "
       "parts separated by '-'"},
  };
  for (const Case& c : cases) {
    const Json made = job(fmt::format(
        R"("completionMode":"Indexed","completions":4,"successPolicy":{{"rules":[{{"succeededIndexes":"{}"}}]}})",
        c.indexes));
    Texts want;
    if (!c.error.empty())
      want.push_back(
          fmt::format("spec.successPolicy.rules[0].succeededIndexes: Invalid value: "
                      "\"{}\": error parsing succeededIndexes: {}",
                      c.indexes, c.error));
    EXPECT_EQ(told(validate_job(made, {})), want) << c.indexes;
  }
}

TEST(Job, MostOfItStaysAsItWas) {
  const Json old = job(R"("parallelism":2,"completions":4)");
  EXPECT_TRUE(validate_job_update(job(R"("parallelism":9,"completions":4)"), old, {}).empty());
  EXPECT_EQ(told(validate_job_update(job(R"("parallelism":2,"completions":5)"), old, {})),
            Texts{"spec.completions: Invalid value: 5: field is immutable"});
  const Json indexed = job(R"("completionMode":"Indexed","parallelism":4,"completions":4)");
  EXPECT_TRUE(validate_job_update(
                  job(R"("completionMode":"Indexed","parallelism":6,"completions":6)"), indexed, {})
                  .empty());
  EXPECT_EQ(told(validate_job_update(
                job(R"("completionMode":"Indexed","parallelism":4,"completions":6)"), indexed, {})),
            Texts{"spec.completions: Invalid value: 6: can only be modified in tandem with "
                  "spec.parallelism"});
}

TEST(Job, ASuspendedTemplateMayMove) {
  const std::string_view moved = R"("restartPolicy":"Never","nodeSelector":{"rack":"a"})";
  const Json suspended = job(R"("suspend":true)");
  EXPECT_TRUE(validate_job_update(job(R"("suspend":true)", moved), suspended, {}).empty());
  Json ending = suspended;
  ending.as_object()["status"] = JsonObject{{"active", 1}};
  EXPECT_FALSE(validate_job_update(job(R"("suspend":true)", moved), ending, {}).empty())
      << "a pod of it still runs";
  const auto refused = validate_job_update(job("", moved), job(), {});
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused.causes()[0].field, "spec.template");
  const auto image = validate_job_update(
      job(R"("suspend":true)", R"("restartPolicy":"Never","hostname":"h")"), suspended, {});
  EXPECT_EQ(image.size(), 1U);
}

TEST(Job, ATemplateThatRanMovesOnceTheSuspensionIsCarriedOut) {
  Json old = job(R"("suspend":true)");
  const Json now =
      job(R"("suspend":true)", R"("restartPolicy":"Never","nodeSelector":{"rack":"a"})");
  const auto errors_after = [&](std::string_view conditions) {
    old.as_object()["status"] =
        parse_json(
            fmt::format(R"({{"startTime":"2026-01-01T00:00:00Z","conditions":[{}]}})", conditions))
            ->value;
    return validate_job_update(now, old, {}).size();
  };
  EXPECT_EQ(errors_after(""), 1U);
  EXPECT_EQ(errors_after(R"({"type":"Suspended","status":"False"})"), 1U);
  EXPECT_EQ(errors_after(R"({"type":"Suspended","status":"True"})"), 0U);
}

TEST(Job, IndexedJobsMayBeAsLargeAsTheirLimits) {
  const auto errors_of = [](std::string_view numbers) {
    return told(validate_job(
        job(fmt::format(R"("completionMode":"Indexed","backoffLimitPerIndex":1,{})", numbers)),
        {}));
  };
  EXPECT_EQ(errors_of(R"("completions":100000,"parallelism":100000,"maxFailedIndexes":100000)"),
            Texts{});
  EXPECT_EQ(errors_of(R"("completions":100001,"parallelism":10000,"maxFailedIndexes":10000)"),
            Texts{});
  EXPECT_EQ(errors_of(R"("completions":3,"maxFailedIndexes":4)"),
            Texts{"spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to "
                  "completions"});
  const std::string strict =
      "must be less than or equal to 10000 when completions are above 100000 and used with backoff "
      "limit per index";
  EXPECT_EQ(errors_of(R"("completions":100001,"parallelism":10001,"maxFailedIndexes":10001)"),
            (Texts{"spec.parallelism: Invalid value: 10001: " + strict,
                   "spec.maxFailedIndexes: Invalid value: 10001: " + strict}));
}

TEST(JobScheduling, StatesAnIntentThatFits) {
  struct Case {
    std::string_view members;
    Texts want;
  };
  const Case cases[] = {
      {R"("parallelism":4,"scheduling":{"schedulingPolicy":{"gang":{"minCount":4}},"disruptionMode":{"all":{}}})",
       {}},
      {R"("parallelism":4,"scheduling":{"schedulingPolicy":{"gang":{}}})", {}},
      {R"("parallelism":4,"scheduling":{"schedulingPolicy":{"gang":{"minCount":5}}})",
       {"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 5: must not be greater "
        "than parallelism (4)"}},
      {R"("parallelism":4,"scheduling":{"schedulingPolicy":{"gang":{"minCount":0}}})",
       {"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than "
        "or equal to 1"}},
      {R"("scheduling":{"schedulingPolicy":{}})",
       {"spec.scheduling.schedulingPolicy: Invalid value: \"\": must specify one of: `basic`, "
        "`gang`"}},
      {R"("scheduling":{"disruptionMode":{"all":{}}})",
       {"spec.scheduling.disruptionMode: Invalid value: \"\": the disruptionMode `all` is not "
        "supported with the Basic scheduling policy"}},
      {R"("scheduling":{"schedulingConstraints":{"topology":[{"key":""}]}})",
       {"spec.scheduling.schedulingConstraints.topology[0].key: Required value"}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(told(validate_job(job(c.members), {})), c.want) << c.members;
}

TEST(JobScheduling, OnlyTheMinimumChangesLater) {
  const Json gang =
      job(R"("parallelism":4,"scheduling":{"schedulingPolicy":{"gang":{"minCount":4}}})");
  EXPECT_TRUE(
      validate_job_update(
          job(R"("parallelism":4,"scheduling":{"schedulingPolicy":{"gang":{"minCount":2}}})"), gang,
          {})
          .empty());
  EXPECT_EQ(
      told(validate_job_update(
          job(R"("parallelism":4,"scheduling":{"schedulingPolicy":{"basic":{}}})"), gang, {})),
      Texts{"spec.scheduling.schedulingPolicy: Invalid value: null: the basic/gang policy variant "
            "is immutable after creation; only schedulingPolicy.gang.minCount may be updated"});
  EXPECT_EQ(told(validate_job_update(job(R"("parallelism":4)"), gang, {})),
            Texts{"spec.scheduling: Invalid value: null: field cannot be cleared once set"});
  EXPECT_EQ(told(validate_job_update(gang, job(R"("parallelism":4)"), {})),
            Texts{"spec.scheduling: Invalid value: null: field cannot be set once created"});
  EXPECT_EQ(
      told(validate_job_update(
          job(R"("parallelism":3,"scheduling":{"schedulingPolicy":{"gang":{"minCount":4}}})"), gang,
          {})),
      Texts{"spec.scheduling.schedulingPolicy.gang.minCount: Invalid value: 4: must not be greater "
            "than parallelism (3)"});
}

TEST(JobScheduling, IsDroppedWhereItsGateIsOff) {
  const Gates off = Gates().without(Gate::WorkloadWithJob);
  const Json with = job(R"("scheduling":{"schedulingPolicy":{"basic":{}}})");
  Json made = with;
  drop_disabled_job_fields(made, nullptr, off);
  EXPECT_EQ(find_path(made, "spec.scheduling"), nullptr);
  Json kept = with;
  drop_disabled_job_fields(kept, &with, off);
  EXPECT_NE(find_path(kept, "spec.scheduling"), nullptr);
  Json cron = cron_job(R"("schedule":"@daily")");
  ensure_object(ensure_object(ensure_object(cron.get_object(), "spec"), "jobTemplate"),
                "spec")["scheduling"] = JsonObject();
  drop_disabled_cron_job_fields(cron, nullptr, off);
  EXPECT_EQ(find_path(cron, "spec.jobTemplate.spec.scheduling"), nullptr);
}

TEST(JobStatus, ATerminalStateStays) {
  Json done = job();
  done.get_object()["status"] =
      parse_json(R"({"failed":2,"conditions":[{"type":"Complete","status":"True"}]})")->value;
  Json back = job();
  back.get_object()["status"] = parse_json(R"({"failed":1})")->value;
  EXPECT_EQ(told(validate_job_status_update(back, done)),
            (Texts{"status.conditions: Invalid value: cannot disable the terminal Complete=True "
                   "condition",
                   "status.failed: Invalid value: 1: cannot decrease the failed counter"}));
}

TEST(CronJob, IsJudgedAsUpstreamDoes) {
  struct Case {
    Json job;
    Texts want;
  };
  const Case cases[] = {
      {cron_job(R"("schedule":"*/5 * * * *","timeZone":"Europe/Berlin")"), {}},
      {cron_job(R"("schedule":"soon")"),
       {"spec.schedule: Invalid value: \"soon\": expected exactly 5 fields, found 1: [soon]"}},
      {cron_job(R"("schedule":"TZ=UTC * * * * *")"),
       {"spec.schedule: Invalid value: \"TZ=UTC * * * * *\": cannot use TZ or CRON_TZ in schedule, "
        "use timeZone field instead"}},
      {cron_job(R"("schedule":"@daily","timeZone":"Europe/Berln")"),
       {"spec.timeZone: Invalid value: \"Europe/Berln\": unknown time zone Europe/Berln"}},
      {cron_job(R"("schedule":"@daily","timeZone":"Local")"),
       {"spec.timeZone: Invalid value: \"Local\": timeZone must be an explicit time zone as "
        "defined in https://www.iana.org/time-zones"}},
      {cron_job(R"("schedule":"@daily","timeZone":"LOCAL")"),
       {"spec.timeZone: Invalid value: \"LOCAL\": timeZone must be an explicit time zone as "
        "defined "
        "in https://www.iana.org/time-zones"}},
      {cron_job(R"("schedule":"@daily","timeZone":"Europe//Berlin")"),
       {"spec.timeZone: Invalid value: \"Europe//Berlin\": unknown time zone Europe//Berlin"}},
      {cron_job(R"("schedule":"@daily","timeZone":"")"),
       {"spec.timeZone: Invalid value: \"\": timeZone must be nil or non-empty string"}},
      {cron_job(R"("schedule":"","successfulJobsHistoryLimit":-1,"concurrencyPolicy":"Maybe")"),
       {"spec.schedule: Required value",
        "spec.concurrencyPolicy: Unsupported value: \"Maybe\": supported values: \"Allow\", "
        "\"Forbid\", \"Replace\"",
        "spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
      {cron_job(R"("schedule":"@daily","concurrencyPolicy":"Maybe")"),
       {"spec.concurrencyPolicy: Unsupported value: \"Maybe\": supported values: \"Allow\", "
        "\"Forbid\", \"Replace\""}},
      {cron_job(R"("schedule":"@daily")", std::string(52, 'a')), {}},
      {cron_job(R"("schedule":"@daily","startingDeadlineSeconds":-1,"failedJobsHistoryLimit":-1)"),
       {"spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
        "spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0"}},
      {cron_job(R"("schedule":"@daily")", std::string(53, 'a')),
       {"metadata.name: Invalid value: \"" + std::string(53, 'a') +
        "\": must be no more than 52 characters"}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(told(validate_cron_job(c.job, {})), c.want) << to_text(c.job);
}

TEST(CronJob, TheServerSelectsThePodsOfItsJobs) {
  Json made = cron_job(R"("schedule":"@daily")");
  JsonObject& spec =
      made.get_object()["spec"].get_object()["jobTemplate"].get_object()["spec"].get_object();
  spec["selector"] = JsonObject{{"matchLabels", JsonObject{{"a", "b"}}}};
  spec["manualSelector"] = true;
  EXPECT_EQ(
      told(validate_cron_job(made, {})),
      (Texts{"spec.jobTemplate.spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\"}}: "
             "`selector` will be auto-generated",
             "spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "
             "\"nil\", \"false\""}));
}

TEST(CronJob, AnOldZoneIsNotJudgedAgain) {
  const Json old = cron_job(R"("schedule":"@daily","timeZone":"Moon/Base")");
  EXPECT_TRUE(validate_cron_job_update(old, old, {}).empty());
  EXPECT_EQ(
      validate_cron_job_update(cron_job(R"("schedule":"@daily","timeZone":"Moon/Far")"), old, {})
          .size(),
      1U);
}

TEST(CronJob, AnOldScheduleKeepsItsZone) {
  const Json old = cron_job(R"("schedule":"CRON_TZ=UTC 0 * * * *")");
  EXPECT_TRUE(
      validate_cron_job_update(cron_job(R"("schedule":"TZ=UTC 5 * * * *")"), old, {}).empty());
  EXPECT_EQ(told(validate_cron_job_update(
                cron_job(R"("schedule":"TZ=UTC 5 * * * *","timeZone":"Etc/UTC")"), old, {})),
            Texts{"spec.schedule: Invalid value: \"TZ=UTC 5 * * * *\": cannot use both timeZone "
                  "field and TZ or CRON_TZ in schedule"});
  EXPECT_EQ(told(validate_cron_job_update(cron_job(R"("schedule":"TZ=UTC 5 * * * *")"),
                                          cron_job(R"("schedule":"@daily")"), {})),
            Texts{"spec.schedule: Invalid value: \"TZ=UTC 5 * * * *\": cannot use TZ or CRON_TZ in "
                  "schedule, use timeZone field instead"});
}

}  // namespace
}  // namespace muster::api
