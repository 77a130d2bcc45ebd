#include "api/validation/event.h"
#include "api/validation/lease.h"
#include "api/validation/name_space.h"
#include "api/validation/node.h"
#include "api/validation/priority_class.h"
#include "api/validation/validation_testing.h"

namespace muster::api {
namespace {

TEST(PriorityClass, IsJudgedAsUpstreamDoes) {
  const std::string reserved =
      "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for "
      "system "
      "use only. error: ";
  struct Case {
    std::string text;
    Sentences want;
  };
  const Case cases[] = {
      {R"({"metadata":{"name":"high"},"value":1000000000,"preemptionPolicy":"Never"})", {}},
      {R"({"metadata":{"name":"high"},"value":1000000001,"preemptionPolicy":"Never"})",
       {"value: Forbidden: maximum allowed value of a user defined priority is 1000000000"}},
      {R"({"metadata":{"name":"high"}})", {"preemptionPolicy: Required value"}},
      {R"({"metadata":{"name":"high"},"preemptionPolicy":"Maybe"})",
       {"preemptionPolicy: Unsupported value: \"Maybe\": supported values: "
        "\"PreemptLowerPriority\", "
        "\"Never\""}},
      {R"({"metadata":{"name":"system-mine"},"preemptionPolicy":"Never"})",
       {reserved + "system-mine is not a known system priority class"}},
      {R"({"metadata":{"name":"system-node-critical"},"value":1,"preemptionPolicy":"Never"})",
       {reserved + "value of system-node-critical PriorityClass must be 2000001000"}},
      {R"({"metadata":{"name":"system-cluster-critical"},"value":2000000000,"globalDefault":true,
           "preemptionPolicy":"Never"})",
       {reserved + "globalDefault of system-cluster-critical PriorityClass must be false"}},
      {R"({"metadata":{"name":"system-node-critical"},"value":2000001000,"preemptionPolicy":"Never"})",
       {}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(sentences(validate_priority_class(document(c.text))), c.want) << c.text;
}

TEST(PriorityClass, ValueAndPolicyStay) {
  const Json old = document(R"({"metadata":{"name":"a"},"value":1,"preemptionPolicy":"Never"})");
  const Json now = document(
      R"({"metadata":{"name":"a"},"value":2,"preemptionPolicy":"PreemptLowerPriority","description":"d"})");
  EXPECT_EQ(
      sentences(validate_priority_class_update(now, old)),
      (Sentences{"value: Forbidden: may not be changed in an update.",
                 "preemptionPolicy: Invalid value: \"PreemptLowerPriority\": field is immutable"}));
  EXPECT_TRUE(validate_priority_class_update(old, old).empty());
}

TEST(PriorityClass, SystemClassesHaveTheirValues) {
  const auto errors_of = [](std::string_view members) {
    return validate_priority_class(
               document(
                   fmt::format(R"({{"preemptionPolicy":"PreemptLowerPriority",{}}})", members)))
        .size();
  };
  EXPECT_EQ(errors_of(R"("metadata":{"name":"system-cluster-critical"},"value":2000000000)"), 0U);
  EXPECT_EQ(errors_of(R"("metadata":{"name":"system-cluster-critical"},"value":2000000001)"), 1U);
  EXPECT_EQ(errors_of(R"("metadata":{"name":"system-node-critical"},"value":2000000000)"), 1U);
  EXPECT_EQ(errors_of(R"("metadata":{"name":"my-system-"},"value":-5,"globalDefault":true)"), 1U)
      << "the name alone is wrong";
  EXPECT_EQ(errors_of(R"("metadata":{"name":"my-system-x"},"value":-5,"globalDefault":true)"), 0U);
  EXPECT_EQ(sentences(validate_priority_class(document(
                R"({"metadata":{"name":"a","namespace":"n"},"preemptionPolicy":"Never"})"))),
            Sentences{"metadata.namespace: Forbidden: not allowed on this type"});
}

TEST(Lease, BoundsAndHoldersAreChecked) {
  const auto errors_of = [](std::string_view spec) {
    const Json lease =
        document(fmt::format(R"({{"metadata":{{"name":"l","namespace":"n"}},"spec":{}}})", spec));
    EXPECT_EQ(sentences(validate_lease_update(lease, lease)), sentences(validate_lease(lease)));
    return validate_lease(lease).size();
  };
  EXPECT_EQ(errors_of(R"({"leaseDurationSeconds":1,"leaseTransitions":0})"), 0U);
  EXPECT_EQ(errors_of(R"({"leaseDurationSeconds":-1})"), 1U);
  EXPECT_EQ(errors_of(R"({"strategy":"OldestEmulationVersion","preferredHolder":"me"})"), 0U);
  EXPECT_EQ(errors_of(R"({"strategy":"OldestEmulationVersion"})"), 0U);
  EXPECT_TRUE(validate_lease(document(R"({"metadata":{"name":"l","namespace":"n"}})")).empty());
}

TEST(Lease, IsJudgedAsUpstreamDoes) {
  const Json lease = document(
      R"({"metadata":{"name":"l","namespace":"n"},"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1,
          "preferredHolder":"me"}})");
  EXPECT_EQ(
      sentences(validate_lease(lease)),
      (Sentences{
          "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
          "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0",
          "spec.preferredHolder: Invalid value: \"me\": may only be specified if `strategy` is "
          "defined"}));
  EXPECT_TRUE(
      validate_lease(
          document(R"({"metadata":{"name":"l","namespace":"n"},"spec":{"holderIdentity":"h"}})"))
          .empty());
}

