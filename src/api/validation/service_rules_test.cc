#include <fmt/format.h>

#include "api/validation/kind_rules_testing.h"

// Services and EndpointSlices, type by type.
namespace muster::api {
namespace {

constexpr std::string_view kSlices = "discovery.k8s.io";
const std::string kBadIpText = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
constexpr std::string_view kPorts = "must be between 1 and 65535, inclusive";

// A service with these members and one port.
std::string service(std::string_view members, std::string_view port = R"("port":80)") {
  return fmt::format(R"({{"spec":{{"ports":[{{{}}}]{}{}}}}})", port, members.empty() ? "" : ",",
                     members);
}

struct Case {
  std::string text;
  Sentences want;
};

void check(std::span<const Case> cases) {
  for (const Case& c : cases) expect({"", "Service", c.text, c.want});
}

TEST(ServicePorts, AreNumbersOrNames) {
  const Case cases[] = {
      {service("", R"("port":1,"targetPort":65535)"), {}},
      {service("", R"("port":65535,"targetPort":"http")"), {}},
      {service("", R"("port":80,"targetPort":65536)"),
       {fmt::format("spec.ports[0].targetPort: Invalid value: 65536: {}", kPorts)}},
      {service("", R"("port":80,"targetPort":"-")"),
       {"spec.ports[0].targetPort: Invalid value: \"-\": must contain at least one letter (a-z)",
        "spec.ports[0].targetPort: Invalid value: \"-\": must not begin or end with a hyphen"}},
      {service("", R"("port":80,"name":"A","appProtocol":"-","protocol":"ICMP")"),
       {"spec.ports[0].name: Invalid value: \"A\": " + kBadLabel,
        "spec.ports[0].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", "
        "\"TCP\", \"UDP\"",
        "spec.ports[0].appProtocol: Invalid value: \"-\": " + kBadNamePart}},
      {R"({"spec":{"type":"NodePort","ports":[{"name":"a","port":80,"nodePort":30000},
                   {"name":"b","port":80,"protocol":"UDP","nodePort":30000},
                   {"name":"c","port":81,"nodePort":30001}]}})",
       {}},
      {R"({"spec":{"type":"NodePort","ports":[{"name":"a","port":80,"nodePort":30000},
                   {"name":"b","port":81,"nodePort":30000}]}})",
       {"spec.ports[1].nodePort: Duplicate value: 30000"}},
  };
  check(cases);
}

TEST(ServiceTypes, DemandAndForbid) {
  const std::string not_here = ": Forbidden: may not be set for ExternalName services";
  const Case cases[] = {
      {service(R"("type":"LoadBalancer")"), {}},
      {service(R"("type":"NodePort")"), {}},
      {service(R"("type":"NodePort")", R"("port":10250)"), {}},
      {service(R"("type":"LoadBalancer","clusterIP":"None")"),
       {"spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for LoadBalancer "
        "services"}},
      {R"({"spec":{"clusterIPs":["None"]}})", {}},
      {R"({"spec":{"type":"ExternalName","externalName":"a.b"}})", {}},
      {R"({"spec":{"type":"ExternalName","externalName":"."}})",
       {"spec.externalName: Required value"}},
      {R"({"spec":{"type":"ExternalName","externalName":"A","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack"}})",
       {"spec.ipFamilies" + not_here, "spec.ipFamilyPolicy" + not_here,
        "spec.externalName: Invalid value: \"A\": " + kBadSubdomain}},
  };
  check(cases);
}

TEST(ServiceAddresses, AreAddresses) {
  const Case cases[] = {
      {service(R"("clusterIPs":["10.0.0.1","2001:db8::1"])"), {}},
      {service(R"("clusterIPs":["None","10.0.0.1"])"),
       {"spec.clusterIPs: Invalid value: [\"None\",\"10.0.0.1\"]: 'None' must be the first and "
        "only value"}},
      {service(R"("clusterIPs":["10.0.0.1","None"])"),
       {"spec.clusterIPs[1]: Invalid value: \"None\": " + kBadIpText}},
      {service(R"("externalIPs":["10.0.0.1"],"externalTrafficPolicy":"Local")"), {}},
      {service(R"("selector":{"-":"v"})"),
       {"spec.selector: Invalid value: \"-\": " + kBadNamePart}},
  };
  check(cases);
}

