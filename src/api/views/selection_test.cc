#include <gtest/gtest.h>

#include "api/json.h"
#include "api/views/amounts.h"
#include "api/views/node_selector.h"
#include "api/views/node_view.h"
#include "api/views/pod_needs.h"
#include "api/views/pod_terms.h"
#include "api/views/pod_view.h"
#include "api/views/required_features.h"
#include "api/views/tolerations.h"
#include "api/views/views_testing.h"

// Which nodes and pods a pod asks for.
namespace muster::api {
namespace {

using Op = SelectorOperator;

TEST(NodeRequirement, IsJudgedAsUpstreamDoes) {
  struct Case {
    Op op;
    std::vector<std::string> values;
    const char* value;  // null: the node has no such label
    bool want;
  };
  const Case cases[] = {
      {Op::In, {"b", "a"}, "a", true},
      {Op::In, {"b", "a"}, "c", false},
      {Op::In, {"a"}, nullptr, false},
      {Op::NotIn, {"a"}, "b", true},
      {Op::NotIn, {"a"}, "a", false},
      {Op::NotIn, {"a"}, nullptr, true},
      {Op::Exists, {}, "", true},
      {Op::Exists, {}, nullptr, false},
      {Op::DoesNotExist, {}, nullptr, true},
      {Op::DoesNotExist, {}, "a", false},
      {Op::Gt, {"5"}, "6", true},
      {Op::Gt, {"5"}, "5", false},
      {Op::Gt, {"-5"}, "-4", true},
      {Op::Gt, {"5"}, "+6", true},
      {Op::Gt, {"5"}, "+-6", false},
      {Op::Gt, {"5"}, "6x", false},
      {Op::Gt, {"5"}, "", false},
      {Op::Gt, {"5"}, nullptr, false},
      {Op::Gt, {}, "6", false},
      {Op::Lt, {"5"}, "4", true},
      {Op::Lt, {"5"}, "5", false},
      {Op::Lt, {"x"}, "4", false},
      {Op::Invalid, {"a"}, "a", false},
  };
  for (const Case& c : cases) {
    const std::string value = c.value == nullptr ? "" : c.value;
    EXPECT_EQ(matches(NodeRequirement{.key = "k", .op = c.op, .values = c.values},
                      c.value == nullptr ? nullptr : &value),
              c.want)
        << static_cast<int>(c.op) << " " << value;
  }
}

TEST(NodeSelectorTerm, MatchesNothingIfItIsWrong) {
  const NodeRequirement label{.key = "k", .op = Op::Exists, .values = {}};
  const NodeRequirement name{.key = "metadata.name", .op = Op::In, .values = {"n"}};
  EXPECT_FALSE(can_match({}));
  EXPECT_TRUE(can_match({.expressions = {label}, .fields = {}}));
  EXPECT_TRUE(can_match({.expressions = {}, .fields = {name}}));
  for (const NodeRequirement& wrong :
       {NodeRequirement{.key = "k", .op = Op::In, .values = {}},
        NodeRequirement{.key = "k", .op = Op::NotIn, .values = {}},
        NodeRequirement{.key = "k", .op = Op::Exists, .values = {"v"}},
        NodeRequirement{.key = "k", .op = Op::DoesNotExist, .values = {"v"}},
        NodeRequirement{.key = "k", .op = Op::Gt, .values = {"1", "2"}},
        NodeRequirement{.key = "k", .op = Op::Gt, .values = {"x"}},
        NodeRequirement{.key = "k", .op = Op::Lt, .values = {}},
        NodeRequirement{.key = "k", .op = Op::Invalid, .values = {}}})
    EXPECT_FALSE(can_match({.expressions = {label, wrong}, .fields = {}}));
  for (const NodeRequirement& wrong :
       {NodeRequirement{.key = "metadata.uid", .op = Op::In, .values = {"n"}},
        NodeRequirement{.key = "metadata.name", .op = Op::In, .values = {"n", "m"}},
        NodeRequirement{.key = "metadata.name", .op = Op::Exists, .values = {"n"}}})
    EXPECT_FALSE(can_match({.expressions = {}, .fields = {name, wrong}}));
  const NodeRequirement other{.key = "metadata.name", .op = Op::NotIn, .values = {"n"}};
  EXPECT_TRUE(
      matches(NodeSelectorTerm{.expressions = {label}, .fields = {name}}, "n", {{"k", ""}}));
  EXPECT_FALSE(
      matches(NodeSelectorTerm{.expressions = {label}, .fields = {name}}, "m", {{"k", ""}}));
  EXPECT_FALSE(matches(NodeSelectorTerm{.expressions = {label}, .fields = {name}}, "n", {}));
  EXPECT_TRUE(matches(NodeSelectorTerm{.expressions = {}, .fields = {other}}, "m", {}));
  EXPECT_FALSE(matches(NodeSelectorTerm{.expressions = {}, .fields = {other}}, "n", {}));
}

TEST(NodeSelection, WantsTheSelectorAndOneTerm) {
  const NodeSelectorTerm one{.expressions = {{.key = "k", .op = Op::Exists, .values = {}}},
                             .fields = {}};
  const NodeSelectorTerm two{.expressions = {{.key = "l", .op = Op::Exists, .values = {}}},
                             .fields = {}};
  PodNeeds needs;
  EXPECT_TRUE(matches_selection(needs, "n", {}));
  needs.node_selector = {{"a", "1"}};
  EXPECT_TRUE(matches_selection(needs, "n", {{"a", "1"}}));
  EXPECT_FALSE(matches_selection(needs, "n", {{"a", "2"}}));
  EXPECT_FALSE(matches_selection(needs, "n", {}));
  needs.node_selector.clear();
  needs.has_required = true;
  EXPECT_FALSE(matches_selection(needs, "n", {})) << "no term, no node";
  needs.required = {one, two};
  EXPECT_TRUE(matches_selection(needs, "n", {{"l", ""}}));
  EXPECT_FALSE(matches_selection(needs, "n", {{"m", ""}}));
}

TEST(SelectorOperators, HaveNames) {
  EXPECT_EQ(selector_operator("In"), Op::In);
  EXPECT_EQ(selector_operator("NotIn"), Op::NotIn);
  EXPECT_EQ(selector_operator("Exists"), Op::Exists);
  EXPECT_EQ(selector_operator("DoesNotExist"), Op::DoesNotExist);
  EXPECT_EQ(selector_operator("Gt"), Op::Gt);
  EXPECT_EQ(selector_operator("Lt"), Op::Lt);
  EXPECT_EQ(selector_operator("in"), Op::Invalid);
}

TEST(Tolerations, AreJudgedAsUpstreamDoes) {
  const Taint taint{"k", "v", TaintEffect::NoSchedule};
  struct Case {
    std::string_view toleration;
    bool want;
  };
  const Case cases[] = {
      {R"({"operator":"Exists"})", true},
      {R"({"key":"k","operator":"Exists"})", true},
      {R"({"key":"l","operator":"Exists"})", false},
      {R"({"key":"k","value":"v"})", true},
      {R"({"key":"k","operator":"Equal","value":"w"})", false},
      {R"({"key":"k","value":"v","effect":"NoSchedule"})", true},
      {R"({"key":"k","value":"v","effect":"NoExecute"})", false},
      {R"({"key":"k","operator":"Lt","value":"v"})", false},
  };
  for (const Case& c : cases)
    EXPECT_EQ(tolerates(read_toleration(json(c.toleration)), taint), c.want) << c.toleration;
  const std::vector<Toleration> none;
  EXPECT_TRUE(repels({taint}, none));
  EXPECT_TRUE(repels({{"k", "", TaintEffect::NoExecute}}, none));
  EXPECT_FALSE(repels({{"k", "", TaintEffect::PreferNoSchedule}}, none));
  EXPECT_FALSE(repels({{"k", "", TaintEffect::Other}}, none));
  EXPECT_FALSE(repels({taint}, {read_toleration(json(R"({"operator":"Exists"})"))}));
  EXPECT_TRUE(repels({taint, {"l", "", TaintEffect::NoExecute}},
                     {read_toleration(json(R"({"key":"k","operator":"Exists"})"))}));
  EXPECT_EQ(effect_name(TaintEffect::NoExecute), "NoExecute");
  EXPECT_EQ(effect_name(TaintEffect::PreferNoSchedule), "PreferNoSchedule");
}

TEST(Amounts, AreSummedAndRaised) {
  Quantities sum = read_quantities(json(R"({"memory":"1Gi","cpu":" 500m ","b":2})").if_object());
  add_to(sum, read_quantities(json(R"({"cpu":"1","a":"3","c":1.5})").if_object()));
  std::string text;
  for (const auto& [name, quantity] : sum) text += name + "=" + quantity.text() + " ";
  EXPECT_EQ(text, "a=3 b=2 c=1500m cpu=1500m memory=1Gi ");
  raise_to(sum, read_quantities(json(R"({"cpu":"1","memory":"2Gi","d":"1"})").if_object()));
  EXPECT_EQ(lookup(sum, "cpu")->text(), "1500m");
  EXPECT_EQ(lookup(sum, "memory")->text(), "2Gi");
  EXPECT_EQ(lookup(sum, "d")->text(), "1");
  EXPECT_EQ(lookup(sum, "e"), nullptr);
  EXPECT_TRUE(entry(sum, "bb").is_zero());
  EXPECT_EQ(sum[2].first, "bb") << "in its place";
  EXPECT_TRUE(read_quantities(nullptr).empty());
  EXPECT_TRUE(read_quantities(json(R"({"cpu":"lots"})").if_object())[0].second.is_zero());
}

TEST(Amounts, CountWhatTheSchedulerTracks) {
  for (const std::string_view name : {"hugepages-2Mi", "attachable-volumes-x", "kubernetes.io/x",
                                      "a.kubernetes.io/x", "nvidia.com/gpu"})
    EXPECT_TRUE(is_scalar_resource(name)) << name;
  for (const std::string_view name : {"pods", "storage", "requests.nvidia.com/gpu", "hugepages"})
    EXPECT_FALSE(is_scalar_resource(name)) << name;
  const Amounts amounts = Amounts::of(read_quantities(
      json(
          R"({"cpu":"1500u","memory":"1500m","ephemeral-storage":"2","pods":"3","x.y/z":"4","w.y/z":"5"})")
          .if_object()));
  EXPECT_EQ(amounts.of("cpu"), 2) << "rounded up";
  EXPECT_EQ(amounts.of("memory"), 2);
  EXPECT_EQ(amounts.of("ephemeral-storage"), 2);
  EXPECT_EQ(amounts.of("pods"), 0);
  EXPECT_EQ(amounts.of("x.y/z"), 4);
  EXPECT_EQ(amounts.of("w.y/z"), 5);
  EXPECT_EQ(amounts.of("x.y/a"), 0);
}

TEST(InlineDisks, ConflictUnlessTheyAreShared) {
  using Type = InlineDisk::Type;
  const auto disk = [](Type type, std::string id, bool read_only,
                       std::vector<std::string> monitors = {}) {
    return InlineDisk{type, std::move(id), std::move(monitors), read_only};
  };
  EXPECT_TRUE(conflict(disk(Type::Gce, "a", false), disk(Type::Gce, "a", true)));
  EXPECT_FALSE(conflict(disk(Type::Gce, "a", true), disk(Type::Gce, "a", true)));
  EXPECT_FALSE(conflict(disk(Type::Gce, "a", false), disk(Type::Gce, "b", false)));
  EXPECT_FALSE(conflict(disk(Type::Gce, "a", false), disk(Type::Iscsi, "a", false)));
  EXPECT_TRUE(conflict(disk(Type::Ebs, "a", true), disk(Type::Ebs, "a", true)));
  EXPECT_FALSE(conflict(disk(Type::Azure, "a", false), disk(Type::Azure, "a", false)));
  EXPECT_FALSE(conflict(disk(Type::Cinder, "a", false), disk(Type::Cinder, "a", false)));
  EXPECT_TRUE(conflict(disk(Type::Iscsi, "a", true), disk(Type::Iscsi, "a", false)));
  EXPECT_TRUE(
      conflict(disk(Type::Rbd, "p/a", false, {"m", "n"}), disk(Type::Rbd, "p/a", false, {"n"})));
  EXPECT_FALSE(
      conflict(disk(Type::Rbd, "p/a", false, {"m"}), disk(Type::Rbd, "p/a", false, {"n"})));
  EXPECT_EQ(csi_driver_of(Type::Ebs), "ebs.csi.aws.com");
  EXPECT_EQ(csi_driver_of(Type::Rbd), "");
}

TEST(PodView, ReadsDisksClaimsAndImages) {
  const auto view = PodView::of(json(R"({"spec":{"volumes":[
      {"name":"a","gcePersistentDisk":{"pdName":"g","readOnly":true}},{"name":"b","awsElasticBlockStore":{"volumeID":"e"}},
      {"name":"c","iscsi":{"iqn":"i"}},{"name":"d","rbd":{"image":"r","monitors":["m"]}},
      {"name":"e","rbd":{"image":"r","pool":"p"}},{"name":"f","azureDisk":{"diskURI":"z"}},
      {"name":"g","cinder":{"volumeID":"o"}},{"name":"h","persistentVolumeClaim":{"claimName":"x"}},
      {"name":"i","ephemeral":{}},{"name":"j","image":{"reference":"reg/data"}}],
      "initContainers":[{"name":"i","image":"b@sha256:0","ports":[{"hostPort":1}]},
        {"name":"s","image":"c:1","restartPolicy":"Always","ports":[{"hostPort":2,"protocol":"UDP","hostIP":"1.1.1.1"}]}],
      "containers":[{"name":"c","image":"a","ports":[{"containerPort":3},{"hostPort":4}]}]}})"));
  std::string disks;
  for (const InlineDisk& disk : view->needs.disks)
    disks += std::to_string(static_cast<int>(disk.type)) + disk.id + (disk.read_only ? "! " : " ");
  EXPECT_EQ(disks, "0g! 1e 2i 3p/r 3rbd/r 4z 5o ");
  ASSERT_EQ(view->claims.size(), 2U);
  EXPECT_EQ(view->claims[0].name, "x");
  EXPECT_FALSE(view->claims[0].ephemeral);
  EXPECT_EQ(view->claims[1].name, "i");
  EXPECT_TRUE(view->claims[1].ephemeral);
  EXPECT_EQ(view->images,
            (std::vector<std::string>{"a:latest", "b@sha256:0", "c:1", "reg/data:latest"}));
  EXPECT_EQ(view->needs.image_count, 4);
  EXPECT_EQ(view->needs.host_ports,
            (std::vector<HostPort>{{"0.0.0.0", "TCP", 4}, {"1.1.1.1", "UDP", 2}}));
}