TEST(Namespace, NameIsALabelAndIsLabelled) {
  struct Case {
    std::string name;
    Sentences want;
  };
  const std::string long_name(64, 'a');
  const Case cases[] = {
      {"team-a", {}},
      {"a.b", {"metadata.name: Invalid value: \"a.b\": must not contain dots"}},
      {"-b",
       {"metadata.name: Invalid value: \"-b\": " + kBadLabel,
        "metadata.labels: Invalid value: \"-b\": " + kBadLabelValue}},
      {long_name,
       {"metadata.name: Invalid value: \"" + long_name + "\": must be no more than 63 characters",
        "metadata.labels: Invalid value: \"" + long_name + "\": must be no more than 63 bytes"}},
  };
  for (const Case& c : cases) {
    Json name_space = document(fmt::format(R"({{"metadata":{{"name":"{}"}}}})", c.name));
    default_name_space(name_space);
    EXPECT_EQ(find_string(*find_path(name_space, "metadata.labels"), "kubernetes.io/metadata.name"),
              c.name);
    EXPECT_EQ(sentences(validate_name_space(name_space)), c.want) << c.name;
  }
}

TEST(Namespace, FinalizersAreStandardOrQualified) {
  const auto errors_of = [](std::string_view finalizer) {
    return sentences(validate_name_space(document(fmt::format(
        R"({{"metadata":{{"name":"a"}},"spec":{{"finalizers":["{}"]}}}})", finalizer))));
  };
  for (const std::string_view fine : {"kubernetes", "orphan", "foregroundDeletion", "a.b/c"})
    EXPECT_EQ(errors_of(fine), Sentences{}) << fine;
  EXPECT_EQ(errors_of("-"), Sentences{"spec.finalizers: Invalid value: \"-\": " + kBadNamePart});
  EXPECT_EQ(sentences(validate_name_space(
                document(R"({"metadata":{"name":"a","namespace":"n","finalizers":["mine"]}})"))),
            (Sentences{"metadata.namespace: Forbidden: not allowed on this type",
                       "metadata.finalizers[0]: Invalid value: \"mine\": name is neither a "
                       "standard finalizer name nor is it fully qualified"}));
  Json unnamed = document(R"({"metadata":{"generateName":"a-"}})");
  default_name_space(unnamed);
  EXPECT_EQ(to_text(unnamed), R"({"metadata":{"generateName":"a-"}})");
  Json empty = document(R"({"metadata":{"name":""}})");
  default_name_space(empty);
  EXPECT_EQ(to_text(empty), R"({"metadata":{"name":""}})");
}