TEST(ServiceAddresses, StayOnceTheyAreSet) {
  const std::string one = service(R"("clusterIP":"10.0.0.1")");
  const std::string external = R"({"spec":{"type":"ExternalName","externalName":"a"}})";
  expect({"", "Service", one, {}, one});
  expect({"", "Service", one, {}, service("")});
  expect({"", "Service", external, {}, one});
  expect({"", "Service", one, {}, external});
  expect({"", "Service", service(R"("clusterIPs":["10.0.0.1","2001:db8::1"])"), {}, one});
  const std::string a = service(R"("type":"LoadBalancer","loadBalancerClass":"a/a")");
  const std::string none = service(R"("type":"LoadBalancer")");
  expect({"", "Service", a, {}, a});
  expect({"",
          "Service",
          none,
          {"spec.loadBalancerClass: Invalid value: null: may not change once set"},
          a});
  expect({"", "Service", a, {}, service("")});
  expect({"", "Service", service(""), {}, a});
}

TEST(ServiceAffinity, HasAnEnd) {
  const auto sticky = [](std::string_view seconds) {
    return service(fmt::format(
        R"("sessionAffinity":"ClientIP","sessionAffinityConfig":{{"clientIP":{{"timeoutSeconds":{}}}}})",
        seconds));
  };
  const Case cases[] = {
      {sticky("1"), {}},
      {sticky("-1"),
       {"spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: -1: must be greater "
        "than 0 and less than 86400"}},
      {service(R"("sessionAffinity":"Always")"),
       {"spec.sessionAffinity: Unsupported value: \"Always\": supported values: \"ClientIP\", "
        "\"None\""}},
  };
  check(cases);
  const auto made = prepared(*find_kind("", "Service"), service(R"("sessionAffinity":"ClientIP")"));
  EXPECT_EQ(to_text(*find_path(made, "spec.sessionAffinityConfig.clientIP.timeoutSeconds")),
            "10800");
}

TEST(ServiceTraffic, PoliciesGoWithTypes) {
  const std::string health =
      "spec.healthCheckNodePort: Invalid value: 5: may only be set when `type` is 'LoadBalancer' "
      "and `externalTrafficPolicy` is 'Local'";
  const Case cases[] = {
      {service(R"("type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":5)"),
       {}},
      {service(
           R"("type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":65536)"),
       {fmt::format("spec.healthCheckNodePort: Invalid value: 65536: {}", kPorts)}},
      {service(R"("type":"LoadBalancer","healthCheckNodePort":5)"), {health}},
      {service(R"("type":"NodePort","externalTrafficPolicy":"Local","healthCheckNodePort":5)"),
       {health}},
      {service(R"("type":"NodePort","externalTrafficPolicy":"Far")"),
       {"spec.externalTrafficPolicy: Unsupported value: \"Far\": supported values: \"Cluster\", "
        "\"Local\""}},
      {service(R"("internalTrafficPolicy":"Local","trafficDistribution":"PreferSameZone")"), {}},
      {service(
           R"("type":"LoadBalancer","loadBalancerSourceRanges":["10.0.0.0/8"],"allocateLoadBalancerNodePorts":false)"),
       {}},
      {service(R"("type":"LoadBalancer","loadBalancerClass":"-")"),
       {"spec.loadBalancerClass: Invalid value: \"-\": " + kBadNamePart}},
  };
  check(cases);
}

TEST(ServiceDefaults, DependOnTheType) {
  const auto member = [](std::string_view members, std::string_view name) {
    const Json made = prepared(*find_kind("", "Service"), service(members));
    const Json* found = find(*find(made, "spec"), name);
    return found == nullptr ? std::string("none") : to_text(*found);
  };
  constexpr std::string_view kExternal = R"("type":"ExternalName","externalName":"a")";
  constexpr std::string_view kBalanced = R"("type":"LoadBalancer")";
  EXPECT_EQ(member("", "type"), "\"ClusterIP\"");
  EXPECT_EQ(member("", "internalTrafficPolicy"), "\"Cluster\"");
  EXPECT_EQ(member(kExternal, "internalTrafficPolicy"), "none");
  EXPECT_EQ(member("", "externalTrafficPolicy"), "none");
  EXPECT_EQ(member(R"("type":"NodePort")", "externalTrafficPolicy"), "\"Cluster\"");
  EXPECT_EQ(member(R"("type":"NodePort","externalTrafficPolicy":"Local")", "externalTrafficPolicy"),
            "\"Local\"");
  EXPECT_EQ(member(kBalanced, "allocateLoadBalancerNodePorts"), "true");
  EXPECT_EQ(member(R"("type":"NodePort")", "allocateLoadBalancerNodePorts"), "none");
  EXPECT_EQ(member(R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":false)",
                   "allocateLoadBalancerNodePorts"),
            "false");
}

