#include "server/http/options.h"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

api::Request request(api::Verb verb) {
  api::Request out;
  out.verb = verb;
  return out;
}

// "" if the query is fine for the verb, else the message.
std::string refusal(api::Verb verb, const std::string& query,
                    api::PatchType type = api::PatchType::Merge) {
  api::Request asked = request(verb);
  asked.patch_type = type;
  if (verb == api::Verb::Delete) {
    const auto read = read_delete_options(Query(query), asked);
    return read ? "" : read.error().message;
  }
  const auto read = read_options(Query(query), "kubectl/v1.32", asked);
  return read ? "" : read.error().message;
}

TEST(Options, AListTakesAllOfThem) {
  api::Request asked = request(api::Verb::Watch);
  ASSERT_TRUE(read_options(
      Query("labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=500&continue=T&"
            "resourceVersion="
            "12&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&sendInitialEvents=false&"
            "timeoutSeconds=300&timeout=32s&unknown=1"),
      "", asked));
  EXPECT_EQ(asked.list.label_selector, "a=b");
  EXPECT_EQ(asked.list.field_selector, "metadata.name=x");
  EXPECT_EQ(asked.list.limit, 500);
  EXPECT_EQ(asked.list.continue_token, "T");
  EXPECT_EQ(asked.list.resource_version, "12");
  EXPECT_EQ(asked.list.resource_version_match, "NotOlderThan");
  EXPECT_TRUE(asked.list.allow_bookmarks);
  EXPECT_EQ(asked.list.send_initial_events, false);
  EXPECT_EQ(asked.list.timeout_s, 300);
}

TEST(Options, AWriteTakesItsOwn) {
  api::Request asked = request(api::Verb::Create);
  ASSERT_TRUE(read_options(Query("fieldManager=me&fieldValidation=Strict&dryRun=All"), "kubectl/v1",
                           asked));
  EXPECT_EQ(asked.field_manager, "me");
  EXPECT_EQ(asked.field_validation, api::FieldValidation::Strict);
  EXPECT_TRUE(asked.dry_run);
  asked = request(api::Verb::Update);
  ASSERT_TRUE(read_options(Query(""), "kube-scheduler/v1.37 (linux)", asked));
  EXPECT_EQ(asked.field_manager, "kube-scheduler");
  EXPECT_EQ(asked.field_validation, api::FieldValidation::Warn);
  EXPECT_FALSE(asked.dry_run);
}

TEST(Options, RefusalsHaveUpstreamsTexts) {
  struct Case {
    api::Verb verb;
    std::string query, want;
  };
  const Case cases[] = {
      {api::Verb::List, "limit=abc", R"(strconv.ParseInt: parsing "abc": invalid syntax)"},
      {api::Verb::List, "limit=99999999999999999999",
       R"(strconv.ParseInt: parsing "99999999999999999999": value out of range)"},
      {api::Verb::List, "limit=5x", R"(strconv.ParseInt: parsing "5x": invalid syntax)"},
      {api::Verb::List, "limit=-5", ""},
      {api::Verb::Get, "export=true",
       "the export parameter, deprecated since v1.14, is no longer supported"},
      {api::Verb::Create, "fieldValidation=Loose",
       R"(CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Loose": supported values: "", "Ignore", "Strict", "Warn")"},
      {api::Verb::Update, "dryRun=Some",
       R"(UpdateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All")"},
      {api::Verb::Update, "dryRun=All&dryRun=Some",
       R"(UpdateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["All","Some"]: supported values: "All")"},
      {api::Verb::Patch, "force=true",
       R"(PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch)"},
      {api::Verb::Patch, "fieldManager=" + std::string(129, 'a'),
       R"(PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes)"},
      {api::Verb::Create, "fieldManager=a%01",
       R"(CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\u0001": should only contain printable characters)"},
      {api::Verb::Delete, "propagationPolicy=Never",
       R"(DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Never": supported values: "Foreground", "Background", "Orphan", "nil")"},
      {api::Verb::Delete, "propagationPolicy=Orphan&orphanDependents=true",
       R"(DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set)"},
  };
  for (const Case& c : cases) EXPECT_EQ(refusal(c.verb, c.query), c.want) << c.query;
  EXPECT_EQ(
      refusal(api::Verb::Patch, "force=true", api::PatchType::Apply),
      R"(PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch)");
  EXPECT_EQ(refusal(api::Verb::Patch, "force=true&fieldManager=m", api::PatchType::Apply), "");
}

