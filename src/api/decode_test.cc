#include "api/decode.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::api {
namespace {

const schema::Message& message_of(std::string_view name) {
  return schema::message("core/v1", name);
}

Result<Decoded> decode_text(std::string_view name, std::string_view text) {
  return decode(message_of(name), parse_json(text).value());
}

std::string canonical(std::string_view name, std::string_view text) {
  const Result<Decoded> decoded = decode_text(name, text);
  return decoded ? canonical_text(message_of(name), decoded->document) : decoded.error().message;
}

TEST(Decode, RefusesWrongTypesTheWayGoDoes) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  for (const Case& c : std::vector<Case>{
           {"[]", "json: cannot unmarshal array into Go value of type v1.Pod"},
           {R"({"kind":1})",
            "json: cannot unmarshal number into Go struct field Pod.kind of type string"},
           {R"({"spec":[]})",
            "json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec"},
           {R"({"spec":{"terminationGracePeriodSeconds":"x"}})",
            "json: cannot unmarshal string into Go struct field "
            "PodSpec.spec.terminationGracePeriodSeconds of type int64"},
           {R"({"spec":{"terminationGracePeriodSeconds":1.0}})",
            "json: cannot unmarshal number 1.0 into Go struct field "
            "PodSpec.spec.terminationGracePeriodSeconds of type int64"},
           {R"({"spec":{"priority":3000000000}})",
            "json: cannot unmarshal number 3000000000 into Go struct field "
            "PodSpec.spec.priority of type int32"},
           {R"({"spec":{"priority":2147483648}})",
            "json: cannot unmarshal number 2147483648 into Go struct field "
            "PodSpec.spec.priority of type int32"},
           {R"({"spec":{"containers":{}}})",
            "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container"},
           {R"({"spec":{"containers":[{"name":"a"},{"image":true}]}})",
            "json: cannot unmarshal bool into Go struct field Container.spec.containers.image of "
            "type "
            "string"},
           {R"({"metadata":{"labels":{"a":1}}})",
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type "
            "string"},
           {R"({"spec":{"hostNetwork":"yes"}})",
            "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type "
            "bool"},
           {R"({"spec":{"overhead":{"cpu":"lots"}}})",
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
           {R"({"status":{"startTime":"yesterday"}})",
            "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
            "\"yesterday\" as "
            "\"2006\""},
       })
    EXPECT_EQ(canonical("Pod", c.text), c.want) << c.text;
}

TEST(Decode, IntegersFitTheirFields) {
  struct Case {
    std::string_view message;
    std::string_view text;
    std::string_view want;  // empty: as it was
  };
  for (const Case& c : std::vector<Case>{
           {"PodSpec", R"({"priority":2147483647})", ""},
           {"PodSpec", R"({"priority":-2147483648})", ""},
           {"PodSpec", R"({"priority":-2147483649})",
            "json: cannot unmarshal number -2147483649 into Go struct field PodSpec.priority of "
            "type int32"},
           {"PodSpec", R"({"terminationGracePeriodSeconds":9223372036854775807})", ""},
           {"PodSpec", R"({"terminationGracePeriodSeconds":9223372036854775808})",
            "json: cannot unmarshal number 9223372036854775808 into Go struct field "
            "PodSpec.terminationGracePeriodSeconds of type int64"},
           {"TCPSocketAction", R"({"port":2147483647})", ""},
           {"TCPSocketAction", R"({"port":2147483648})",
            "json: cannot unmarshal number 2147483648 into Go struct field TCPSocketAction.port of "
            "type int32"},
           {"TCPSocketAction", R"({"port":true})",
            "json: cannot unmarshal bool into Go struct field TCPSocketAction.port of type int32"},
           {"Secret", R"({"data":{"a":1}})",
            "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"},
           {"Secret", R"({"data":[]})",
            "json: cannot unmarshal array into Go struct field Secret.data of type "
            "map[string]string"},
           {"ContainerStateRunning", R"({"startedAt":1})",
            "json: cannot unmarshal number into Go struct field ContainerStateRunning.startedAt of "
            "type string"},
       })
    EXPECT_EQ(canonical(c.message, c.text), c.want.empty() ? c.text : c.want) << c.text;
  EXPECT_EQ(
      decode(schema::message("coordination/v1", "LeaseSpec"), *parse_json(R"({"renewTime":"x"})"))
          .error()
          .message,
      R"(parsing time "x" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "x" as "2006")");
}

TEST(Decode, SaysWhereATypeIsWrong) {
  std::string wrong_at;
  EXPECT_FALSE(
      decode(message_of("PodSpec"), *parse_json(R"({"containers":[{},{"image":1}]})"), wrong_at));
  EXPECT_EQ(wrong_at, "containers[1].image");
}

TEST(Decode, ReportsAndDropsWhatItDoesNotKnow) {
  const auto decoded = decode_text(
      "Pod", R"({"kind":"Pod","apiVersion":"v1","foo":1,"metadata":{"name":"p","name":"q"},)"
             R"("spec":{"containers":[{"name":"a"},{"name":"b","imagee":"x"}],"kind":"x"}})");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->unknown,
            (std::vector<std::string>{
                R"(unknown field "foo")", R"(unknown field "spec.containers[1].imagee")",
                R"(unknown field "spec.kind")", R"(duplicate field "metadata.name")"}));
  EXPECT_EQ(to_text(decoded->document),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"q"},)"
            R"("spec":{"containers":[{"name":"a"},{"name":"b"}]}})");
}

