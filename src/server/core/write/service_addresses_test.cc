#include "server/core/write/service_addresses.h"

#include <fmt/format.h>

#include "server/core/testing/core_fixture.h"
#include "server/core/write/service_index.h"

namespace muster::server {
namespace {

class ServiceAddressesTest : public CoreTest {
 protected:
  static const api::Kind& services() { return *api::find_kind("", "Service"); }
  static std::string service(std::string_view name, std::string_view spec_members) {
    return fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{{}}}}})", name, spec_members);
  }
  Result<Answer> create_service(std::string_view name,
                                std::string_view spec_members = R"("ports":[{"port":80}])") {
    return create(services(), "default", service(name, spec_members));
  }
  std::string address_of(std::string_view name) {
    return at(get(services(), "default", name), "spec.clusterIP");
  }
  // "80:30000 443:30001"
  std::string ports_of(std::string_view name) {
    std::string out;
    const api::Json document = store_->get(fmt::format("services/default/{}", name))->document();
    for (const api::Json& port : api::find_path(document, "spec.ports")->get_array())
      out += fmt::format("{}{}:{}", out.empty() ? "" : " ", port.at("port").get_int64(),
                         port.at("nodePort").get_int64());
    return out;
  }
};

TEST(NumberRange, KnowsTheLowestThatIsFree) {
  NumberRange range(10, 13);
  EXPECT_EQ(range.lowest_free(10, {}), 10);
  EXPECT_EQ(range.lowest_free(10, {10, 11}), 12);
  EXPECT_EQ(range.lowest_free(12, {}), 12);
  EXPECT_EQ(range.lowest_free(14, {}), std::nullopt);
  for (const std::int64_t number : {9, 10, 11, 12, 14}) range.set(number, true);
  EXPECT_EQ(range.lowest_free(10, {}), 13);
  EXPECT_EQ(range.lowest_free(10, {13}), std::nullopt);
  range.set(13, true);
  EXPECT_EQ(range.lowest_free(10, {}), std::nullopt);
  range.set(11, false);
  EXPECT_EQ(range.lowest_free(10, {}), 11);
}

TEST_F(ServiceAddressesTest, AnAddressIsGivenAgainOnceItsServiceIsGone) {
  ASSERT_TRUE(create_service("a"));
  ASSERT_TRUE(create_service("b"));
  const std::string first = address_of("a");
  EXPECT_NE(first, address_of("b"));
  ASSERT_TRUE(remove(services(), "default", "a"));
  ASSERT_TRUE(create_service("c"));
  EXPECT_EQ(address_of("c"), first);
}

TEST_F(ServiceAddressesTest, APortThatIsAddedGetsANodePortOfItsOwn) {
  ASSERT_TRUE(create_service("a", R"("type":"NodePort","ports":[{"name":"x","port":80}])"));
  EXPECT_EQ(ports_of("a"), "80:30000");
  ASSERT_TRUE(update(services(), "default", "a",
                     service("a", R"("type":"NodePort","ports":[{"name":"x","port":80},)"
                                  R"({"name":"y","port":443}])")));
  EXPECT_EQ(ports_of("a"), "80:30000 443:30001");
}

TEST_F(ServiceAddressesTest, ManyPortsGetTheLowestOfAllThatAreFree) {
  ASSERT_TRUE(create_service("a", R"("type":"NodePort","ports":[{"port":80,"nodePort":30001}])"));
  ASSERT_TRUE(create_service("b", R"("type":"NodePort","ports":[{"name":"w","port":80},)"
                                  R"({"name":"x","port":81},)"
                                  R"({"name":"y","port":82,"nodePort":30003},)"
                                  R"({"name":"z","port":83}])"));
  EXPECT_EQ(ports_of("b"), "80:30000 81:30002 82:30003 83:30004");
}