TEST(PodTerms, AreReadByTheirRole) {
  const Json spec = json(R"({"affinity":{
      "podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","namespaces":["n","m"],
        "labelSelector":{"matchLabels":{"x":"1"}},"matchLabelKeys":["k"],"mismatchLabelKeys":["l"]}],
        "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":5,"podAffinityTerm":{"topologyKey":"b","namespaceSelector":{}}},
        {"weight":0,"podAffinityTerm":{"topologyKey":"none"}}]},
      "podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"c"}],
        "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"podAffinityTerm":{"topologyKey":"d"}}]}}})");
  const std::vector<PodTerm> terms = read_pod_terms(spec);
  ASSERT_EQ(terms.size(), 4U);
  EXPECT_EQ(terms[0].role, TermRole::Attracts);
  EXPECT_EQ(terms[0].topology_key, "a");
  EXPECT_EQ(terms[0].namespaces, (std::vector<std::string>{"m", "n"}));
  EXPECT_FALSE(terms[0].namespace_selector);
  EXPECT_TRUE(terms[0].selector.matches({{"x", "1"}}));
  EXPECT_EQ(terms[0].match_label_keys, std::vector<std::string>{"k"});
  EXPECT_EQ(terms[0].mismatch_label_keys, std::vector<std::string>{"l"});
  EXPECT_EQ(terms[1].role, TermRole::Repels);
  EXPECT_TRUE(terms[1].selector.is_null);
  EXPECT_EQ(terms[2].role, TermRole::Prefers);
  EXPECT_EQ(terms[2].weight, 5);
  EXPECT_TRUE(terms[2].namespace_selector && terms[2].namespace_selector->is_empty());
  EXPECT_EQ(terms[3].role, TermRole::Avoids);
  EXPECT_EQ(terms[3].weight, 7);
}