TEST(Namespace, PhaseFollowsDeletion) {
  const Json active = document(R"({"metadata":{"name":"a"},"status":{"phase":"Active"}})");
  const Json wrong = document(R"({"metadata":{"name":"a"},"status":{"phase":"Terminating"}})");
  const Json deleting = document(
      R"({"metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Active"}})");
  EXPECT_TRUE(validate_name_space_status_update(active, active).empty());
  EXPECT_EQ(sentences(validate_name_space_status_update(wrong, active)),
            Sentences{"status.Phase: Invalid value: \"Terminating\": may only be 'Active' if "
                      "`deletionTimestamp` is empty"});
  EXPECT_EQ(sentences(validate_name_space_status_update(deleting, deleting)),
            Sentences{"status.Phase: Invalid value: \"Active\": may only be 'Terminating' if "
                      "`deletionTimestamp` is not empty"});
  EXPECT_EQ(
      sentences(validate_name_space_finalize_update(
          document(R"({"metadata":{"name":"a"},"spec":{"finalizers":["mine"]}})"), active)),
      Sentences{"spec.finalizers: Invalid value: \"mine\": name is neither a standard finalizer "
                "name nor is it fully qualified"});
}

TEST(Event, StandsWhereItsObjectStands) {
  struct Case {
    std::string own;
    std::string involved;
    bool fine;
  };
  const Case cases[] = {
      {"n", "n", true}, {"n", "m", false}, {"default", "", true}, {"other", "", false}};
  for (const Case& c : cases) {
    const Json event = document(fmt::format(
        R"({{"metadata":{{"name":"e","namespace":"{}"}},"involvedObject":{{"namespace":"{}"}}}})",
        c.own, c.involved));
    const Sentences want{"involvedObject.namespace: Invalid value: \"" + c.involved +
                         "\": does not match event.namespace"};
    EXPECT_EQ(sentences(validate_event(event, EventGroup::Core)), c.fine ? Sentences{} : want)
        << c.own << "/" << c.involved;
  }
}

TEST(Event, OfTheNewKindMayBeAboutOtherNamespaces) {
  const auto fine = [](std::string_view own, std::string_view involved) {
    const Json event = document(fmt::format(
        R"({{"metadata":{{"name":"e","namespace":"{}"}},"involvedObject":{{"namespace":"{}"}},
        "eventTime":"2026-01-01T00:00:00.000000Z","reportingComponent":"a.b/c",
        "reportingInstance":"i","action":"a","reason":"r"}})",
        own, involved));
    return validate_event(event, EventGroup::Core).empty();
  };
  EXPECT_TRUE(fine("n", "m"));
  EXPECT_TRUE(fine("default", ""));
  EXPECT_TRUE(fine("kube-system", ""));
  EXPECT_FALSE(fine("other", ""));
  const auto old_kind = [](std::string_view own) {
    return sentences(validate_event(
        document(fmt::format(R"({{"metadata":{{"name":"e","namespace":"{}"}}}})", own)),
        EventGroup::Core));
  };
  EXPECT_EQ(old_kind("kube-system"),
            Sentences{"involvedObject.namespace: Invalid value: \"\": does not match "
                      "event.namespace"});
  EXPECT_EQ(old_kind("A"), (Sentences{"involvedObject.namespace: Invalid value: \"\": does not "
                                      "match event.namespace",
                                      "namespace: Invalid value: \"A\": " + kBadSubdomain}));
}