TEST(Decode, TakesNullForUnset) {
  const auto decoded = decode_text(
      "Pod",
      R"({"metadata":{"name":"p","creationTimestamp":null},"spec":{"containers":null},"status":null})");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(to_text(decoded->document), R"({"metadata":{"name":"p"},"spec":{}})");
}

// In a map or a list, where something stands in any case, it is the zero value of its type.
TEST(Decode, TakesNullForZeroInMapsAndLists) {
  const auto decoded = decode_text(
      "Pod", R"({"metadata":{"labels":{"a":null}},"spec":{"containers":[null],"nodeSelector":)"
             R"({"b":null,"c":"d"}}})");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(to_text(decoded->document),
            R"({"metadata":{"labels":{"a":""}},"spec":{"containers":[{}],"nodeSelector":)"
            R"({"b":"","c":"d"}}})");
}

TEST(Decode, CutsTimesToTheirPrecision) {
  EXPECT_EQ(canonical("ContainerStateRunning", R"({"startedAt":"2026-01-02T03:04:05.678+01:00"})"),
            R"({"startedAt":"2026-01-02T02:04:05Z"})");
  const auto& lease = schema::message("coordination/v1", "LeaseSpec");
  const auto decoded =
      decode(lease, *parse_json(R"({"renewTime":"2026-01-02T03:04:05.6789012Z"})"));
  EXPECT_EQ(canonical_text(lease, decoded->document),
            R"({"renewTime":"2026-01-02T03:04:05.678901Z"})");
}

TEST(Decode, WritesQuantitiesCanonically) {
  EXPECT_EQ(canonical("ResourceRequirements",
                      R"({"requests":{"memory":"1024Ki","cpu":0.5,"gpu":2},"limits":{}})"),
            R"({"requests":{"cpu":"500m","gpu":"2","memory":"1Mi"}})");
}

TEST(Decode, KeepsNumbersAndTextApartInIntOrString) {
  EXPECT_EQ(canonical("TCPSocketAction", R"({"port":80})"), R"({"port":80})");
  EXPECT_EQ(canonical("TCPSocketAction", R"({"port":"http"})"), R"({"port":"http"})");
}

TEST(Decode, ChecksBytes) {
  EXPECT_EQ(canonical("Secret", R"({"metadata":{"name":"s"},"data":{"a":"aGk="}})"),
            R"({"metadata":{"name":"s"},"data":{"a":"aGk="}})");
  EXPECT_EQ(canonical("Secret", R"({"data":{"a":"no!"}})"), "illegal base64 data in data.a");
}

TEST(CanonicalText, OrdersBySchemaAndSortsMaps) {
  EXPECT_EQ(canonical("Pod", R"({"status":{},"spec":{"nodeName":"n","containers":[)"
                             R"({"image":"i","name":"c"}]},"metadata":{"labels":{"b":"2","a":"1"},)"
                             R"("namespace":"ns","name":"p"},"kind":"Pod"})"),
            R"({"metadata":{"name":"p","namespace":"ns","labels":{"a":"1","b":"2"}},)"
            R"("spec":{"containers":[{"name":"c","image":"i","resources":{}}],"nodeName":"n"},)"
            R"("status":{}})");
}

