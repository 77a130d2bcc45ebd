#include "api/tables/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <vector>

#include "api/schema/schema.h"
#include "api/tables/scale_table.h"

namespace muster::api {
namespace {

const Time kNow = *parse_time("2026-01-01T01:00:00Z");
// Made an hour before kNow.
constexpr std::string_view kMade = R"("creationTimestamp":"2026-01-01T00:00:00Z")";

Json document(std::string_view text) {
  Result<ParsedJson> parsed = parse_json(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? std::move(parsed->value) : Json();
}

// An object named "x", made an hour ago; `members` beside its metadata.
std::shared_ptr<Object> object(const Kind& kind, std::string_view members,
                               std::string_view metadata = "") {
  return Object::make(kind, document(fmt::format(R"({{"metadata":{{"name":"x",{}{}}}{}{}}})", kMade,
                                                 metadata, members.empty() ? "" : ",", members)));
}

std::string cells(const Object& object) {
  std::string out;
  append_cells(object, kNow, out);
  return out;
}

std::string headers(const Kind& kind) {
  std::vector<std::string> names;
  for (const Column& column : columns(kind))
    names.push_back(fmt::format("{}{}", column.name, column.priority == 1 ? "*" : ""));
  return fmt::format("{}", fmt::join(names, ", "));
}

// A kind the server may not know yet, as far as tables care.
Kind kind_of(std::string_view group, std::string_view name, std::string_view package) {
  Kind kind;
  kind.group = group;
  kind.kind = name;
  kind.message = &schema::message(package, name);
  return kind;
}

TEST(Columns, AreThoseOfUpstream) {
  struct Case {
    std::string_view group;
    std::string_view kind;
    std::string_view want;
  };
  const Case cases[] = {
      {"", "Pod",
       "Name, Ready, Status, Restarts, Age, IP*, Node*, Nominated Node*, Readiness Gates*"},
      {"", "Node",
       "Name, Status, Roles, Age, Version, Internal-IP*, External-IP*, OS-Image*, Kernel-Version*, "
       "Container-Runtime*"},
      {"", "Namespace", "Name, Status, Age"},
      {"", "Event",
       "Last Seen, Type, Reason, Object, Subobject*, Source*, Message, First Seen*, Count*, Name*"},
      {"scheduling.k8s.io", "PriorityClass", "Name, Value, Global-Default, Age, PreemptionPolicy"},
      {"coordination.k8s.io", "Lease", "Name, Holder, Age"},
      {"example.com", "Thing", "Name, Created At"},
      {"scheduling.k8s.io", "PodGroup",
       "Name, Policy, Workload, Status, Age, Min*, Members*, Scheduled*, Domain*, Detail*"},
      {"scheduling.k8s.io", "CompositePodGroup",
       "Name, Policy, Workload, Status, Age, Min*, Members*, Scheduled*, Domain*, Detail*"},
      {"scheduling.k8s.io", "Workload", "Name, Age"},
      {"batch", "Job", "Name, Status, Completions, Duration, Age, Containers*, Images*, Selector*"},
      {"batch", "CronJob",
       "Name, Schedule, Timezone, Suspend, Active, Last Schedule, Age, Containers*, Images*, "
       "Selector*"},
      {"", "Service", "Name, Type, Cluster-IP, External-IP, Port(s), Age, Selector*"},
      {"apps", "Deployment",
       "Name, Ready, Up-to-date, Available, Age, Containers*, Images*, Selector*"},
      {"apps", "ReplicaSet", "Name, Desired, Current, Ready, Age, Containers*, Images*, Selector*"},
      {"", "ReplicationController",
       "Name, Desired, Current, Ready, Age, Containers*, Images*, Selector*"},
      {"apps", "StatefulSet", "Name, Ready, Age, Containers*, Images*"},
      {"apps", "DaemonSet",
       "Name, Desired, Current, Ready, Up-to-date, Available, Node Selector, Age, Containers*, "
       "Images*, Selector*"},
      {"rbac.authorization.k8s.io", "RoleBinding",
       "Name, Role, Age, Users*, Groups*, ServiceAccounts*"},
      {"rbac.authorization.k8s.io", "Role", "Name, Created At"},
      {"", "ResourceQuota", "Name, Request, Limit, Age"},
      {"", "LimitRange", "Name, Created At"},
      {"resource.k8s.io", "ResourceClaim", "Name, State, Age"},
      {"resource.k8s.io", "ResourceSlice", "Name, Node, Driver, Pool, Age"},
      {"storage.k8s.io", "StorageClass",
       "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age"},
  };
  for (const Case& c : cases) {
    Kind kind;
    kind.group = c.group;
    kind.kind = c.kind;
    EXPECT_EQ(headers(kind), c.want) << c.kind;
  }
}

TEST(PodCells, SayWhatThePodIsDoing) {
  struct Case {
    std::string name;
    std::string members;
    std::string want;  // Ready, Status and Restarts
    std::string metadata = {};
  };
  const std::string spec = R"("spec":{"containers":[{"name":"a"},{"name":"b"}]},)";
  const std::string init =
      R"("spec":{"containers":[{"name":"a"}],"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}]},)";
  const std::string deleting = R"(,"deletionTimestamp":"2026-01-01T00:59:00Z")";
  const Case cases[] = {
      {"pending", spec + R"("status":{"phase":"Pending"})", R"("0/2","Pending","0")"},
      {"gated",
       spec +
           R"("status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]})",
       R"("0/2","SchedulingGated","0")"},
      {"evicted", spec + R"("status":{"phase":"Failed","reason":"Evicted"})",
       R"("0/2","Evicted","0")"},
      {"running", spec + R"("status":{"phase":"Running","containerStatuses":[
           {"name":"a","ready":true,"restartCount":1,"state":{"running":{}},
            "lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-01-01T00:55:00Z"}}},
           {"name":"b","ready":false,"restartCount":2,"state":{"running":{}},
            "lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-01-01T00:50:00Z"}}}]})",
       R"--("1/2","Running","3 (5m ago)")--"},
      {"restarts without a time",
       spec +
           R"("status":{"phase":"Running","containerStatuses":[{"name":"a","ready":true,"restartCount":1,"state":{"running":{}}}]})",
       R"("1/2","Running","1")"},
      {"crashing", spec + R"("status":{"phase":"Running","containerStatuses":[
           {"name":"a","restartCount":0,"state":{"waiting":{"reason":"CrashLoopBackOff"}}},
           {"name":"b","restartCount":0,"state":{"terminated":{"exitCode":3,"reason":"Error"}}}]})",
       R"("0/2","CrashLoopBackOff","0")"},
      {"killed by signal",
       spec +
           R"("status":{"phase":"Running","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":137,"signal":9}}}]})",
       R"("0/2","Signal:9","0")"},
      {"ended without a reason",
       spec +
           R"("status":{"phase":"Failed","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":7}}}]})",
       R"("0/2","ExitCode:7","0")"},
      {"completed beside running and ready",
       spec +
           R"("status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[
           {"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
           {"name":"b","ready":true,"state":{"running":{}}}]})",
       R"("1/2","Running","0")"},
      {"completed beside running", spec + R"("status":{"phase":"Running","containerStatuses":[
           {"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
           {"name":"b","ready":true,"state":{"running":{}}}]})",
       R"("1/2","NotReady","0")"},
      {"completed beside failed", spec + R"("status":{"phase":"Failed","containerStatuses":[
           {"name":"a","state":{"terminated":{"exitCode":0,"reason":"Completed"}}},
           {"name":"b","state":{"terminated":{"exitCode":1,"reason":"Error"}}}]})",
       R"("0/2","Error","0")"},
      {"initializing",
       init +
           R"("status":{"phase":"Pending","initContainerStatuses":[{"name":"i","restartCount":2,"state":{"running":{}}}]})",
       R"("0/2","Init:0/2","2")"},
      {"init waits",
       init +
           R"("status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"ErrImagePull"}}}]})",
       R"("0/2","Init:ErrImagePull","0")"},
      {"init failed",
       init +
           R"("status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":2}}}]})",
       R"("0/2","Init:ExitCode:2","0")"},
      {"sidecar counts", init + R"("status":{"phase":"Running","initContainerStatuses":[
           {"name":"i","restartCount":4,"state":{"terminated":{"exitCode":0}}},
           {"name":"s","restartCount":1,"started":true,"ready":true,"state":{"running":{}}}],
           "containerStatuses":[{"name":"a","ready":true,"restartCount":1,"state":{"running":{}}}]})",
       R"("2/2","Running","2")"},
      {"terminating", spec + R"("status":{"phase":"Running"})", R"("0/2","Terminating","0")",
       deleting},
      {"lost with its node", spec + R"("status":{"phase":"Running","reason":"NodeLost"})",
       R"("0/2","Unknown","0")", deleting},
      {"finished before it was deleted", spec + R"("status":{"phase":"Succeeded"})",
       R"("0/2","Succeeded","0")", deleting},
      {"failed before it was deleted", spec + R"("status":{"phase":"Failed"})",
       R"("0/2","Failed","0")", deleting},
  };
  for (const Case& c : cases)
    EXPECT_EQ(cells(*object(kinds::pod(), c.members, c.metadata)),
              "[\"x\"," + c.want + R"(,"60m","<none>","<none>","<none>","<none>"])")
        << c.name;
}