TEST(Event, WordsMayBeAsLongAsTheirLimits) {
  const auto event = [](std::size_t word, std::size_t note) {
    return document(fmt::format(
        R"({{"metadata":{{"name":"e","namespace":"default"}},"eventTime":"2026-01-01T00:00:00.000000Z",
        "type":"Warning","reason":"{0}","action":"{0}","reportingInstance":"{0}","message":"{1}",
        "reportingComponent":"-","series":{{"count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}}}})",
        std::string(word, 'w'), std::string(note, 'm')));
  };
  const std::string bad = "reportingComponent: Invalid value: \"-\": " + kBadNamePart;
  EXPECT_EQ(sentences(validate_event(event(128, 1024), EventGroup::Core)), Sentences{bad});
  EXPECT_EQ(
      sentences(validate_event(event(129, 1024), EventGroup::Core)),
      (Sentences{bad, "reportingInstance: Invalid value: \"\": can have at most 128 characters",
                 "action: Invalid value: \"\": can have at most 128 characters",
                 "reason: Invalid value: \"\": can have at most 128 characters"}));
  EXPECT_EQ(validate_event(event(1, 1024), EventGroup::Events).size(), 1U);
  EXPECT_EQ(validate_event(event(1, 1025), EventGroup::Events).size(), 2U);
}

TEST(Event, UpdatesThroughTheNewGroupAreOfTheSameEvent) {
  const Json old = document(
      R"({"metadata":{"name":"e","namespace":"default"},"eventTime":"2026-01-01T00:00:00.000000Z",
          "type":"Normal","reason":"R","action":"A","reportingComponent":"c","reportingInstance":"i"})");
  const auto errors_of = [&](std::string_view member, const Json& value) {
    Json now = old;
    now.get_object()[member] = value;
    return sentences(validate_event_update(now, old, EventGroup::Events));
  };
  for (const std::string_view member : {"firstTimestamp", "lastTimestamp"})
    EXPECT_EQ(errors_of(member, "2026-01-01T00:00:00Z"),
              Sentences{fmt::format(
                  "{}: Invalid value: \"2026-01-01T00:00:00Z\": field is immutable", member)});
  for (const std::string_view member : {"reason", "reportingInstance", "action", "type"})
    EXPECT_EQ(errors_of(member, "x"),
              Sentences{fmt::format("{}: Invalid value: \"x\": field is immutable", member)});
  EXPECT_EQ(errors_of("reportingComponent", "d"),
            Sentences{"reportingController: Invalid value: \"d\": field is immutable"});
  EXPECT_EQ(errors_of("count", 3), Sentences{"count: Invalid value: 3: field is immutable"});
  EXPECT_EQ(errors_of("count", 0), Sentences{}) << "zero is unset";
  EXPECT_EQ(errors_of("source", JsonObject()), Sentences{});
  EXPECT_EQ(errors_of("related", JsonObject{{"name", "x"}}),
            Sentences{"related: Invalid value: {\"name\":\"x\"}: field is immutable"});
  EXPECT_EQ(errors_of("series", JsonObject{{"count", 1}}),
            (Sentences{"series.count: Invalid value: \"\": should be at least 2",
                       "series.lastObservedTime: Required value"}));
}

TEST(Event, AnOldSeriesIsNotJudgedAgain) {
  const Json event = document(
      R"({"metadata":{"name":"e","namespace":"default"},"eventTime":"2026-01-01T00:00:00.000000Z",
          "type":"Normal","reason":"R","action":"A","reportingComponent":"c","reportingInstance":"i",
          "series":{"count":1}})");
  EXPECT_EQ(sentences(validate_event_update(event, event, EventGroup::Events)), Sentences{});
}

