#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/plugins/node_affinity.h"
#include "scheduler/plugins/node_name.h"
#include "scheduler/plugins/node_ports.h"
#include "scheduler/plugins/taint_toleration.h"

// Which nodes a pod asks for, by their labels, names, taints and ports.
namespace muster::scheduler {
namespace {

std::string affinity(const std::string& rule) {
  return R"("affinity":{"nodeAffinity":{)" + rule + "}}";
}
std::string required_terms(const std::string& terms) {
  return affinity(R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)" +
                  terms + "]}");
}

class NodeMatching : public ::testing::Test {
 protected:
  NodeId add(const NodeSample& sample) {
    cluster_.set_node(sample.make());
    NodeId id{};
    EXPECT_TRUE(cluster_.find_node(sample.name, id));
    return id;
  }
  const PodClass& pods(const PodSample& pod) { return cluster_.class_of(pod.make()); }
  // All ways to ask must agree.
  bool accepts(const FilterPass& pass, NodeId node) {
    NodeSet set = cluster_.nodes();
    pass.narrow(set);
    EXPECT_EQ(set.contains(node), pass.admits(node));
    EXPECT_EQ(pass.ask(node).accepted(), pass.admits(node));
    return pass.admits(node);
  }

  Cluster cluster_;
};

TEST_F(NodeMatching, OperatorsCompareLabels) {
  struct Case {
    const char* op;
    const char* values;
    std::map<std::string, std::string> labels;
    bool want;
  };
  const Case cases[] = {
      {"Gt", R"("5")", {{"k", "6"}}, true},
      {"Gt", R"("5")", {{"k", "5"}}, false},
      {"Gt", R"("5")", {{"k", "10"}}, true},
      {"Gt", R"("5")", {{"k", "4"}}, false},
      {"Gt", R"("-2")", {{"k", "-1"}}, true},
      {"Gt", R"("5")", {}, false},
      {"Gt", R"("5")", {{"k", "six"}}, false},
      {"Lt", R"("5")", {{"k", "4"}}, true},
      {"Lt", R"("5")", {{"k", "5"}}, false},
      {"Lt", R"("10")", {{"k", "9"}}, true},
      {"Lt", R"("5")", {{"k", "6"}}, false},
      {"Lt", R"("5")", {}, false},
      {"Lt", R"("5")", {{"k", ""}}, false},
      {"Lt", R"("five")", {{"k", "4"}}, false},
      {"Lt", R"("5","6")", {{"k", "4"}}, false},
      {"In", R"("a","b")", {{"k", "b"}}, true},
      {"In", R"("a","b")", {{"k", "c"}}, false},
      {"In", R"("a")", {}, false},
      {"NotIn", R"("a")", {{"k", "b"}}, true},
      {"NotIn", R"("a","b")", {{"k", "b"}}, false},
      {"NotIn", R"("a")", {}, true},
      {"Exists", "", {{"k", ""}}, true},
      {"Exists", "", {{"j", "x"}}, false},
      {"DoesNotExist", "", {{"k", ""}}, false},
      {"DoesNotExist", "", {{"j", "x"}}, true},
      {"Near", R"("a")", {{"k", "a"}}, false},
  };
  for (const Case& c : cases) {
    const NodeId node = add({.name = "n", .labels = c.labels});
    const std::string spec =
        required_terms(std::string(R"({"matchExpressions":[{"key":"k","operator":")") + c.op +
                       R"(","values":[)" + c.values + "]}]}");
    const auto pass = NodeAffinity().prepare_filter(pods({.name = "p", .spec = spec}), cluster_);
    EXPECT_EQ(accepts(*pass, node), c.want)
        << c.op << " " << c.values << ", " << (c.labels.empty() ? "-" : c.labels.begin()->second);
  }
}

TEST_F(NodeMatching, OneTermIsEnoughAndMustHoldAsAWhole) {
  const NodeId a = add({.name = "a", .labels = {{"x", "1"}}});
  const NodeId b = add({.name = "b", .labels = {{"x", "1"}, {"y", "1"}}});
  const NodeId c = add({.name = "c", .labels = {{"z", "1"}}});
  const auto pass = NodeAffinity().prepare_filter(
      pods(
          {.name = "p",
           .spec = required_terms(
               R"({"matchExpressions":[{"key":"x","operator":"Exists"},{"key":"y","operator":"Exists"}]},)"
               R"({"matchExpressions":[{"key":"z","operator":"Exists"}]})")}),
      cluster_);
  EXPECT_FALSE(accepts(*pass, a));
  EXPECT_TRUE(accepts(*pass, b));
  EXPECT_TRUE(accepts(*pass, c));
}

TEST_F(NodeMatching, ANamedNodeMustHaveTheLabelsToo) {
  const NodeId a = add({.name = "a", .labels = {{"x", "1"}}});
  const NodeId b = add({.name = "b"});
  const NodeId c = add({.name = "c", .labels = {{"x", "1"}}});
  const auto named = [&](const std::string& op, const std::string& name) {
    return NodeAffinity().prepare_filter(
        pods({.name = "p",
              .spec = required_terms(R"({"matchExpressions":[{"key":"x","operator":"Exists"}],)"
                                     R"("matchFields":[{"key":"metadata.name","operator":")" +
                                     op + R"(","values":[")" + name + R"("]}]})")}),
        cluster_);
  };
  EXPECT_TRUE(accepts(*named("In", "a"), a));
  EXPECT_FALSE(accepts(*named("In", "a"), c));
  EXPECT_FALSE(accepts(*named("In", "b"), b));
  EXPECT_FALSE(accepts(*named("NotIn", "a"), a));
  EXPECT_TRUE(accepts(*named("NotIn", "a"), c));
  EXPECT_EQ(named("NotIn", "a")->only_on(), nullptr);
  NodeSet without(cluster_.rows());
  without.insert(c);
  named("In", "a")->narrow(without);
  EXPECT_EQ(without.count(), 0u) << "it was struck out before";
}

