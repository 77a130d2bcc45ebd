#include "api/validation/object_meta.h"

#include "api/validation/validation_testing.h"

namespace muster::api {
namespace {

struct Case {
  std::string name;
  std::string metadata;
  Sentences want;
};

Sentences judge(std::string_view metadata, const MetaRules& rules) {
  FieldErrors errors;
  validate_object_meta(document(fmt::format(R"({{"metadata":{}}})", metadata)), rules, errors);
  return sentences(errors);
}

TEST(ObjectMeta, CreateIsJudgedAsUpstreamDoes) {
  const Case cases[] = {
      {"fine", R"({"name":"a.b","namespace":"n"})", {}},
      {"no name",
       R"({"namespace":"n"})",
       {"metadata.name: Required value: name or generateName is required"}},
      {"bad name",
       R"({"name":"A","namespace":"n"})",
       {"metadata.name: Invalid value: \"A\": " + kBadSubdomain}},
      {"long name",
       fmt::format(R"({{"name":"{}","namespace":"n"}})", std::string(254, 'a')),
       {fmt::format("metadata.name: Invalid value: \"{}\": must be no more than 253 characters",
                    std::string(254, 'a'))}},
      {"bad prefix",
       R"({"name":"x","generateName":"-","namespace":"n"})",
       {"metadata.generateName: Invalid value: \"-\": " + kBadSubdomain}},
      {"prefix with a dash", R"({"name":"x","generateName":"job-","namespace":"n"})", {}},
      {"no namespace", R"({"name":"x"})", {"metadata.namespace: Required value"}},
      {"namespace with dots",
       R"({"name":"x","namespace":"a.b"})",
       {"metadata.namespace: Invalid value: \"a.b\": must not contain dots"}},
      {"bad label",
       R"({"name":"x","namespace":"n","labels":{"-k":"v","k":"-v"}})",
       {"metadata.labels: Invalid value: \"-k\": " + kBadNamePart,
        "metadata.labels: Invalid value: \"-v\": " + kBadLabelValue}},
      {"annotation keys ignore case",
       R"({"name":"x","namespace":"n","annotations":{"A.b/C":"v"}})",
       {}},
      {"bad annotation",
       R"({"name":"x","namespace":"n","annotations":{"a b":"v"}})",
       {"metadata.annotations: Invalid value: \"a b\": " + kBadNamePart}},
      {"annotations too large",
       fmt::format(R"({{"name":"x","namespace":"n","annotations":{{"a":"{}"}}}})",
                   std::string(std::size_t{256} * 1024, 'x')),
       {"metadata.annotations: Too long: may not be more than 262144 bytes"}},
      {"bad finalizer",
       R"({"name":"x","namespace":"n","finalizers":["a/b/c","plain","example.com/f"]})",
       {"metadata.finalizers: Invalid value: \"a/b/c\": a qualified name " +
            kBadNamePart.substr(std::string("name part ").size()) +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
        "metadata.finalizers[1]: Invalid value: \"plain\": name is neither a standard finalizer "
        "name "
        "nor is it fully qualified"}},
      {"contrary finalizers",
       R"({"name":"x","namespace":"n","finalizers":["orphan","foregroundDeletion"]})",
       {"metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan "
        "and "
        "foregroundDeletion cannot be both set"}},
      {"bad owner",
       R"({"name":"x","namespace":"n","ownerReferences":[{"apiVersion":"","kind":"","name":"","uid":""}]})",
       {"metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty",
        "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty",
        "metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
        "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"}},
      {"two controllers",
       R"({"name":"x","namespace":"n","ownerReferences":[
          {"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":true},
          {"apiVersion":"v1","kind":"B","name":"b","uid":"2","controller":true}]})",
       {"metadata.ownerReferences: Invalid value: "
        "[{\"apiVersion\":\"v1\",\"kind\":\"A\",\"name\":\"a\",\"uid\":\"1\",\"controller\":true},"
        "{\"apiVersion\":\"v1\",\"kind\":\"B\",\"name\":\"b\",\"uid\":\"2\",\"controller\":true}]: "
        "Only one reference can have Controller set to true. Found \"true\" in references for A/a "
        "and "
        "B/b"}},
      {"bad managed fields",
       R"({"name":"x","namespace":"n","managedFields":[{"operation":"Do","fieldsType":"V2"}]})",
       {"metadata.managedFields[0].operation: Invalid value: \"Do\": must be `Apply` or `Update`",
        "metadata.managedFields[0].fieldsType: Invalid value: \"V2\": must be `FieldsV1`"}},
      {"annotations just fit",
       fmt::format(R"({{"name":"x","namespace":"n","annotations":{{"a":"{}"}}}})",
                   std::string(std::size_t{256} * 1024 - 1, 'x')),
       {}},
      {"standard finalizers",
       R"({"name":"x","namespace":"n","finalizers":["kubernetes","orphan"]})",
       {}},
      {"one more", R"({"name":"x","namespace":"n","finalizers":["foregroundDeletion"]})", {}},
      {"an event is no owner",
       R"({"name":"x","namespace":"n","ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}]})",
       {"metadata.ownerReferences: Invalid value: "
        "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"e\",\"uid\":\"u\"}: /v1, "
        "Kind=Event is disallowed from being an owner"}},
      {"owners of a group without a version",
       R"({"name":"x","namespace":"n","ownerReferences":[{"apiVersion":"apps/","kind":"K","name":"e","uid":"u"}]})",
       {"metadata.ownerReferences.apiVersion: Invalid value: \"apps/\": version must not be "
        "empty"}},
      {"one controller among owners",
       R"({"name":"x","namespace":"n","ownerReferences":[
          {"apiVersion":"v1","kind":"A","name":"a","uid":"1","controller":false},
          {"apiVersion":"v1","kind":"B","name":"b","uid":"2","controller":true},
          {"apiVersion":"v1","kind":"C","name":"c","uid":"3"}]})",
       {}},
      {"managed fields at their limits",
       fmt::format(
           R"({{"name":"x","namespace":"n","managedFields":[{{"operation":"Apply","manager":"{}","subresource":"{}"}},
           {{"operation":"Update","fieldsType":"FieldsV1","manager":"{}","subresource":"{}"}}]}})",
           std::string(128, 'm'), std::string(256, 's'), std::string(129, 'm'),
           std::string(257, 's')),
       {"metadata.managedFields[1].manager: Too long: may not be more than 128 bytes",
        "metadata.managedFields[1].subresource: Too long: may not be more than 256 bytes"}},
      {"generation zero", R"({"name":"x","namespace":"n","generation":0})", {}},
      {"negative generation",
       R"({"name":"x","namespace":"n","generation":-1})",
       {"metadata.generation: Invalid value: -1: must be greater than or equal to 0"}},
      {"odd shapes are not our business",
       R"({"name":"x","namespace":"n","labels":[],"finalizers":3})",
       {}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(judge(c.metadata, {.known_finalizers = true}), c.want) << c.name;
}

