#include "api/validation/kind_rules_testing.h"

namespace muster::api {
namespace {

TEST(Service, PortsAreNamedNumberedAndUnique) {
  expect({"", "Service", R"({"spec":{"ports":[{"port":80}]}})", {}});
  expect({"", "Service", R"({"spec":{"clusterIP":"None"}})", {}});
  expect({"", "Service", R"({"spec":{}})", {"spec.ports: Required value"}});
  expect({"",
          "Service",
          R"({"spec":{"ports":[{"port":80},{"port":70000,"name":"b"}]}})",
          {"spec.ports[0].name: Required value",
           "spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
           "spec.ports[1].targetPort: Invalid value: 70000: must be between 1 and 65535, "
           "inclusive"}});
  expect({"",
          "Service",
          R"({"spec":{"type":"ExternalName"}})",
          {"spec.externalName: Required value"}});
  expect({"",
          "Service",
          R"({"spec":{"clusterIP":"10.0.0.2","ports":[{"port":80}]}})",
          {"spec.clusterIPs[0]: Invalid value: [\"10.0.0.2\"]: may not change once set"},
          R"({"spec":{"clusterIP":"10.0.0.1","ports":[{"port":80}]}})"});
}

TEST(Service, IsJudgedAsUpstreamDoes) {
  const RuleCase cases[] = {
      {"",
       "Service",
       R"({"spec":{"type":"NodePort","clusterIP":"None","ports":[{"port":80}]}})",
       {"spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort "
        "services"}},
      {"",
       "Service",
       R"({"spec":{"type":"ExternalName","externalName":"a.b.","clusterIP":"10.0.0.1"}})",
       {"spec.clusterIPs: Forbidden: may not be set for ExternalName services"}},
      {"",
       "Service",
       R"({"spec":{"type":"Often","clusterIP":"x","ports":[{"port":80}]}})",
       {"spec.clusterIPs[0]: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or "
        "2001:db8::ffff)",
        "spec.type: Unsupported value: \"Often\": supported values: \"ClusterIP\", "
        "\"ExternalName\", \"LoadBalancer\", \"NodePort\""}},
      {"",
       "Service",
       R"({"spec":{"ports":[{"name":"a","port":80,"nodePort":30000},{"name":"a","port":80,"nodePort":30000}]}})",
       {"spec.ports[1].name: Duplicate value: \"a\"",
        "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
        "spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
        "spec.ports[1].nodePort: Duplicate value: 30000",
        ("spec.ports[1]: Duplicate value: {\"name\":\"a\",\"port\":80,\"nodePort\":30000,"
         "\"protocol\":\"TCP\",\"targetPort\":80}")}},
      {"",
       "Service",
       R"({"spec":{"ports":[{"port":80}],"externalIPs":["127.0.0.1","fe80::1","y"],"sessionAffinityConfig":{}}})",
       {"spec.sessionAffinityConfig: Forbidden: must not be set when session affinity is None",
        "spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback range "
        "(127.0.0.0/8, ::1/128)",
        "spec.externalIPs[1]: Invalid value: \"fe80::1\": may not be in the link-local range "
        "(169.254.0.0/16, fe80::/10)",
        "spec.externalIPs[2]: Invalid value: \"y\": must be a valid IP address, (e.g. 10.9.8.7 or "
        "2001:db8::ffff)"}},
      {"",
       "Service",
       R"({"spec":{"ports":[{"port":80}],"loadBalancerSourceRanges":["z"],"loadBalancerClass":"c","externalTrafficPolicy":"Local","allocateLoadBalancerNodePorts":true,"healthCheckNodePort":1,"internalTrafficPolicy":"Far","trafficDistribution":"Far"}})",
       {"spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
        ("spec.LoadBalancerSourceRanges[0]: Invalid value: \"z\": must be a valid CIDR value, "
         "(e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        ("spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is "
         "'LoadBalancer'"),
        "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
        ("spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for "
         "externally-accessible services"),
        ("spec.healthCheckNodePort: Invalid value: 1: may only be set when `type` is "
         "'LoadBalancer' and `externalTrafficPolicy` is 'Local'"),
        ("spec.internalTrafficPolicy: Unsupported value: \"Far\": supported values: \"Cluster\", "
         "\"Local\""),
        ("spec.trafficDistribution: Unsupported value: \"Far\": supported values: \"PreferClose\", "
         "\"PreferSameNode\", \"PreferSameZone\"")}},
      {"",
       "Service",
       R"({"spec":{"type":"LoadBalancer","loadBalancerClass":"b/c","ports":[{"port":10250}]}})",
       {"spec.loadBalancerClass: Invalid value: \"b/c\": may not change once set",
        "spec.ports[0]: Invalid value: 10250: may not expose port 10250 externally since it is "
        "used by "
        "kubelet"},
       R"({"spec":{"type":"LoadBalancer","loadBalancerClass":"a/c","ports":[{"port":80}]}})"},
      {"",
       "Service",
       R"({"spec":{"ports":[{"port":80}]}})",
       {"spec.clusterIPs[0]: Invalid value: []: primary clusterIP can not be unset"},
       R"({"spec":{"clusterIP":"10.0.0.1","ports":[{"port":80}]}})"},
  };
  for (const RuleCase& c : cases) expect(c);
}

TEST(Service, KeepsAClientAtOnePodForADayAtMost) {
  const auto sticky = [](std::string_view seconds) {
    return std::string(R"({"spec":{"ports":[{"port":80}],"sessionAffinity":"ClientIP",)"
                       R"("sessionAffinityConfig":{"clientIP":{"timeoutSeconds":)")
        .append(seconds)
        .append("}}}}");
  };
  expect({"", "Service", sticky("86400"), {}});
  expect({"",
          "Service",
          sticky("86401"),
          {"spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be "
           "greater than 0 and less than 86400"}});
}

TEST(Service, DefaultsFollowTheType) {
  const Json service = prepared(*find_kind("", "Service"),
                                R"({"spec":{"type":"LoadBalancer","ports":[{"port":80}]}})");
  const Json& spec = *find(service, "spec");
  EXPECT_EQ(find_string(spec, "externalTrafficPolicy"), "Cluster");
  EXPECT_EQ(find_string(spec, "internalTrafficPolicy"), "Cluster");
  EXPECT_EQ(find_string(spec, "sessionAffinity"), "None");
  EXPECT_EQ(to_text(find_array(spec, "ports")->at(0)),
            R"({"port":80,"protocol":"TCP","targetPort":80})");
}

TEST(EndpointSlice, AddressesAreOfTheSaidType) {
  expect({"discovery.k8s.io",
          "EndpointSlice",
          R"({"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}]})",
          {}});
  expect({"discovery.k8s.io",
          "EndpointSlice",
          R"({"addressType":"IPv6","endpoints":[{"addresses":["10.0.0.1"]},{"addresses":[]}]})",
          {"endpoints[0].addresses[0]: Invalid value: \"10.0.0.1\": must be a valid IPv6 address",
           "endpoints[1].addresses: Required value: must contain at least 1 address"}});
}