TEST(PodCells, WideOnesSayWhere) {
  const auto pod = object(kinds::pod(), R"("spec":{"nodeName":"n1","containers":[{"name":"a"}],
      "readinessGates":[{"conditionType":"x/a"},{"conditionType":"x/b"}]},
      "status":{"phase":"Running","nominatedNodeName":"n2","podIPs":[{"ip":"10.0.0.1"}],
                "conditions":[{"type":"x/a","status":"True"},{"type":"x/b","status":"False"}]})");
  EXPECT_EQ(cells(*pod), R"(["x","0/1","Running","0","60m","10.0.0.1","n1","n2","1/2"])");
}

TEST(NodeCells, SayHowTheNodeIs) {
  const auto ready =
      object(kinds::node(), R"("spec":{"unschedulable":true},
      "status":{"conditions":[{"type":"Ready","status":"True"}],
      "addresses":[{"type":"Hostname","address":"h"},{"type":"InternalIP","address":"10.0.0.1"}],
      "nodeInfo":{"kubeletVersion":"v1.37.0","kernelVersion":"6.1","architecture":"amd64","osImage":"Debian",
                  "containerRuntimeVersion":"containerd://2"}})",
             R"(,"labels":{"node-role.kubernetes.io/worker":"","kubernetes.io/role":"gpu",
                                "node-role.kubernetes.io/":""})");
  EXPECT_EQ(
      cells(*ready),
      R"(["x","Ready,SchedulingDisabled","gpu,worker","60m","v1.37.0","10.0.0.1","<none>","Debian",)"
      R"--("6.1 (amd64)","containerd://2"])--");
  const auto bare = object(kinds::node(), "");
  EXPECT_EQ(
      cells(*bare),
      R"(["x","Unknown","<none>","60m","","<none>","<none>","<unknown>","<unknown>","<unknown>"])");
  const auto lost =
      object(kinds::node(), R"("status":{"conditions":[{"type":"Ready","status":"Unknown"}]})");
  EXPECT_TRUE(cells(*lost).starts_with(R"(["x","NotReady",)"));
}

