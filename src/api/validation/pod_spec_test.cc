#include "api/validation/pod.h"
#include "api/validation/validation_testing.h"

// What pods say of themselves beside their containers and their place.
namespace muster::api {
namespace {

Json pod(std::string_view members, std::string_view metadata = "") {
  return document(fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"n"{}{}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]{}{}}}}})",
      metadata.empty() ? "" : ",", metadata, members.empty() ? "" : ",", members));
}

struct Case {
  std::string members;
  Sentences want;
};

void check(std::span<const Case> cases) {
  for (const Case& c : cases)
    EXPECT_EQ(sentences(validate_pod(pod(c.members))), c.want) << c.members;
}

TEST(PodSpec, NameServersAreThreeAtMost) {
  std::string many = R"("dnsConfig":{"searches":["a")";
  for (int i = 0; i < 31; ++i) many += ",\"a\"";
  const std::string bad_ip = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  const Case cases[] = {
      {R"("dnsPolicy":"None","dnsConfig":{"nameservers":["10.0.0.1","10.0.0.2","::1"]})", {}},
      {R"("dnsPolicy":"None","dnsConfig":{"nameservers":[]})",
       {"spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when "
        "`dnsPolicy` is None"}},
      {R"("dnsPolicy":"Default","dnsConfig":{})", {}},
      {R"("dnsConfig":{"nameservers":["10.0.0.1","10.0.0.2","10.0.0.3","x"]})",
       {"spec.dnsConfig.nameservers: Invalid value: "
        "[\"10.0.0.1\",\"10.0.0.2\",\"10.0.0.3\",\"x\"]: must not have more than 3 nameservers",
        "spec.dnsConfig.nameservers[3]: Invalid value: \"x\": " + bad_ip}},
      {many + "]}", {}},
  };
  check(cases);
  const auto too_many = sentences(validate_pod(pod(many + ",\"a\"]}")));
  ASSERT_EQ(too_many.size(), 1U);
  EXPECT_TRUE(too_many[0].ends_with("must not have more than 32 search paths")) << too_many[0];
}

TEST(PodSpec, HostsAreShared) {
  const Case cases[] = {
      {R"("shareProcessNamespace":true)", {}},
      {R"("hostPID":true)", {}},
      {R"("shareProcessNamespace":true,"hostPID":true)",
       {"spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace "
        "and HostPID cannot both be enabled"}},
      {R"("securityContext":{"fsGroup":0,"runAsUser":2147483647,"runAsGroup":5})", {}},
      {R"("securityContext":{"fsGroup":-1,"runAsGroup":2147483648})",
       {"spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, "
        "inclusive",
        "spec.securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and "
        "2147483647, inclusive"}},
      {R"("hostAliases":[{"ip":"10.0.0.1","hostnames":["a.b","B"]}])",
       {"spec.hostAliases[0].hostnames[1]: Invalid value: \"B\": " + kBadSubdomain}},
      {R"("os":{"name":"linux"})", {}},
      {R"("os":{})", {"spec.os.name: Required value"}},
  };
  check(cases);
}

TEST(PodSpec, DeadlinesAndNamesFit) {
  const Case cases[] = {
      {R"("activeDeadlineSeconds":1)", {}},
      {R"("activeDeadlineSeconds":2147483647)", {}},
      {R"("activeDeadlineSeconds":2147483648)",
       {"spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, "
        "inclusive"}},
      {R"("serviceAccountName":"S","runtimeClassName":"R")",
       {"spec.serviceAccountName: Invalid value: \"S\": " + kBadSubdomain,
        "spec.runtimeClassName: Invalid value: \"R\": " + kBadSubdomain}},
      {R"("readinessGates":[{"conditionType":"a"},{"conditionType":"-"}])",
       {"spec.readinessGates[1].conditionType: Invalid value: \"-\": " + kBadNamePart}},
      {R"("nodeName":"n","schedulingGates":[])", {}},
      {R"("schedulingGates":[{"name":"a"}])", {}},
      {R"("preemptionPolicy":"Never","restartPolicy":"OnFailure","dnsPolicy":"ClusterFirstWithHostNet")",
       {}},
      {R"("preemptionPolicy":"PreemptLowerPriority","restartPolicy":"Never")", {}},
      {R"("schedulingGroup":{"podGroupName":"g"},"evictionResponders":[])", {}},
  };
  check(cases);
}

TEST(PodSpec, HostPortsMatchOnTheHostsNetwork) {
  const auto with_port = [](std::string_view host, std::string_view port) {
    return sentences(validate_pod(document(fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"n"}},"spec":{{"hostNetwork":{},"containers":[
        {{"name":"c","image":"i","ports":[{{"containerPort":80,{}}}]}}]}}}})",
        host, port))));
  };
  const Sentences mismatch{
      "spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when "
      "`hostNetwork` is true"};
  EXPECT_EQ(with_port("true", R"("hostPort":81)"), mismatch);
  EXPECT_EQ(with_port("true", R"("hostPort":80)"), Sentences{});
  EXPECT_EQ(with_port("true", R"("name":"x")"), Sentences{});
  EXPECT_EQ(with_port("false", R"("hostPort":81)"), Sentences{});
}

