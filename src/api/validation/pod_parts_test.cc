#include "api/validation/pod_parts.h"

#include <fmt/format.h>

#include "api/validation/validation_testing.h"

namespace muster::api {
namespace {

Json pod(std::string_view spec, std::string_view status = R"({"qosClass":"Burstable"})") {
  return document(fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"n","uid":"u"}},"spec":{},"status":{}}})", spec,
      status));
}

// A container with these requests.
std::string with(std::string_view requests, std::string_view more = "") {
  return fmt::format(R"({{"name":"c","image":"i","resources":{{"requests":{}}}{}}})", requests,
                     more);
}
std::string of(std::string_view container, std::string_view init = "") {
  return fmt::format(R"({{"containers":[{}],"initContainers":[{}]}})", container, init);
}

TEST(PodResize, ChangesCpuAndMemoryAlone) {
  struct Case {
    std::string name;
    std::string old;
    std::string now;
    Sentences want;
  };
  const std::string init = R"({"name":"i","image":"i","resources":{"requests":{"cpu":"1"}}})";
  const std::string bigger_init =
      R"({"name":"i","image":"i","resources":{"requests":{"cpu":"2"}}})";
  const std::string sidecar =
      R"({"name":"i","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}})";
  const std::string bigger_sidecar =
      R"({"name":"i","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}})";
  const std::string one = R"({"cpu":"1","memory":"1Gi"})";
  const Case cases[] = {
      {"nothing", of(with(one)), of(with(one)), {}},
      {"both", of(with(one)), of(with(R"({"cpu":"500m","memory":"2Gi"})")), {}},
      {"one more", of(with(R"({"cpu":"1"})")), of(with(one)), {}},
      {"a sidecar", of(with(one), sidecar), of(with(one), bigger_sidecar), {}},
      {"an init container",
       of(with(one), init),
       of(with(one), bigger_init),
       {"spec: Forbidden: resources for non-sidecar init containers are immutable"}},
      {"one less",
       of(with(one)),
       of(with(R"({"cpu":"1"})")),
       {"spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"}},
      {"another resource",
       of(with(one)),
       of(with(R"({"cpu":"1","memory":"1Gi","ephemeral-storage":"1Gi"})")),
       {"spec: Forbidden: only cpu and memory resources are mutable"}},
      {"another container",
       of(with(one)),
       of(with(one) + R"(,{"name":"d","image":"i"})"),
       {"spec.containers: Forbidden: containers may not be added or removed on resize"}},
      {"another name",
       of(R"({"name":"a","image":"i"},{"name":"b","image":"i"})"),
       of(R"({"name":"b","image":"i"},{"name":"a","image":"i"})"),
       {"spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize",
        "spec.containers[1].name: Forbidden: containers may not be renamed or reordered on "
        "resize"}}};
  for (const Case& c : cases)
    EXPECT_EQ(sentences(validate_pod_resize(pod(c.now), pod(c.old), "Burstable")), c.want)
        << c.name;
}

TEST(PodResize, KeepsTheQosClass) {
  const Json before = pod(of(with(R"({"cpu":"1"})")));
  EXPECT_EQ(sentences(validate_pod_resize(before, before, "Guaranteed")),
            Sentences{"spec: Invalid value: \"Burstable\": Pod QOS Class may not change as a "
                      "result of resizing"});
}

TEST(PodResize, NeedsANodeThatCanDoIt) {
  const auto running = [](std::string_view members) {
    return fmt::format(
        R"({{"qosClass":"Burstable","containerStatuses":[{{"name":"c","state":{{"running":{{}}}}{}}}]}})",
        members);
  };
  const std::string spec = of(with(R"({"cpu":"1"})"));
  const Json able = pod(spec, running(R"(,"resources":{"requests":{"cpu":"1"}})"));
  EXPECT_EQ(sentences(validate_pod_resize(able, able, "Burstable")), Sentences{});
  const Json unable = pod(spec, running(""));
  EXPECT_EQ(sentences(validate_pod_resize(unable, unable, "Burstable")),
            Sentences{"spec: Forbidden: Pod running on node without support for resize"});
  const Json windows = pod(R"({"containers":[{"name":"c","image":"i"}],"os":{"name":"windows"}})");
  EXPECT_EQ(sentences(validate_pod_resize(windows, windows, "Burstable")),
            Sentences{": Forbidden: windows pods cannot be resized"});
  const Json fixed =
      edited(able, "metadata", R"({"annotations":{"kubernetes.io/config.mirror":"x"}})");
  EXPECT_EQ(sentences(validate_pod_resize(fixed, fixed, "Burstable")),
            Sentences{": Forbidden: static pods cannot be resized"});
  EXPECT_EQ(sentences(validate_ephemeral_containers_update(fixed, fixed)),
            Sentences{": Forbidden: static pods do not support ephemeral containers"});
}

TEST(EphemeralContainers, AreAddedAndStay) {
  const auto with_debuggers = [](std::string_view list) {
    return pod(fmt::format(
        R"({{"containers":[{{"name":"c","image":"i"}}],"ephemeralContainers":[{}]}})", list));
  };
  const std::string a =
      R"({"name":"a","image":"i","imagePullPolicy":"Always","terminationMessagePolicy":"File"})";
  const std::string b =
      R"({"name":"b","image":"i","imagePullPolicy":"Always","terminationMessagePolicy":"File"})";
  const std::string changed =
      R"({"name":"a","image":"j","imagePullPolicy":"Always","terminationMessagePolicy":"File"})";
  const Json none = with_debuggers("");
  const Json one = with_debuggers(a);
  EXPECT_EQ(sentences(validate_ephemeral_containers_update(one, none)), Sentences{});
  EXPECT_EQ(sentences(validate_ephemeral_containers_update(with_debuggers(b + "," + a), one)),
            Sentences{})
      << "in any order";
  EXPECT_EQ(sentences(validate_ephemeral_containers_update(none, one)),
            Sentences{"spec.ephemeralContainers: Forbidden: existing ephemeral containers \"a\" "
                      "may not be removed\n"});
  EXPECT_EQ(sentences(validate_ephemeral_containers_update(with_debuggers(changed), one)),
            Sentences{"spec.ephemeralContainers: Forbidden: existing ephemeral containers \"a\" "
                      "may not be changed\n"});
}

}  // namespace
}  // namespace muster::api