TEST(ObjectMeta, KindsHaveTheirOwnNames) {
  EXPECT_EQ(judge(R"({"name":"x","namespace":"n"})", {.namespaced = false}),
            Sentences{"metadata.namespace: Forbidden: not allowed on this type"});
  EXPECT_EQ(judge(R"({"name":"system:a/b"})", {.name = NameRule::PathSegment, .namespaced = false}),
            Sentences{"metadata.name: Invalid value: \"system:a/b\": may not contain '/'"});
  Kind service;
  service.kind = "Service";
  EXPECT_EQ(meta_rules(service).name, NameRule::Dns1035Label);
  Kind role;
  role.group = "rbac.authorization.k8s.io";
  role.kind = "Role";
  EXPECT_EQ(meta_rules(role).name, NameRule::PathSegment);
  EXPECT_FALSE(meta_rules(role).known_finalizers);
  EXPECT_TRUE(meta_rules(service).known_finalizers);
  Kind name_space;
  name_space.kind = "Namespace";
  name_space.namespaced = false;
  EXPECT_EQ(meta_rules(name_space).name, NameRule::DnsLabel);
  EXPECT_FALSE(meta_rules(name_space).namespaced);
  Kind pod;
  pod.kind = "Pod";
  pod.namespaced = true;
  EXPECT_EQ(meta_rules(pod).name, NameRule::DnsSubdomain);
  EXPECT_TRUE(meta_rules(pod).namespaced);
}