TEST(PodSpec, ImagesHaveNoWhiteSpaceAround) {
  for (const std::string_view image : {"i ", "i\\t", "\\ni", "\\u000bi"}) {
    const auto found = sentences(validate_pod(document(fmt::format(
        R"({{"metadata":{{"name":"p","namespace":"n"}},"spec":{{"containers":[{{"name":"c","image":"i j"}}],
        "initContainers":[{{"name":"d","image":"{}"}}]}}}})",
        image))));
    ASSERT_EQ(found.size(), 1U) << image;
    EXPECT_TRUE(found[0].starts_with("spec.initContainers[0].image: Invalid value: ")) << found[0];
    EXPECT_TRUE(found[0].ends_with(": must not have leading or trailing whitespace")) << found[0];
  }
}

TEST(PodSpec, AnnotationsOfPodsAreNumbersWhereTheyMeanNumbers) {
  const auto cost = [](std::string_view value) {
    return validate_pod(
               pod("", fmt::format(
                           R"("annotations":{{"controller.kubernetes.io/pod-deletion-cost":"{}"}})",
                           value)))
        .size();
  };
  for (const std::string_view fine : {"0", "-5", "2147483647", "-2147483648"})
    EXPECT_EQ(cost(fine), 0U) << fine;
  for (const std::string_view odd : {"", "1.5", "5 ", "2147483648", "x"})
    EXPECT_EQ(cost(odd), 1U) << odd;
  EXPECT_TRUE(
      validate_pod(pod(R"("nodeName":"n")", R"("annotations":{"kubernetes.io/config.mirror":"m"})"))
          .empty());
}

TEST(PodDefaults, HostPortsFollowOnTheHostsNetworkOnly) {
  const auto ports = [](std::string_view members) {
    Json made = document(fmt::format(
        R"({{"spec":{{{}"containers":[{{"ports":[{{"containerPort":80}}]}}],
        "initContainers":[{{"ports":[{{"containerPort":81,"hostPort":0}}]}}]}}}})",
        members));
    default_pod(made);
    return to_text(*find(find_array(made.at("spec"), "containers")->at(0), "ports")) +
           to_text(*find(find_array(made.at("spec"), "initContainers")->at(0), "ports"));
  };
  EXPECT_EQ(ports(""), R"([{"containerPort":80}][{"containerPort":81,"hostPort":0}])");
  EXPECT_EQ(ports(R"("hostNetwork":false,)"),
            R"([{"containerPort":80}][{"containerPort":81,"hostPort":0}])");
  EXPECT_EQ(ports(R"("hostNetwork":true,)"),
            R"([{"containerPort":80,"hostPort":80}][{"containerPort":81,"hostPort":81}])");
}

TEST(PodDefaults, TheAccountHasTwoNames) {
  const auto accounts = [](std::string_view members) {
    Json made = document(fmt::format(R"({{"spec":{{{}}}}})", members));
    default_pod(made);
    return std::string(find_string(made.at("spec"), "serviceAccountName")) + "/" +
           std::string(find_string(made.at("spec"), "serviceAccount"));
  };
  EXPECT_EQ(accounts(""), "/");
  EXPECT_EQ(accounts(R"("serviceAccount":"a")"), "a/a");
  EXPECT_EQ(accounts(R"("serviceAccountName":"b")"), "b/b");
  EXPECT_EQ(accounts(R"("serviceAccountName":"b","serviceAccount":"a")"), "b/b");
}

TEST(PodDefaults, RequestsAreThoseOfInitContainersToo) {
  Json made = document(
      R"({"spec":{"initContainers":[{"name":"i","resources":{"limits":{"cpu":"1"}}}],
          "containers":[{"name":"c","resources":{"limits":{}}},{"name":"d","resources":{"requests":{"cpu":"1"}}}],
          "ephemeralContainers":[{"name":"e","image":"x:1"},{"name":"f"}]}})");
  default_pod(made);
  const Json& spec = made.at("spec");
  EXPECT_EQ(to_text(*find_path(find_array(spec, "initContainers")->at(0), "resources.requests")),
            R"({"cpu":"1"})");
  EXPECT_EQ(find_path(find_array(spec, "containers")->at(0), "resources.requests"), nullptr);
  EXPECT_EQ(find_path(find_array(spec, "containers")->at(1), "resources.limits"), nullptr);
  EXPECT_EQ(find_string(find_array(spec, "ephemeralContainers")->at(0), "imagePullPolicy"),
            "IfNotPresent");
  EXPECT_EQ(find_string(find_array(spec, "ephemeralContainers")->at(1), "imagePullPolicy"),
            "Always");
}

TEST(Binding, MayLeaveTheKindOut) {
  EXPECT_TRUE(validate_binding(document(R"({"target":{"kind":"Node","name":"n"}})")).empty());
  EXPECT_EQ(sentences(validate_binding(document("{}"))), Sentences{"target.name: Required value"});
}

}  // namespace
}  // namespace muster::api