TEST(CanonicalText, LeavesOutWhatGoLeavesOut) {
  struct Case {
    std::string_view message;
    std::string_view text;
    std::string_view want;
  };
  for (
      const Case& c : std::vector<Case>{
          {"PodSpec", R"({"nodeName":"","hostNetwork":false,"tolerations":[],"nodeSelector":{}})",
           "{}"},
          {"PodSpec", R"({"priority":0,"enableServiceLinks":false,"runtimeClassName":""})",
           R"({"priority":0,"runtimeClassName":"","enableServiceLinks":false})"},
          {"Volume", R"({"name":"v","emptyDir":{}})", R"({"name":"v","emptyDir":{}})"},
          {"Affinity", R"({"nodeAffinity":{}})", R"({"nodeAffinity":{}})"},
          {"PodCondition", R"({"type":"Ready","status":"True"})",
           R"({"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":null})"},
          {"ContainerStatus", R"({"name":"c"})",
           R"({"name":"c","state":{},"lastState":{},"ready":false,"restartCount":0,"image":"","imageID":""})"},
          {"ResourceFieldSelector", R"({"resource":"limits.cpu"})",
           R"({"resource":"limits.cpu","divisor":"0"})"},
      })
    EXPECT_EQ(canonical(c.message, c.text), c.want) << c.text;
}

TEST(CanonicalText, WritesWrappedListsBare) {
  const auto& user = schema::message("authentication/v1", "UserInfo");
  const std::string text = R"({"username":"u","extra":{"a":["x","y"]}})";
  const auto decoded = decode(user, *parse_json(text));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(canonical_text(user, decoded->document), text);
}

TEST(Defaults, FillInAPodSpec) {
  Json pod =
      parse_json(
          R"({"spec":{"dnsPolicy":"","containers":[{"name":"c","ports":[{"containerPort":80}],)"
          R"("livenessProbe":{"httpGet":{"port":80},"periodSeconds":5}}],)"
          R"("volumes":[{"name":"s","secret":{"secretName":"x"}}]}})")
          ->value;
  apply_defaults(message_of("Pod"), pod);
  EXPECT_EQ(
      canonical_text(message_of("Pod"), pod),
      R"({"metadata":{},"spec":{"volumes":[{"name":"s","secret":{"secretName":"x","defaultMode":420}}],)"
      R"("containers":[{"name":"c","ports":[{"containerPort":80,"protocol":"TCP"}],"resources":{},)"
      R"("livenessProbe":{"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"timeoutSeconds":1,)"
      R"("periodSeconds":5,"successThreshold":1,"failureThreshold":3},)"
      R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],)"
      R"("restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)"
      R"("securityContext":{},"schedulerName":"default-scheduler","enableServiceLinks":true},"status":{}})");
}

TEST(Defaults, KeepWhatWasSet) {
  Json spec =
      parse_json(R"({"enableServiceLinks":false,"terminationGracePeriodSeconds":0})")->value;
  apply_defaults(message_of("PodSpec"), spec);
  EXPECT_EQ(find(spec, "enableServiceLinks")->get_bool(), false);
  EXPECT_EQ(find(spec, "terminationGracePeriodSeconds")->get_int64(), 0);
}

TEST(Defaults, ReachMessagesThatGoAlwaysHas) {
  Json name_space = parse_json(R"({"metadata":{"name":"n"}})")->value;
  apply_defaults(message_of("Namespace"), name_space);
  EXPECT_EQ(to_text(name_space), R"({"metadata":{"name":"n"},"status":{"phase":"Active"}})");
}

TEST(Defaults, FillInMessages) {
  const auto& group = schema::message("scheduling/v1beta1", "PodGroup");
  Json document = parse_json(R"({"spec":{"schedulingPolicy":{"basic":{}}}})")->value;
  apply_defaults(group, document);
  EXPECT_EQ(to_text(*find_path(document, "spec.disruptionMode")), R"({"single":{}})");
}

// S-H6: unknown members were erased one by one, each shifting all that followed.
TEST(Decode, DropsManyUnknownMembersAndNamesAHundred) {
  constexpr std::size_t kTimes = 20'000;
  std::string text = "{";
  for (std::size_t i = 0; i < kTimes; ++i) text += fmt::format(R"("u{}":1,)", i);
  text += R"("metadata":{"name":"x"}})";
  auto decoded = decode(schema::message("core/v1", "Pod"), parse_json(text).value());
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(to_text(decoded->document), R"({"metadata":{"name":"x"}})");
  ASSERT_EQ(decoded->unknown.size(), kLimits.reports + 1);
  EXPECT_EQ(decoded->unknown.front(), R"(unknown field "u0")");
  EXPECT_EQ(decoded->unknown.back(), fmt::format("and {} more", kTimes - kLimits.reports));
}

}  // namespace
}  // namespace muster::api