TEST_F(ServiceAddressesTest, ANodePortIsAskedForByNumberOnlyIfItIsFree) {
  const auto with_port = [](int port) {
    return fmt::format(R"("type":"NodePort","ports":[{{"port":80,"nodePort":{}}}])", port);
  };
  ASSERT_TRUE(create_service("a", with_port(30005)));
  EXPECT_EQ(message(create_service("b", with_port(30005))),
            R"(Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30005: provided )"
            "port is already allocated");
  EXPECT_EQ(message(create_service("b", with_port(80))),
            R"(Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port )"
            "is not in the valid range. The range of valid ports is 30000-32767");
  EXPECT_TRUE(update(services(), "default", "a", service("a", with_port(30005))))
      << "it may keep its own";
  // One that is given goes around those that are asked for.
  ASSERT_TRUE(create_service("c", R"("type":"NodePort","ports":[{"name":"x","port":80},)"
                                  R"({"name":"y","port":443,"nodePort":30000}])"));
  EXPECT_EQ(ports_of("c"), "80:30001 443:30000");
}

TEST_F(ServiceAddressesTest, TheFirstAndTheLastNodePortMayBeAskedFor) {
  ASSERT_TRUE(create_service("a", R"("type":"NodePort","ports":[)"
                                  R"({"name":"x","port":80,"nodePort":30000},)"
                                  R"({"name":"y","port":443,"nodePort":32767}])"));
  EXPECT_EQ(ports_of("a"), "80:30000 443:32767");
  for (const int beyond : {29999, 32768})
    EXPECT_EQ(reason(create_service(
                  "b", fmt::format(R"("type":"NodePort","ports":[{{"port":80,"nodePort":{}}}])",
                                   beyond))),
              Reason::Invalid)
        << beyond;
}

TEST_F(ServiceAddressesTest, AServiceSaysWhatItWasGiven) {
  const auto made = create_service("a");
  EXPECT_EQ(at(made, "spec.clusterIP"), "10.96.0.2") << message(made);
  EXPECT_EQ(at(made, "spec.clusterIPs"), R"(["10.96.0.2"])");
  EXPECT_EQ(at(made, "spec.ipFamilies"), R"(["IPv4"])");
  EXPECT_EQ(at(made, "spec.ipFamilyPolicy"), "SingleStack");
  const auto asked = create_service("b", R"("clusterIP":"10.96.0.9","ports":[{"port":80}])");
  EXPECT_EQ(at(asked, "spec.clusterIPs"), R"(["10.96.0.9"])") << message(asked);
}

TEST_F(ServiceAddressesTest, AddressesAreGivenInOrderAcrossTheirBytes) {
  for (int i = 2; i < 255; ++i)
    ASSERT_TRUE(
        create_service(fmt::format("s{}", i),
                       fmt::format(R"("clusterIP":"10.96.0.{}","ports":[{{"port":80}}])", i)));
  ASSERT_TRUE(create_service("a"));
  EXPECT_EQ(address_of("a"), "10.96.0.255");
  ASSERT_TRUE(create_service("b"));
  EXPECT_EQ(address_of("b"), "10.96.1.0");
  ASSERT_TRUE(create_service("c"));
  EXPECT_EQ(address_of("c"), "10.96.1.1");
}

TEST_F(ServiceAddressesTest, AnAddressIsAskedForOnlyIfItIsFree) {
  ASSERT_TRUE(create_service("a"));
  EXPECT_EQ(message(create_service("b", R"("clusterIP":"10.96.0.2","ports":[{"port":80}])")),
            R"(Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.2"]: failed to )"
            R"(allocate IP 10.96.0.2: provided IP is already allocated)");
  const auto same = update(services(), "default", "a",
                           service("a", R"("clusterIP":"10.96.0.2","ports":[{"port":81}])"));
  EXPECT_EQ(at(same, "spec.clusterIP"), "10.96.0.2") << message(same);
  const auto unsaid = update(services(), "default", "a", service("a", R"("ports":[{"port":82}])"));
  EXPECT_EQ(at(unsaid, "spec.clusterIP"), "10.96.0.2") << message(unsaid);
  // One from outside our range is kept apart, but given once only too.
  const std::string elsewhere = R"("clusterIP":"10.97.0.2","ports":[{"port":80}])";
  ASSERT_TRUE(create_service("c", elsewhere));
  EXPECT_EQ(reason(create_service("d", elsewhere)), Reason::Invalid);
  ASSERT_TRUE(create_service("d"));
  EXPECT_EQ(address_of("d"), "10.96.0.3");
}