TEST(Options, DeletionIsDescribedByTheBodyOrTheQuery) {
  api::Request by_query = request(api::Verb::Delete);
  ASSERT_TRUE(read_delete_options(Query("gracePeriodSeconds=5&orphanDependents=true&dryRun=All"),
                                  by_query));
  EXPECT_EQ(by_query.remove.grace_period_s, 5);
  EXPECT_EQ(by_query.remove.propagation_policy, "Orphan");
  EXPECT_TRUE(by_query.dry_run);

  api::Request by_body = request(api::Verb::Delete);
  const auto body = api::parse_json(
      R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"propagationPolicy":"Background",)"
      R"("preconditions":{"uid":"u","resourceVersion":"7"},"orphanDependents":null,"dryRun":["All"]})");
  ASSERT_TRUE(body);
  const auto by_body_reply = read_delete_options(body->value, by_body);
  ASSERT_TRUE(by_body_reply);
  EXPECT_FALSE(by_body_reply->tells_pending);
  EXPECT_EQ(by_body.remove.grace_period_s, 0);
  EXPECT_EQ(by_body.remove.propagation_policy, "Background");
  EXPECT_EQ(by_body.remove.preconditions.uid, "u");
  EXPECT_EQ(by_body.remove.preconditions.resource_version, "7");
  EXPECT_TRUE(by_body.dry_run);
}

TEST(Options, ABodyThatIsNoDeleteOptionsIsRefused) {
  for (const char* text : {"[]", "7", R"({"kind":"Pod"})", R"({"gracePeriodSeconds":"5"})",
                           R"({"dryRun":"All"})", R"({"preconditions":{"uid":7}})"}) {
    api::Request asked = request(api::Verb::Delete);
    const auto body = api::parse_json(text);
    ASSERT_TRUE(body);
    const auto read = read_delete_options(body->value, asked);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().reason, Reason::BadRequest);
  }
}

TEST(Options, NumbersAreReadAsGoReadsThem) {
  const auto limit = [](const std::string& text) {
    api::Request asked = request(api::Verb::List);
    const auto read = read_options(Query("limit=" + text), "", asked);
    return read ? std::to_string(asked.list.limit) : read.error().message;
  };
  EXPECT_EQ(limit("%2B5"), "5");
  EXPECT_EQ(limit(""), "0");
  EXPECT_EQ(limit("%2B"), R"(strconv.ParseInt: parsing "+": invalid syntax)");
  EXPECT_EQ(limit("%2B-5"), R"(strconv.ParseInt: parsing "+-5": invalid syntax)");
  EXPECT_EQ(limit("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(limit("9223372036854775808"),
            R"(strconv.ParseInt: parsing "9223372036854775808": value out of range)");
}

TEST(Options, WhatAListDoesNotSayIsNotSet) {
  api::Request asked = request(api::Verb::DeleteCollection);
  ASSERT_TRUE(read_options(Query("labelSelector=a"), "", asked));
  EXPECT_EQ(asked.list.label_selector, "a");
  EXPECT_EQ(asked.list.send_initial_events, std::nullopt);
  EXPECT_EQ(asked.list.timeout_s, std::nullopt);
  EXPECT_FALSE(asked.list.allow_bookmarks);
  EXPECT_EQ(refusal(api::Verb::Watch, "timeoutSeconds=x"),
            R"(strconv.ParseInt: parsing "x": invalid syntax)");
  asked = request(api::Verb::Get);
  ASSERT_TRUE(read_options(Query("resourceVersion=7&export=false"), "", asked));
  EXPECT_EQ(asked.list.resource_version, "7");
}

TEST(Options, TheFieldManagerIsNamedByTheProgramIfByNobody) {
  const auto manager = [](const std::string& query, const std::string& user_agent) {
    api::Request asked = request(api::Verb::Create);
    const auto read = read_options(Query(query), user_agent, asked);
    return read ? asked.field_manager : "refused";
  };
  EXPECT_EQ(manager("", ""), "unknown");
  EXPECT_EQ(manager("", "/v1"), "unknown");
  EXPECT_EQ(manager("", "curl"), "curl");
  EXPECT_EQ(manager("", "a\x1fz/1"), "unknown");
  EXPECT_EQ(manager("", "a\x7f/1"), "unknown");
  EXPECT_EQ(manager("", "a ~/1"), "a ~");
  EXPECT_EQ(manager("", std::string(129, 'x')), std::string(128, 'x'));
  EXPECT_EQ(manager("fieldManager=" + std::string(128, 'x'), "curl"), std::string(128, 'x'));
  EXPECT_EQ(manager("fieldManager=a%7f", "curl"), "refused");
}

TEST(Options, FieldsAreValidatedAsAsked) {
  const auto validation = [](const std::string& query) {
    api::Request asked = request(api::Verb::Patch);
    asked.field_validation = api::FieldValidation::Warn;
    EXPECT_TRUE(read_options(Query(query), "", asked));
    return asked.field_validation;
  };
  EXPECT_EQ(validation("fieldValidation=Ignore"), api::FieldValidation::Ignore);
  EXPECT_EQ(validation("fieldValidation=Warn"), api::FieldValidation::Warn);
  EXPECT_EQ(validation("fieldValidation=Strict"), api::FieldValidation::Strict);
  EXPECT_EQ(validation(""), api::FieldValidation::Warn);
}

TEST(Options, OnlyAnApplyMayForce) {
  api::Request apply = request(api::Verb::Patch);
  apply.patch_type = api::PatchType::Apply;
  ASSERT_TRUE(read_options(Query("fieldManager=m&force=true"), "", apply));
  EXPECT_TRUE(apply.force);
  ASSERT_TRUE(read_options(Query("fieldManager=m&force=false"), "", apply));
  EXPECT_FALSE(apply.force);
  EXPECT_NE(refusal(api::Verb::Patch, "force=false"), "") << "nor say that it does not";
}

TEST(Options, ARefusalNamesTheOptionAsItsCause) {
  api::Request asked = request(api::Verb::Create);
  const auto read = read_options(Query("dryRun=Some"), "", asked);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason, Reason::Invalid);
  EXPECT_EQ(read.error().group, "meta.k8s.io");
  EXPECT_EQ(read.error().kind, "CreateOptions");
  EXPECT_EQ(read.error().causes,
            (std::vector<Cause>{{"FieldValueNotSupported", "dryRun",
                                 R"(Unsupported value: ["Some"]: supported values: "All")"}}));
}