TEST(EndpointSlice, IsJudgedAsUpstreamDoes) {
  const RuleCase cases[] = {
      {"discovery.k8s.io",
       "EndpointSlice",
       R"({"addressType":"IPv4","endpoints":[{"addresses":["x","127.0.0.1"],"hostname":"-"}],"ports":[{"port":80},{"port":81},{"name":"b","protocol":"ICMP"}]})",
       {"endpoints[0].addresses[0]: Invalid value: \"x\": must be a valid IPv4 address",
        "endpoints[0].addresses[0]: Invalid value: \"x\": must be a valid IP address",
        ("endpoints[0].addresses[1]: Invalid value: \"127.0.0.1\": may not be in the loopback "
         "range (127.0.0.0/8, ::1/128)"),
        "endpoints[0].hostname: Invalid value: \"-\": " + kBadLabel,
        "ports[1].name: Duplicate value: \"\"",
        ("ports[2].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", "
         "\"UDP\"")}},
      {"discovery.k8s.io",
       "EndpointSlice",
       R"({"addressType":"FQDN","endpoints":[{"addresses":["a"],"hints":{"forZones":[{"name":"z"},{"name":"z"}]}}]})",
       {"endpoints[0].addresses[0]: Invalid value: \"a\": should be a domain with at least two "
        "segments separated by dots",
        "endpoints[0].hints.forZones[1].name: Duplicate value: \"z\"",
        "addressType: Invalid value: \"FQDN\": field is immutable"},
       R"({"addressType":"IPv4","endpoints":[]})"},
  };
  for (const RuleCase& c : cases) expect(c);
}

}  // namespace
}  // namespace muster::api