TEST(Event, TheNewGroupIsStrict) {
  const Json bare =
      document(R"({"metadata":{"name":"e","namespace":"default"},"type":"Odd","count":3,
      "source":{"component":"c"},"firstTimestamp":"2026-01-01T00:00:00Z"})");
  EXPECT_EQ(
      sentences(validate_event(bare, EventGroup::Events)),
      (Sentences{"eventTime: Required value", "type: Invalid value: \"\": has invalid value: Odd",
                 "firstTimestamp: Invalid value: \"\": needs to be unset",
                 "count: Invalid value: \"\": needs to be unset",
                 "source: Invalid value: \"\": needs to be unset"}));
  const Json timed = document(fmt::format(
      R"({{"metadata":{{"name":"e","namespace":"default"}},"eventTime":"2026-01-01T00:00:00.000000Z",
           "type":"Normal","reason":"{}","message":"{}","series":{{"count":1}}}})",
      std::string(129, 'r'), std::string(1025, 'm')));
  EXPECT_EQ(sentences(validate_event(timed, EventGroup::Events)),
            (Sentences{"reportingController: Required value",
                       "reportingController: Invalid value: \"\": name part must be non-empty",
                       "reportingController: Invalid value: \"\": " + kBadNamePart,
                       "reportingInstance: Required value", "action: Required value",
                       "reason: Invalid value: \"\": can have at most 128 characters",
                       "message: Invalid value: \"\": can have at most 1024 characters",
                       "series.count: Invalid value: \"\": should be at least 2",
                       "series.lastObservedTime: Required value"}));
}

TEST(Event, UpdatesThroughTheNewGroupChangeOnlyTheSeries) {
  const std::string common =
      R"("metadata":{"name":"e","namespace":"default"},"eventTime":"2026-01-01T00:00:00.000000Z",
         "type":"Normal","reason":"R","action":"A","reportingComponent":"c","reportingInstance":"i")";
  const Json old = document("{" + common + R"(,"message":"old"})");
  const Json series = document(
      "{" + common +
      R"(,"message":"old","series":{"count":2,"lastObservedTime":"2026-01-01T00:01:00.000000Z"}})");
  const Json note = document("{" + common + R"(,"message":"X"})");
  EXPECT_TRUE(validate_event_update(series, old, EventGroup::Events).empty());
  EXPECT_EQ(sentences(validate_event_update(note, old, EventGroup::Events)),
            Sentences{"message: Invalid value: \"X\": field is immutable"});
  EXPECT_TRUE(validate_event_update(note, old, EventGroup::Core).empty());
}

TEST(Node, TaintsAndAmountsAreJudgedAsUpstreamDoes) {
  const Json node = document(R"({"metadata":{"name":"n1"},"spec":{
      "podCIDRs":["10.0.0.0/24","10.0.1.0/24"],
      "taints":[{"key":"k","effect":"NoSchedule"},{"key":"k","value":"v","effect":"NoSchedule"},
                {"key":"-k","value":"-v","effect":"Never"},{"key":"e"}]},
      "status":{"capacity":{"cpu":"-1"},"allocatable":{"pods":"1500m","example.com/gpu":"500m","cpu":"100m"}}})");
  EXPECT_EQ(
      sentences(validate_node(node)),
      (Sentences{("metadata.taints[1]: Duplicate value: "
                  "{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}: taints must be "
                  "unique by key and effect pair"),
                 "metadata.taints[2].key: Invalid value: \"-k\": " + kBadNamePart,
                 "metadata.taints[2].value: Invalid value: \"-v\": " + kBadLabelValue,
                 ("metadata.taints[2].effect: Unsupported value: \"Never\": supported values: "
                  "\"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""),
                 "metadata.taints[3].effect: Required value",
                 "status.capacity.cpu: Invalid value: \"-1\": must be greater than or equal to 0",
                 "status.allocatable.pods: Invalid value: \"1500m\": must be an integer",
                 "status.allocatable.example.com/gpu: Invalid value: \"500m\": must be an integer",
                 ("spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.0.1.0/24\"]: may specify no "
                  "more than one CIDR for each IP family")}));
}