TEST_F(ServiceAddressesTest, HeadlessAndExternalServicesHaveNone) {
  const std::string headless = R"("clusterIP":"None","ports":[{"port":80}])";
  for (const char* name : {"a", "b"}) {
    const auto made = create_service(name, headless);
    EXPECT_EQ(at(made, "spec.clusterIP"), "None") << message(made);
    EXPECT_EQ(at(made, "spec.clusterIPs"), R"(["None"])");
  }
  const auto external =
      create_service("c", R"("type":"ExternalName","externalName":"example.com")");
  EXPECT_EQ(at(external, "spec.clusterIP"), "") << message(external);
  EXPECT_EQ(at(external, "spec.ipFamilies"), "");
}

TEST_F(ServiceAddressesTest, AnotherTypeGivesBackWhatItDoesNotNeed) {
  ASSERT_TRUE(create_service("a", R"("type":"NodePort","ports":[{"port":80}])"));
  EXPECT_EQ(ports_of("a"), "80:30000");
  const auto inner = merge(services(), "default", "a", R"({"spec":{"type":"ClusterIP"}})");
  EXPECT_EQ(at(inner, "spec.clusterIP"), "10.96.0.2") << message(inner);
  EXPECT_EQ(at(inner, "spec.ports").find("nodePort"), std::string::npos) << at(inner, "spec.ports");
  EXPECT_EQ(at(inner, "spec.externalTrafficPolicy"), "");
  ASSERT_TRUE(create_service("b", R"("type":"NodePort","ports":[{"port":80}])"));
  EXPECT_EQ(ports_of("b"), "80:30000") << "free again";

  const auto outer = merge(services(), "default", "a",
                           R"({"spec":{"type":"ExternalName","externalName":"example.com"}})");
  EXPECT_EQ(at(outer, "spec.clusterIP"), "") << message(outer);
  EXPECT_EQ(at(outer, "spec.clusterIPs"), "");
  EXPECT_EQ(at(outer, "spec.ipFamilies"), "");
  EXPECT_EQ(at(outer, "spec.ipFamilyPolicy"), "");
  ASSERT_TRUE(create_service("c"));
  EXPECT_EQ(address_of("c"), "10.96.0.2");
}

TEST_F(ServiceAddressesTest, ABalancedServiceHasNodePortsUnlessItDeclinesThem) {
  ASSERT_TRUE(create_service("a", R"("type":"LoadBalancer","ports":[{"port":80}])"));
  EXPECT_EQ(ports_of("a"), "80:30000");
  const auto without = create_service(
      "b", R"("type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"port":80}])");
  EXPECT_EQ(at(without, "spec.ports").find("nodePort"), std::string::npos) << message(without);

  const auto plainer = merge(services(), "default", "a", R"({"spec":{"type":"NodePort"}})");
  EXPECT_EQ(at(plainer, "spec.allocateLoadBalancerNodePorts"), "") << message(plainer);
  EXPECT_EQ(ports_of("a"), "80:30000") << "both types have them";
}

TEST_F(ServiceAddressesTest, PortsOfOneNumberDifferByProtocol) {
  const std::string both = R"("type":"NodePort","ports":[{"name":"x","port":53,"protocol":"UDP"},)"
                           R"({"name":"y","port":53,"protocol":"TCP"}])";
  ASSERT_TRUE(create_service("a", both));
  EXPECT_EQ(ports_of("a"), "53:30000 53:30001");
  ASSERT_TRUE(update(services(), "default", "a",
                     service("a", R"("type":"NodePort","ports":[)"
                                  R"({"name":"y","port":53,"protocol":"TCP"},)"
                                  R"({"name":"x","port":53,"protocol":"UDP"}])")));
  EXPECT_EQ(ports_of("a"), "53:30001 53:30000") << "each keeps its own";
}

}  // namespace
}  // namespace muster::server