TEST(OtherCells, FollowTheirRules) {
  struct Case {
    const Kind& kind;
    std::string members;
    std::string want;
  };
  const Kind pod_group = kind_of("scheduling.k8s.io", "PodGroup", "scheduling/v1beta1");
  const Kind composite = kind_of("scheduling.k8s.io", "CompositePodGroup", "scheduling/v1alpha3");
  const Kind job = kind_of("batch", "Job", "batch/v1");
  const Kind role = kind_of("rbac.authorization.k8s.io", "ClusterRole", "rbac/v1");
  const Case cases[] = {
      {kinds::name_space(), R"("status":{"phase":"Active"})", R"(["x","Active","60m"])"},
      {kinds::lease(), R"("spec":{"holderIdentity":"me"})", R"(["x","me","60m"])"},
      {kinds::lease(), R"("spec":{})", R"(["x","","60m"])"},
      {kinds::priority_class(), R"("value":7,"globalDefault":true,"preemptionPolicy":"Never")",
       R"(["x",7,true,"60m","Never"])"},
      {kinds::event(),
       R"("involvedObject":{"kind":"Pod","name":"p","fieldPath":"spec"},"type":"Normal","reason":"R",
          "message":" hello\n","source":{"component":"c","host":"h"},"count":3,
          "firstTimestamp":"2026-01-01T00:30:00Z","lastTimestamp":"2026-01-01T00:59:00Z")",
       R"(["60s","Normal","R","pod/p","spec","c, h","hello","30m",3,"x"])"},
      {kinds::event(),
       R"("involvedObject":{"kind":"Node"},"reportingComponent":"c","eventTime":"2026-01-01T00:30:00.000000Z",
          "series":{"count":9,"lastObservedTime":"2026-01-01T00:58:00.000000Z"})",
       R"(["2m","","","node","","c","","30m",9,"x"])"},
      {kinds::event(), R"("involvedObject":{})",
       R"(["<unknown>","","","","","","","<unknown>",1,"x"])"},
      {pod_group,
       R"("spec":{"schedulingPolicy":{"gang":{"minCount":2}},"workloadRef":{"workloadName":"w"}})",
       R"(["x","Gang","w","Pending","60m","2","<unknown>","<unknown>","<unknown>","<unknown>"])"},
      {pod_group,
       R"("spec":{"schedulingPolicy":{"basic":{}}},"status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"True"}]})",
       R"(["x","Basic","<none>","Scheduled","60m","<none>","<unknown>","<unknown>","<unknown>","<unknown>"])"},
      {pod_group,
       R"("spec":{"schedulingPolicy":{"basic":{}}},"status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"False"}]})",
       R"(["x","Basic","<none>","Unschedulable","60m","<none>","<unknown>","<unknown>","<unknown>","<unknown>"])"},
      {pod_group,
       R"("spec":{"schedulingPolicy":{"basic":{}}},"status":{"conditions":[{"type":"DisruptionTarget","status":"False","reason":"Moved"}]})",
       R"(["x","Basic","<none>","Moved","60m","<none>","<unknown>","<unknown>","<unknown>","<unknown>"])"},
      {composite,
       R"("spec":{"schedulingPolicy":{"gang":{"minGroupCount":1}},"workloadRef":{"workloadName":"w"}})",
       R"(["x","Gang","w","Pending","60m","1","<unknown>","<unknown>","<unknown>","<unknown>"])"},
      {composite,
       R"("spec":{"schedulingPolicy":{"basic":{}}},"status":{"conditions":[{"type":"CompositePodGroupInitiallyScheduled","status":"True"}]})",
       R"(["x","Basic","<none>","Scheduled","60m","<none>","<unknown>","<unknown>","<unknown>","<unknown>"])"},
      {job,
       R"("spec":{"completions":3,"selector":{"matchLabels":{"b":"2","a":"1"}},
          "template":{"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]}}},
          "status":{"succeeded":1,"startTime":"2026-01-01T00:30:00Z"})",
       R"(["x","Running","1/3","30m","60m","c,d","i,j","a=1,b=2"])"},
      {job,
       R"("spec":{"parallelism":2},"status":{"startTime":"2026-01-01T00:30:00Z","completionTime":"2026-01-01T00:31:00Z",
          "conditions":[{"type":"Complete","status":"True"}]})",
       R"(["x","Complete","0/1 of 2","60s","60m","","","<none>"])"},
      {role, "", R"(["x","2026-01-01T00:00:00Z"])"},
  };
  for (const Case& c : cases) EXPECT_EQ(cells(*object(c.kind, c.members)), c.want) << c.members;
}