TEST(PodSelector, MatchesAsUpstreamDoes) {
  const auto selects = [](std::string_view selector, const StringPairs& labels) {
    const Json parsed = json(selector);
    return read_pod_selector(&parsed).matches(labels);
  };
  EXPECT_TRUE(selects("{}", {{"a", "b"}}));
  EXPECT_FALSE(read_pod_selector(nullptr).matches({}));
  constexpr std::string_view kNot =
      R"({"matchExpressions":[{"key":"a","operator":"NotIn","values":["c","b"]}]})";
  EXPECT_FALSE(selects(kNot, {{"a", "b"}}));
  EXPECT_TRUE(selects(kNot, {{"a", "d"}}));
  EXPECT_TRUE(selects(kNot, {}));
  EXPECT_TRUE(selects(R"({"matchExpressions":[{"key":"a","operator":"Exists"}]})", {{"a", ""}}));
  EXPECT_FALSE(
      selects(R"({"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]})", {{"a", ""}}));
  EXPECT_FALSE(selects(R"({"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]})",
                       {{"a", "2"}}));
  PodSelector selector = read_pod_selector(nullptr);
  selector.require("a", Op::In, "b");
  EXPECT_TRUE(selector.is_null && selector.tests.empty());
  const Json twice = json(
      R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]})");
  selector = read_pod_selector(&twice);
  EXPECT_EQ(selector.tests.size(), 1U);
  selector.require("a", Op::In, "b");
  EXPECT_EQ(selector.tests.size(), 1U);
  selector.require("A", Op::NotIn, "b");
  ASSERT_EQ(selector.tests.size(), 2U);
  EXPECT_EQ(selector.tests[0].key, "A");
}