TEST(Node, HasOneRangeOfEachFamily) {
  const auto errors_of = [](std::string_view spec) {
    return sentences(validate_node(
        document(fmt::format(R"({{"metadata":{{"name":"n"}},"spec":{{{}}}}})", spec))));
  };
  EXPECT_EQ(errors_of(R"("podCIDRs":["10.0.0.0/24","2001:db8::/64"])"), Sentences{});
  EXPECT_EQ(errors_of(R"("podCIDR":"10.0.0.0/24")"), Sentences{});
  const std::string many = ": may specify no more than one CIDR for each IP family";
  EXPECT_EQ(errors_of(R"("podCIDRs":["10.0.0.0/24","10.0.0.0/24"])"),
            (Sentences{R"(spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.0.0/24"])" + many,
                       "spec.podCIDRs[1]: Duplicate value: \"10.0.0.0/24\""}));
  EXPECT_EQ(
      errors_of(R"("podCIDRs":["10.0.0.0/24","2001:db8::/64","x"])"),
      (Sentences{"spec.podCIDRs[2]: Invalid value: \"x\": must be a valid CIDR value, (e.g. "
                 "10.9.8.0/24 or 2001:db8::/64)",
                 R"(spec.podCIDRs: Invalid value: ["10.0.0.0/24","2001:db8::/64","x"])" + many}));
  EXPECT_EQ(sentences(validate_node(
                document(R"({"metadata":{"name":"n","namespace":"m","finalizers":["mine"]}})"))),
            (Sentences{"metadata.namespace: Forbidden: not allowed on this type",
                       "metadata.finalizers[0]: Invalid value: \"mine\": name is neither a "
                       "standard finalizer name nor is it fully qualified"}));
}

TEST(Node, UpdatesMaySetWhatWasNotSet) {
  const Json bare = document(R"({"metadata":{"name":"n"},"spec":{}})");
  const Json full = document(
      R"({"metadata":{"name":"n"},"spec":{"podCIDR":"10.0.0.0/24","providerID":"p"},
          "status":{"addresses":[{"type":"InternalIP","address":"a"},{"type":"Hostname","address":"a"}]}})");
  EXPECT_EQ(sentences(validate_node_update(full, bare)), Sentences{});
  EXPECT_EQ(sentences(validate_node_update(full, full)), Sentences{});
  EXPECT_EQ(validate_node_update(bare, full).size(), 2U);
  const Json wrong = document(
      R"({"metadata":{"name":"n"},"spec":{"taints":[{"key":"k"}]},"status":{"capacity":{"cpu":"-1"}}})");
  EXPECT_EQ(
      sentences(validate_node_update(wrong, bare)),
      (Sentences{"status.capacity.cpu: Invalid value: \"-1\": must be greater than or equal to "
                 "0",
                 "metadata.taints[0].effect: Required value"}));
}

TEST(Node, UpdatesKeepCidrAndProvider) {
  const Json old = document(
      R"({"metadata":{"name":"n"},"spec":{"podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24"],"providerID":"p"}})");
  const Json now = document(
      R"({"metadata":{"name":"n"},"spec":{"podCIDR":"10.0.1.0/24","podCIDRs":["10.0.1.0/24"],"providerID":"q"},
          "status":{"addresses":[{"type":"InternalIP","address":"a"},{"type":"InternalIP","address":"a"}]}})");
  EXPECT_EQ(sentences(validate_node_update(now, old)),
            (Sentences{
                "status.addresses[1]: Duplicate value: {\"type\":\"InternalIP\",\"address\":\"a\"}",
                "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" "
                "to valid",
                "spec.providerID: Forbidden: node updates may not change providerID except from "
                "\"\" to valid"}));
  EXPECT_TRUE(validate_node_update(now, document(R"({"metadata":{"name":"n"}})")).size() == 1);
  EXPECT_EQ(
      sentences(validate_node(document(R"({"metadata":{"name":"n"},"spec":{"podCIDR":"x"}})"))),
      Sentences{"spec.podCIDRs[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. "
                "10.9.8.0/24 or 2001:db8::/64)"});
}

}  // namespace
}  // namespace muster::api