TEST(OtherCells, GroupsAreCountedByWhoeverKnows) {
  class Counter final : public GroupCounter {
    std::optional<GroupCounts> count(const Object& group) const override {
      return GroupCounts{.members = static_cast<std::int64_t>(group.meta().name.size()) + 3,
                         .scheduled = 2,
                         .domains = "r1",
                         .held_by = "1 pod"};
    }
  };
  const Counter counter;
  const std::string scheduled =
      R"(,"status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"True"}]})";
  const auto gang = [](int minimum) {
    return R"("spec":{"schedulingPolicy":{"gang":{"minCount":)" + std::to_string(minimum) + "}}}";
  };
  const struct {
    std::string members, meta, want;
  } cases[] = {
      {R"("spec":{"schedulingPolicy":{"basic":{}}})", "",
       R"(["x","Basic","<none>","Pending","60m","<none>","4","2","r1","<none>"])"},
      {gang(3), "", R"(["x","Gang","<none>","Pending","60m","3","4","2","r1","<none>"])"},
      {gang(3) + scheduled, "",
       R"(["x","Gang","<none>","BelowMinimum","60m","3","4","2","r1","1 missing"])"},
      {gang(2) + scheduled, "",
       R"(["x","Gang","<none>","Scheduled","60m","2","4","2","r1","2 extra pods wait"])"},
      {gang(2) + scheduled, R"(,"deletionTimestamp":"2026-01-01T00:30:00Z")",
       R"(["x","Gang","<none>","Terminating","60m","2","4","2","r1","waits for 1 pod"])"},
  };
  for (const auto& [members, meta, want] : cases) {
    const auto group = object(kinds::pod_group(), members, meta);
    const TableRow rows[] = {{group.get(), {5}}};
    std::string out;
    append_table(kinds::pod_group(), rows, {.revision = {9}}, {.now = kNow, .groups = &counter},
                 out);
    EXPECT_NE(out.find(R"("cells":)" + want), std::string::npos) << out;
  }
}