TEST(Options, ADeletionOrphansOrNot) {
  struct Case {
    std::string query, policy;
    bool tells_pending;
  };
  for (const Case& test : {Case{"", "", false},
                           {"orphanDependents=true", "Orphan", false},
                           {"orphanDependents=false", "Background", true},
                           {"propagationPolicy=Orphan", "Orphan", false},
                           {"propagationPolicy=Background", "Background", false},
                           {"propagationPolicy=Foreground", "Foreground", false}}) {
    api::Request asked = request(api::Verb::Delete);
    const auto read = read_delete_options(Query(test.query), asked);
    ASSERT_TRUE(read) << test.query;
    EXPECT_EQ(asked.remove.propagation_policy, test.policy) << test.query;
    EXPECT_EQ(read->tells_pending, test.tells_pending) << test.query;
    EXPECT_EQ(asked.remove.grace_period_s, std::nullopt);
    EXPECT_FALSE(asked.dry_run);
  }
  EXPECT_EQ(refusal(api::Verb::Delete, "gracePeriodSeconds=x"),
            R"(strconv.ParseInt: parsing "x": invalid syntax)");
}

TEST(Options, ABodyOfADeletionHasMembersOfTheirTypesOrNull) {
  const auto told = [](const char* text) {
    api::Request asked = request(api::Verb::Delete);
    const auto read = read_delete_options(api::parse_json(text)->value, asked);
    return read ? "" : read.error().message;
  };
  const std::string start =
      "DeleteOptions in version \"v1\" cannot be handled as a DeleteOptions: ";
  EXPECT_EQ(told("[]"), start + "the body has the wrong type");
  EXPECT_EQ(told(R"({"gracePeriodSeconds":1.5})"), start + "gracePeriodSeconds has the wrong type");
  EXPECT_EQ(told(R"({"propagationPolicy":7})"), start + "propagationPolicy has the wrong type");
  EXPECT_EQ(told(R"({"orphanDependents":"true"})"), start + "orphanDependents has the wrong type");
  EXPECT_EQ(told(R"({"dryRun":[7]})"), start + "dryRun has the wrong type");
  EXPECT_EQ(told(R"({"preconditions":7})"), start + "preconditions has the wrong type");
  EXPECT_EQ(told(R"({"preconditions":{"resourceVersion":7}})"),
            start + "resourceVersion has the wrong type");
  EXPECT_EQ(told(R"({"kind":"Pod","apiVersion":"v1"})"),
            "Pod in version \"v1\" cannot be handled as a DeleteOptions: converting to it is not "
            "possible");
  EXPECT_EQ(told(R"({"gracePeriodSeconds":null,"propagationPolicy":null,"orphanDependents":null,)"
                 R"("dryRun":null,"preconditions":null})"),
            "");
  EXPECT_EQ(told(R"({"preconditions":{"uid":null}})"), "");
}

TEST(Options, ABodyOfADeletionMayOrphan) {
  api::Request asked = request(api::Verb::Delete);
  const auto read =
      read_delete_options(api::parse_json(R"({"orphanDependents":false})")->value, asked);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->tells_pending);
  EXPECT_EQ(asked.remove.propagation_policy, "Background");
}

}  // namespace
}  // namespace muster::server