TEST_F(NodeMatching, PreferencesThatHoldAddUp) {
  const NodeId both = add({.name = "a", .labels = {{"x", "1"}, {"y", "1"}}});
  const NodeId one = add({.name = "b", .labels = {{"y", "1"}}});
  const NodeId none = add({.name = "c"});
  const auto prefers = [](int weight, const std::string& key) {
    return R"({"weight":)" + std::to_string(weight) +
           R"(,"preference":{"matchExpressions":[{"key":")" + key + R"(","operator":"Exists"}]}})";
  };
  const auto pass = NodeAffinity().prepare_score(
      pods({.name = "p",
            .spec = affinity(R"("preferredDuringSchedulingIgnoredDuringExecution":[)" +
                             prefers(30, "x") + "," + prefers(12, "y") + "]")}),
      cluster_);
  EXPECT_EQ(pass->raw(both), 42);
  EXPECT_EQ(pass->raw(one), 12);
  EXPECT_EQ(pass->raw(none), 0);
  EXPECT_EQ(NodeAffinity().prepare_score(pods({.name = "q"}), cluster_), nullptr);
  EXPECT_EQ(NodeAffinity().prepare_filter(pods({.name = "q"}), cluster_), nullptr);
}

TEST_F(NodeMatching, AnyHardTaintMustBeTolerated) {
  struct Case {
    const char* taints;
    const char* tolerations;
    bool want;
  };
  const char* two =
      R"([{"key":"k","value":"v","effect":"NoSchedule"},{"key":"l","effect":"NoExecute"}])";
  const char* soft = R"([{"key":"k","value":"v","effect":"PreferNoSchedule"}])";
  const Case cases[] = {
      {two, "", false},
      {two, R"({"key":"k","operator":"Exists"})", false},
      {two, R"({"key":"l","operator":"Exists"})", false},
      {two, R"({"key":"k","value":"v"},{"key":"l","operator":"Exists"})", true},
      {two, R"({"key":"k","value":"w"},{"key":"l","operator":"Exists"})", false},
      {two, R"({"operator":"Exists","effect":"NoSchedule"})", false},
      {two, R"({"operator":"Exists"})", true},
      {two,
       R"({"key":"k","operator":"Exists","effect":"NoExecute"},{"key":"l","operator":"Exists"})",
       false},
      {soft, "", true},
      {"", "", true},
  };
  for (const Case& c : cases) {
    const NodeId node = add({.name = "n", .taints = c.taints});
    const auto pass = TaintToleration().prepare_filter(
        pods({.name = "p", .spec = std::string(R"("tolerations":[)") + c.tolerations + "]"}),
        cluster_);
    EXPECT_EQ(accepts(*pass, node), c.want) << c.taints << " " << c.tolerations;
  }
}

TEST_F(NodeMatching, WithoutSoftTaintsAllNodesAreAsGood) {
  add({.name = "a", .taints = R"([{"key":"k","effect":"NoSchedule"}])"});
  const auto pass = TaintToleration().prepare_score(pods({.name = "p"}), cluster_);
  EXPECT_TRUE(pass->is_uniform());
  const NodeId soft = add({.name = "b", .taints = R"([{"key":"k","effect":"PreferNoSchedule"}])"});
  pass->refresh();
  EXPECT_FALSE(pass->is_uniform());
  EXPECT_EQ(pass->raw(soft), 1);
}

TEST_F(NodeMatching, PortsAreTakenByNumberAndOnceByAClass) {
  const auto with_ports = [](const std::string& name, const std::string& ports) {
    return PodSample{.name = name, .node_name = name == "p" ? "" : "a", .ports = ports};
  };
  const NodeId a = add({.name = "a"});
  const NodeId b = add({.name = "b"});
  cluster_.set_pod(with_ports("u", R"([{"containerPort":80,"hostPort":80}])").make());
  const auto prepare = [&](const std::string& ports) {
    return NodePorts().prepare_filter(pods(with_ports("p", ports)), cluster_);
  };
  const auto same = prepare(R"([{"containerPort":9,"hostPort":80}])");
  EXPECT_FALSE(accepts(*same, a));
  EXPECT_TRUE(accepts(*same, b));
  EXPECT_TRUE(accepts(*prepare(R"([{"containerPort":80,"hostPort":81}])"), a));
  EXPECT_FALSE(accepts(
      *prepare(R"([{"containerPort":1,"hostPort":81},{"containerPort":2,"hostPort":80}])"), a));
  EXPECT_EQ(prepare(R"([{"containerPort":80}])"), nullptr) << "no port of the node";
  CapColumn caps;
  caps.resize(cluster_.rows());
  caps.fill(kNoCap);
  same->cap(caps);
  EXPECT_EQ(caps[a], 0);
  EXPECT_EQ(caps[b], 1);
}

}  // namespace
}  // namespace muster::scheduler