TEST(Table, ListsCarryColumnsAndRows) {
  const auto one = object(kinds::name_space(), R"("status":{"phase":"Active"})",
                          R"(,"annotations":{"a":"}\"{"})");
  const TableRow rows[] = {{one.get(), {5}}};
  std::string out;
  append_table(kinds::name_space(), rows, {.revision = {9}, .continue_token = "t", .remaining = 2},
               {.now = kNow}, out);
  const Json table = document(out);
  EXPECT_EQ(find_string(table, "kind"), "Table");
  EXPECT_EQ(find_string(table, "apiVersion"), "meta.k8s.io/v1");
  EXPECT_EQ(to_text(*find(table, "metadata")),
            R"({"resourceVersion":"9","continue":"t","remainingItemCount":2})");
  EXPECT_EQ(
      to_text(find_array(table, "columnDefinitions")->at(0)),
      R"({"name":"Name","type":"string","format":"name","description":"Name of the object.","priority":0})");
  const Json& row = find_array(table, "rows")->at(0);
  EXPECT_EQ(to_text(*find(row, "cells")), R"(["x","Active","60m"])");
  const Json* shown = find(row, "object");
  EXPECT_EQ(find_string(*shown, "kind"), "PartialObjectMetadata");
  const Json* metadata = find(*shown, "metadata");
  EXPECT_EQ(find_string(*metadata, "resourceVersion"), "5");
  EXPECT_EQ(find_string(*find(*metadata, "annotations"), "a"), "}\"{");
  EXPECT_EQ(find(*shown, "status"), nullptr);
}

TEST(Table, WatchEventsLeaveColumnsOut) {
  const auto pod =
      object(kinds::pod(), R"("spec":{"containers":[{"name":"c"}]},"status":{"phase":"Succeeded"})",
             R"(,"namespace":"n")");
  const TableRow rows[] = {{pod.get(), {7}}};
  std::string out;
  append_table(kinds::pod(), rows, {.revision = {7}},
               {.now = kNow, .include = IncludeObject::None, .with_columns = false}, out);
  EXPECT_EQ(
      out,
      R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},)"
      R"("columnDefinitions":null,"rows":[{"cells":["x","0/1","Succeeded","0","60m","<none>","<none>",)"
      R"("<none>","<none>"],"conditions":[{"type":"Completed","status":"True","reason":"Succeeded",)"
      R"("message":"The pod has completed successfully."}],"object":null}]})");
  out.clear();
  append_table(kinds::pod(), rows, {.revision = {7}},
               {.now = kNow, .include = IncludeObject::Object}, out);
  const Json table = document(out);
  const Json* shown = find(find_array(table, "rows")->at(0), "object");
  EXPECT_EQ(find_string(*shown, "kind"), "Pod");
  EXPECT_NE(find(*shown, "spec"), nullptr);
}