TEST(SpreadConstraints, HaveTheirDefaults) {
  const auto read =
      read_spread_constraints(json(R"({"topologySpreadConstraints":[{"topologyKey":"z"},
      {"topologyKey":"y","maxSkew":3,"whenUnsatisfiable":"ScheduleAnyway","minDomains":4,
       "nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor","matchLabelKeys":["k"],"labelSelector":{}}]})"));
  ASSERT_EQ(read.size(), 2U);
  SpreadConstraint bare;
  bare.topology_key = "z";
  EXPECT_EQ(read[0], bare);
  EXPECT_EQ(read[1].max_skew, 3);
  EXPECT_EQ(read[1].min_domains, 4);
  EXPECT_FALSE(read[1].is_hard || read[1].honors_affinity);
  EXPECT_TRUE(read[1].honors_taints && read[1].selector.is_empty());
  EXPECT_EQ(read[1].match_label_keys, std::vector<std::string>{"k"});
}

TEST(RequiredFeatures, FollowFromWhatThePodUses) {
  using Features = std::vector<std::string_view>;
  EXPECT_EQ(required_features(json(R"({"containers":[{}],"hostNetwork":true})")), Features{});
  EXPECT_EQ(required_features(json(R"({"hostNetwork":true,"hostUsers":true})")), Features{});
  EXPECT_EQ(
      required_features(json(
          R"({"initContainers":[{"restartPolicyRules":[{"action":"Restart"}]}],"hostNetwork":false,"hostUsers":false})")),
      Features{});
  EXPECT_EQ(
      required_features(json(
          R"({"initContainers":[{"restartPolicyRules":[{},{"action":"RestartAllContainers"}]}]})")),
      Features{"RestartAllContainersOnContainerExits"});
  EXPECT_EQ(required_features(json(R"({"hostNetwork":true,"hostUsers":false,
      "containers":[{"restartPolicyRules":[{"action":"RestartAllContainers"}],"volumeMounts":[{"bindMountOptions":{}}]}]})")),
            (Features{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport",
                      "VolumeBindMountOptions"}));
  EXPECT_EQ(required_features(
                json(R"({"initContainers":[{"volumeMounts":[{},{"bindMountOptions":{}}]}]})")),
            Features{"VolumeBindMountOptions"});
}

}  // namespace
}  // namespace muster::api