// A slice of this type with one endpoint of these members.
std::string slice(std::string_view type, std::string_view endpoint, std::string_view more = "") {
  return fmt::format(R"({{"addressType":"{}","endpoints":[{{{}}}]{}}})", type, endpoint, more);
}

TEST(EndpointSlice, AddressesAreOfItsType) {
  const Case cases[] = {
      {slice("IPv6", R"("addresses":["2001:db8::1"])"), {}},
      {slice("IPv4", R"("addresses":["2001:db8::1"])"),
       {"endpoints[0].addresses[0]: Invalid value: \"2001:db8::1\": must be a valid IPv4 address"}},
      {slice("FQDN", R"("addresses":["a.b","a.b."])"), {}},
      {slice("FQDN", R"("addresses":["","A.b","a."])"),
       {"endpoints[0].addresses[0]: Required value",
        "endpoints[0].addresses[1]: Invalid value: \"A.b\": " + kBadSubdomain,
        "endpoints[0].addresses[2]: Invalid value: \"a\": should be a domain with at least two "
        "segments separated by dots"}},
      {slice("Host", R"("addresses":["anything"])"),
       {"addressType: Unsupported value: \"Host\": supported values: \"FQDN\", \"IPv4\", "
        "\"IPv6\""}},
      {slice("", R"("addresses":["anything"])"), {"addressType: Required value"}},
      {slice("IPv4", R"("addresses":["10.0.0.1"],"nodeName":"N","hostname":"h")"),
       {"endpoints[0].nodeName: Invalid value: \"N\": " + kBadSubdomain}},
  };
  for (const Case& c : cases) expect({kSlices, "EndpointSlice", c.text, c.want});
}

TEST(EndpointSlice, HasItsLimits) {
  const auto list = [](std::string_view item, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out.append(i == 0 ? "" : ",").append(item);
    return out;
  };
  const auto addresses = [&](std::size_t count) {
    return slice("IPv4", fmt::format(R"("addresses":[{}])", list("\"10.0.0.1\"", count)));
  };
  expect({kSlices, "EndpointSlice", addresses(100), {}});
  expect({kSlices,
          "EndpointSlice",
          addresses(101),
          {"endpoints[0].addresses: Too many: 101: must have at most 100 items"}});
  const auto zones = [&](std::size_t count) {
    std::string names;
    for (std::size_t i = 0; i < count; ++i)
      names += fmt::format(R"({}{{"name":"z{}"}})", i == 0 ? "" : ",", i);
    return slice("IPv4",
                 fmt::format(R"("addresses":["10.0.0.1"],"hints":{{"forZones":[{}]}})", names));
  };
  expect({kSlices, "EndpointSlice", zones(8), {}});
  expect({kSlices,
          "EndpointSlice",
          zones(9),
          {"endpoints[0].hints.forZones: Too many: 9: must have at most 8 items"}});
  expect({kSlices,
          "EndpointSlice",
          slice("IPv4", R"("addresses":["10.0.0.1"],"hints":{"forZones":[{"name":"-"}]})"),
          {"endpoints[0].hints.forZones[0].name: Invalid value: \"-\": " + kBadLabelValue}});
  const auto endpoints = [&](std::size_t count) {
    return fmt::format(R"({{"addressType":"IPv4","endpoints":[{}]}})",
                       list(R"({"addresses":["10.0.0.1"]})", count));
  };
  expect({kSlices, "EndpointSlice", endpoints(1000), {}});
  expect({kSlices,
          "EndpointSlice",
          endpoints(1001),
          {"endpoints: Too many: 1001: must have at most 1000 items"}});
}

TEST(EndpointSlice, PortsHaveNamesOfTheirOwn) {
  const auto with = [](std::string_view ports) {
    return slice("IPv4", R"("addresses":["10.0.0.1"])", fmt::format(R"(,"ports":[{}])", ports));
  };
  expect(
      {kSlices,
       "EndpointSlice",
       with(R"({"name":"a","port":80,"protocol":"UDP","appProtocol":"x/y"},{"name":"","port":81})"),
       {}});
  expect({kSlices,
          "EndpointSlice",
          with(R"({"name":"A","port":80},{"name":"b","appProtocol":"-"},{"name":"b"})"),
          {"ports[0].name: Invalid value: \"A\": " + kBadLabel,
           "ports[1].appProtocol: Invalid value: \"-\": " + kBadNamePart,
           "ports[2].name: Duplicate value: \"b\""}});
}

}  // namespace
}  // namespace muster::api