TEST(Table, AnEmptyListHasNoRows) {
  std::string out;
  append_table(kinds::pod(), {}, {.revision = {3}}, {.now = kNow, .with_columns = false}, out);
  EXPECT_TRUE(out.ends_with(R"("rows":[]})"));
}

TEST(Table, BookmarksAreBare) {
  std::string out;
  append_table(kinds::pod(), Bookmark{.revision = {4}, .initial_events_end = true},
               {.now = kNow, .with_columns = false}, out);
  EXPECT_EQ(
      out,
      R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"4"},)"
      R"("columnDefinitions":null,"rows":[{"cells":[],"object":{"kind":"PartialObjectMetadata",)"
      R"("apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"4",)"
      R"("annotations":{"k8s.io/initial-events-end":"true"}}}}]})");
}

TEST(PartialMetadata, ListsCarryKindsOnItems) {
  const auto one = object(kinds::name_space(), "");
  const TableRow rows[] = {{one.get(), {5}}, {one.get(), {6}}};
  std::string out;
  append_partial_metadata_list(rows, {.revision = {8}}, out);
  const Json parsed = document(out);
  EXPECT_EQ(find_string(parsed, "kind"), "PartialObjectMetadataList");
  const JsonArray* items = find_array(parsed, "items");
  ASSERT_EQ(items->size(), 2U);
  EXPECT_EQ(find_string(items->at(1), "kind"), "PartialObjectMetadata");
  EXPECT_EQ(find_string(*find(items->at(1), "metadata"), "resourceVersion"), "6");
}