TEST(ObjectMeta, UpdatesKeepIdentity) {
  struct UpdateCase {
    std::string name;
    std::string now;
    std::string old;
    Sentences want;
  };
  const UpdateCase cases[] = {
      {"same", R"({"name":"a","uid":"1"})", R"({"name":"a","uid":"1"})", {}},
      {"another uid",
       R"({"name":"a","uid":"2"})",
       R"({"name":"a","uid":"1"})",
       {"metadata.uid: Invalid value: \"2\": field is immutable"}},
      {"another name and namespace",
       R"({"name":"b","namespace":"m"})",
       R"({"name":"a","namespace":"n"})",
       {"metadata.name: Invalid value: \"b\": field is immutable",
        "metadata.namespace: Invalid value: \"m\": field is immutable"}},
      {"generation goes back",
       R"({"name":"a","generation":1})",
       R"({"name":"a","generation":2})",
       {"metadata.generation: Invalid value: 1: must not be decremented"}},
      {"deletion is for good",
       R"({"name":"a"})",
       R"({"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"})",
       {"metadata.deletionTimestamp: Invalid value: null: field is immutable"}},
      {"new finalizers on the deathbed",
       R"({"name":"a","finalizers":["x/z","x/a","x/b"],"deletionTimestamp":"2026-01-01T00:00:00Z"})",
       R"({"name":"a","finalizers":["x/a"],"deletionTimestamp":"2026-01-01T00:00:00Z"})",
       {"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
        "deleted, found new finalizers []string{\"x/b\", \"x/z\"}"}},
      {"generation stays", R"({"name":"a","generation":2})", R"({"name":"a","generation":2})", {}},
      {"times stay",
       R"({"name":"a","creationTimestamp":"2026-01-02T00:00:00Z","deletionGracePeriodSeconds":5})",
       R"({"name":"a","creationTimestamp":"2026-01-01T00:00:00Z"})",
       {"metadata.creationTimestamp: Invalid value: \"2026-01-02T00:00:00Z\": field is immutable",
        "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable"}},
      {"finalizers may go on the deathbed",
       R"({"name":"a","finalizers":["x/a"],"deletionTimestamp":"2026-01-01T00:00:00Z"})",
       R"({"name":"a","finalizers":["x/a","x/b"],"deletionTimestamp":"2026-01-01T00:00:00Z"})",
       {}},
      {"new finalizers while it lives",
       R"({"name":"a","finalizers":["x/a"]})",
       R"({"name":"a"})",
       {}},
      {"each new one is named once",
       R"({"name":"a","finalizers":["x/b","x/b"],"deletionTimestamp":"2026-01-01T00:00:00Z"})",
       R"({"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"})",
       {"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
        "deleted, found new finalizers []string{\"x/b\"}"}},
      {"managed fields are judged again",
       R"({"name":"a","managedFields":[{"operation":"Do"}]})",
       R"({"name":"a"})",
       {"metadata.managedFields[0].operation: Invalid value: \"Do\": must be `Apply` or "
        "`Update`"}},
      {"labels are judged again",
       R"({"name":"a","labels":{"k":"-v"}})",
       R"({"name":"a"})",
       {"metadata.labels: Invalid value: \"-v\": " + kBadLabelValue}},
  };
  for (const UpdateCase& c : cases) {
    FieldErrors errors;
    validate_object_meta_update(document(fmt::format(R"({{"metadata":{}}})", c.now)),
                                document(fmt::format(R"({{"metadata":{}}})", c.old)), errors);
    EXPECT_EQ(sentences(errors), c.want) << c.name;
  }
}

}  // namespace
}  // namespace muster::api