TEST(Cells, OfKindsThatPeopleList) {
  struct Case {
    std::string_view group;
    std::string_view kind;
    std::string members;
    std::string want;
  };
  const std::string pod_template =
      R"("template":{"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"k"}]}})";
  const Case cases[] = {
      {"apps", "Deployment",
       R"("spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},)" + pod_template +
           R"(},"status":{"readyReplicas":1,"updatedReplicas":2,"availableReplicas":1})",
       R"(["x","1/3",2,1,"60m","c,d","i,k","app=web"])"},
      {"apps", "StatefulSet", R"("spec":{"replicas":2,)" + pod_template + "}",
       R"(["x","0/2","60m","c,d","i,k"])"},
      {"apps", "DaemonSet",
       R"("spec":{"template":{"spec":{"nodeSelector":{"b":"2","a":"1"}}}},"status":{"desiredNumberScheduled":4,"numberReady":3})",
       R"(["x",4,0,3,0,0,"a=1,b=2","60m","","","<none>"])"},
      {"", "ReplicationController",
       R"("spec":{"replicas":1,"selector":{"a":"b"},)" + pod_template + "}",
       R"(["x",1,0,0,"60m","c,d","i,k","a=b"])"},
      {"batch", "CronJob",
       R"("spec":{"schedule":"@daily","suspend":false,"jobTemplate":{"spec":{)" + pod_template +
           R"(}}},"status":{"active":[{}],"lastScheduleTime":"2026-01-01T00:30:00Z"})",
       R"(["x","@daily","<none>","False",1,"30m","60m","c,d","i,k","<none>"])"},
      {"", "Service",
       R"("spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1","ports":[{"port":80,"nodePort":30080,"protocol":"TCP"},{"port":53,"protocol":"UDP"}],"selector":{"a":"b"}})",
       R"(["x","LoadBalancer","10.0.0.1","<pending>","80:30080/TCP,53/UDP","60m","a=b"])"},
      {"", "Service", R"("spec":{"type":"ClusterIP","clusterIP":"None"})",
       R"(["x","ClusterIP","None","<none>","<none>","60m","<none>"])"},
      {"", "Endpoints",
       R"("subsets":[{"addresses":[{"ip":"1.1.1.1"},{"ip":"1.1.1.2"},{"ip":"1.1.1.3"},{"ip":"1.1.1.4"}],"ports":[{"port":80}]}])",
       R"(["x","1.1.1.1:80,1.1.1.2:80,1.1.1.3:80 + 1 more...","60m"])"},
      {"", "PersistentVolumeClaim",
       R"("spec":{"volumeName":"pv","storageClassName":"fast","volumeMode":"Filesystem"},"status":{"phase":"Bound","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce","ReadOnlyMany"]})",
       R"(["x","Bound","pv","1Gi","RWO,ROX","fast","<unset>","60m","Filesystem"])"},
      {"", "ResourceQuota",
       R"("status":{"hard":{"limits.cpu":"2","pods":"4"},"used":{"pods":"1"}})",
       R"(["x","pods: 1/4","limits.cpu: 0/2","60m"])"},
      {"rbac.authorization.k8s.io", "ClusterRoleBinding",
       R"("roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":"User","name":"u"},{"kind":"User","name":"v"},{"kind":"ServiceAccount","namespace":"n","name":"s"}])",
       R"(["x","ClusterRole/r","60m","u, v","","n/s"])"},
      {"resource.k8s.io", "ResourceClaim",
       R"("status":{"allocation":{},"reservedFor":[{"uid":"u"}]})",
       R"(["x","allocated,reserved","60m"])"},
      {"storage.k8s.io", "StorageClass", R"("provisioner":"p","reclaimPolicy":"Retain")",
       R"(["x","p","Retain","Immediate",false,"60m"])"},
      {"jobset.x-k8s.io", "JobSet",
       R"("spec":{"suspend":true,"replicatedJobs":[{"replicas":3},{}]},"status":{"restarts":2,"conditions":[{"type":"Completed","status":"True"}],"replicatedJobsStatus":[{"ready":1,"succeeded":1}]})",
       R"(["x","","2","True","true","2/4","60m"])"},
      {"leaderworkerset.x-k8s.io", "LeaderWorkerSet",
       R"("spec":{"replicas":3},"status":{"readyReplicas":1,"updatedReplicas":2})",
       R"(["x",1,3,2,"60m"])"},
  };
  for (const Case& c : cases) {
    const Kind* kind = find_kind(c.group, c.kind);
    ASSERT_NE(kind, nullptr) << c.kind;
    EXPECT_EQ(cells(*object(*kind, c.members)), c.want) << c.kind;
  }
}

TEST(TableTest, AScaleIsARowToo) {
  const Json scale =
      parse_json(R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":)"
                 R"({"name":"web","namespace":"ns","resourceVersion":"7",)"
                 R"("creationTimestamp":"2026-01-01T00:00:00Z"},)"
                 R"("spec":{"replicas":3},"status":{"replicas":2,"selector":"a=b"}})")
          .value()
          .value;
  const auto table = [&](IncludeObject include) {
    std::string out;
    append_scale_table(scale, {.now = *parse_time("2026-01-01T00:05:00Z"), .include = include},
                       out);
    return parse_json(out).value().value;
  };
  const Json by_default = table(IncludeObject::Metadata);
  EXPECT_EQ(to_text(*find_path(by_default, "metadata")), R"({"resourceVersion":"7"})");
  std::string names;
  for (const Json& column : *find_array(by_default, "columnDefinitions"))
    names += std::string(find_string(column, "name")) + " ";
  EXPECT_EQ(names, "Name Desired Available Age ");
  EXPECT_EQ(to_text(find_array(by_default, "rows")->at(0)),
            R"({"cells":["web",3,2,"5m"],"object":{"kind":"PartialObjectMetadata",)"
            R"("apiVersion":"meta.k8s.io/v1","metadata":{"name":"web","namespace":"ns",)"
            R"("resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z"}}})");
  EXPECT_EQ(*find(find_array(table(IncludeObject::Object), "rows")->at(0), "object"), scale);
  EXPECT_TRUE(find(find_array(table(IncludeObject::None), "rows")->at(0), "object")->is_null());
}

}  // namespace
}  // namespace muster::api
