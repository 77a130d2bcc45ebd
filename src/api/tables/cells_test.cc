#include "api/tables/cells_testing.h"

// What `kubectl get` prints of each kind, cell by cell.
namespace muster::api {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kStorage = "storage.k8s.io";
constexpr std::string_view kResource = "resource.k8s.io";

TEST(JobCells, SayHowFarTheJobHasCome) {
  const auto with = [](std::string_view type) {
    return fmt::format(
        R"("spec":{{"parallelism":1}},"status":{{"conditions":[{{"type":"{}","status":"True"}}]}})",
        type);
  };
  const auto status = [](std::string_view text) {
    return fmt::format(R"(["x","{}","0/1","","60m","","","<none>"])", text);
  };
  const CellsCase cases[] = {
      {"batch", "Job", with("Failed"), status("Failed")},
      {"batch", "Job", with("Complete"), status("Complete"), kDeleting},
      {"batch", "Job", with("Suspended"), status("Suspended")},
      {"batch", "Job", with("Suspended"), status("Terminating"), kDeleting},
      {"batch", "Job", with("FailureTarget"), status("FailureTarget")},
      {"batch", "Job", with("SuccessCriteriaMet"), status("SuccessCriteriaMet")},
      {"batch", "Job", with("Else"), status("Running")},
      {"batch", "Job",
       R"("spec":{"parallelism":1},"status":{"conditions":[{"type":"Failed","status":"False"}]})",
       status("Running")},
      {"batch", "Job", R"("spec":{"parallelism":3,"completions":1},"status":{"succeeded":1})",
       R"(["x","Running","1/1","","60m","","","<none>"])"},
  };
  check(cases);
}

TEST(CronJobCells, SayWhetherItRests) {
  const CellsCase cases[] = {
      {"batch", "CronJob", R"("spec":{"schedule":"@daily","timeZone":"Etc/UTC","suspend":true})",
       R"(["x","@daily","Etc/UTC","True",0,"<none>","60m","","","<none>"])"},
      {"batch", "CronJob", R"("spec":{"schedule":"@daily"})",
       R"(["x","@daily","<none>","<unset>",0,"<none>","60m","","","<none>"])"},
      {"batch", "CronJob",
       R"("spec":{"jobTemplate":{"spec":{"selector":{"matchLabels":{"a":"b"}}}}},"status":{"active":[{},{}]})",
       R"(["x","","<none>","<unset>",2,"<none>","60m","","","a=b"])"},
  };
  check(cases);
}

TEST(SetCells, StayEmptyWhereThereIsNothingToRead) {
  const CellsCase cases[] = {
      {"jobset.x-k8s.io", "JobSet", R"("spec":{"replicatedJobs":[{}]})",
       R"(["x","","0","","","0/1","60m"])"},
      {"jobset.x-k8s.io", "JobSet",
       R"("spec":{"suspend":false,"replicatedJobs":[]},"status":{"terminalState":"Failed",
          "conditions":[{"type":"Completed","status":"False"}],"replicatedJobsStatus":[{"ready":1},{"succeeded":2}]})",
       R"(["x","Failed","0","False","false","3/0","60m"])"},
      {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", R"("spec":{})", R"(["x",0,0,0,"60m"])"},
  };
  check(cases);
}

TEST(AppsCells, CountPods) {
  const CellsCase cases[] = {
      {"apps", "ReplicaSet",
       R"("spec":{"replicas":3,"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}},
          "status":{"replicas":2,"readyReplicas":1})",
       R"(["x",3,2,1,"60m","","","a"])"},
      {"apps", "ReplicaSet",
       R"("spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Near"}]}})",
       R"(["x",0,0,0,"60m","","","<error>"])"},
      {"apps", "DaemonSet",
       R"("spec":{},"status":{"desiredNumberScheduled":1,"currentNumberScheduled":2,"numberReady":3,
          "updatedNumberScheduled":4,"numberAvailable":5})",
       R"(["x",1,2,3,4,5,"<none>","60m","","","<none>"])"},
      {"apps", "StatefulSet", R"("spec":{"replicas":2},"status":{"readyReplicas":1})",
       R"(["x","1/2","60m","",""])"},
      {"apps", "ControllerRevision", R"("revision":3)", R"(["x","statefulset.apps/s",3,"60m"])",
       R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Other","name":"o","uid":"1"},
          {"apiVersion":"apps/v1","kind":"StatefulSet","name":"s","uid":"2","controller":true}])"},
      {"apps", "ControllerRevision", R"("revision":3)", R"(["x","pod/p",3,"60m"])",
       R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"2","controller":true}])"},
      {"apps", "ControllerRevision", R"("revision":3)", R"(["x","<none>",3,"60m"])",
       R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"2"}])"},
      {"", "PodTemplate",
       R"("template":{"metadata":{"labels":{"b":"2","a":"1"}},"spec":{"containers":[{"name":"c","image":"i"}]}})",
       R"(["x","c","i","a=1,b=2"])"},
      {"", "ReplicationController", R"("status":{"replicas":2,"readyReplicas":1})",
       R"(["x",0,2,1,"60m","","","<none>"])"},
  };
  check(cases);
}

TEST(CoreCells, CountEntriesAndAmounts) {
  const CellsCase cases[] = {
      {"", "ConfigMap", R"("data":{"a":"1","b":"2"},"binaryData":{"c":"AAAA"})",
       R"(["x",3,"60m"])"},
      {"", "ConfigMap", "", R"(["x",0,"60m"])"},
      {"", "Secret", R"("data":{"a":"AAAA"},"type":"Opaque")", R"(["x","Opaque",1,"60m"])"},
      {"", "ServiceAccount", "", R"(["x","60m"])"},
      {"policy", "PodDisruptionBudget",
       R"("spec":{"minAvailable":"50%"},"status":{"disruptionsAllowed":2})",
       R"(["x","50%","N/A",2,"60m"])"},
      {"policy", "PodDisruptionBudget", R"("spec":{"maxUnavailable":1})",
       R"(["x","N/A","1",0,"60m"])"},
      {"", "ResourceQuota",
       R"("status":{"hard":{"limits.cpu":"2","limits.memory":"1Gi","requests.cpu":"1"},"used":{"limits.cpu":"1"}})",
       R"(["x","requests.cpu: 0/1","limits.cpu: 1/2, limits.memory: 0/1Gi","60m"])"},
  };
  check(cases);
}

TEST(EventCells, ReadBothSpellings) {
  const CellsCase cases[] = {
      {"events.k8s.io", "Event",
       R"("regarding":{"kind":"PodGroup","name":"g"},"note":"\thello ","deprecatedCount":4,
          "deprecatedSource":{"component":"c"},"reportingInstance":"i",
          "deprecatedFirstTimestamp":"2026-01-01T00:30:00Z","deprecatedLastTimestamp":"2026-01-01T00:40:00Z")",
       R"(["20m","","","podgroup/g","","c, i","hello","30m",4,"x"])"},
      {"", "Event",
       R"("involvedObject":{"kind":"Pod"},"reportingComponent":"r","reportingInstance":"i","source":{"host":"h"},
          "eventTime":"2026-01-01T00:30:00.000000Z","firstTimestamp":"2026-01-01T00:20:00Z")",
       R"(["40m","","","pod","","r, h","","40m",1,"x"])"},
      {"", "Event",
       R"("involvedObject":{},"reportingComponent":"r","message":" ","series":{"count":0})",
       R"(["<unknown>","","","","","r","","<unknown>",0,"x"])"},
  };
  check(cases);
}

TEST(NetworkCells, SayWhereServicesAre) {
  const auto service = [](std::string_view spec, std::string_view status = "") {
    return fmt::format(R"("spec":{{{}}}{})", spec, status);
  };
  const CellsCase cases[] = {
      {"", "Service",
       service(R"("type":"ExternalName","externalName":"a.b","externalIPs":["1.1.1.1"])"),
       R"(["x","ExternalName","<none>","a.b","<none>","60m","<none>"])"},
      {"", "Service", service(R"("type":"ClusterIP","externalIPs":["1.1.1.1","1.1.1.2"])"),
       R"(["x","ClusterIP","<none>","1.1.1.1,1.1.1.2","<none>","60m","<none>"])"},
      {"", "Service",
       service(R"("type":"LoadBalancer","externalIPs":["1.1.1.1"])",
               R"(,"status":{"loadBalancer":{"ingress":[{"ip":"2.2.2.2"},{"hostname":"h"}]}})"),
       R"(["x","LoadBalancer","<none>","2.2.2.2,h,1.1.1.1","<none>","60m","<none>"])"},
      {"", "Service",
       service(R"("type":"NodePort","ports":[{"port":1,"nodePort":0,"protocol":"TCP"}])",
               R"(,"status":{"loadBalancer":{"ingress":[{"ip":"2.2.2.2"}]}})"),
       R"(["x","NodePort","<none>","<none>","1/TCP","60m","<none>"])"},
      {"", "Endpoints",
       R"("subsets":[{"addresses":[{"ip":"1.1.1.1"}]},{"addresses":[{"ip":"1.1.1.2"}],"ports":[{"port":1},{"port":2}]}])",
       R"(["x","1.1.1.1,1.1.1.2:1,1.1.1.2:2","60m"])"},
      {"", "Endpoints", "", R"(["x","<none>","60m"])"},
      {"discovery.k8s.io", "EndpointSlice",
       R"("addressType":"IPv4","ports":[{"port":80},{}],"endpoints":[{"addresses":["1.1.1.1","1.1.1.2"]},
          {"addresses":["1.1.1.3"]},{"addresses":["1.1.1.4","1.1.1.5"]}])",
       R"(["x","IPv4","80,*","1.1.1.1,1.1.1.2,1.1.1.3 + 2 more...","60m"])"},
      {"discovery.k8s.io", "EndpointSlice", R"("addressType":"IPv4","endpoints":[])",
       R"(["x","IPv4","<unset>","<unset>","60m"])"},
  };
  check(cases);
}

TEST(AccessCells, SayWhoMayDoWhat) {
  const CellsCase cases[] = {
      {kRbac, "RoleBinding",
       R"("roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"Group","name":"g"},{"kind":"Group","name":"h"},
          {"kind":"ServiceAccount","namespace":"n","name":"s"},{"kind":"ServiceAccount","namespace":"m","name":"t"}])",
       R"(["x","Role/r","60m","","g, h","n/s, m/t"])"},
      {kRbac, "Role", "", R"(["x","2026-01-01T00:00:00Z"])"},
  };
  check(cases);
}

TEST(StorageCells, SayWhatIsBound) {
  const CellsCase cases[] = {
      {"", "PersistentVolume",
       R"("spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany","ReadWriteOncePod","Else"],
          "persistentVolumeReclaimPolicy":"Retain","claimRef":{"namespace":"n","name":"c"},"storageClassName":"fast",
          "volumeAttributesClassName":"gold","volumeMode":"Block"},"status":{"phase":"Bound","reason":"R"})",
       R"(["x","1Gi","RWX,RWOP,Else","Retain","Bound","n/c","fast","gold","R","60m","Block"])"},
      {"", "PersistentVolume", R"("spec":{},"status":{"phase":"Bound"})",
       R"(["x","","","","Terminating","","","<unset>","","60m","<unset>"])", kDeleting},
      {"", "PersistentVolumeClaim",
       R"("spec":{"volumeAttributesClassName":"gold"},"status":{"phase":"Pending","capacity":{"storage":"1Gi"},
          "accessModes":["ReadWriteOnce"]})",
       R"(["x","Pending","","","","","gold","60m","<unset>"])"},
      {kStorage, "StorageClass",
       R"("provisioner":"p","volumeBindingMode":"WaitForFirstConsumer","allowVolumeExpansion":true)",
       R"--(["x (default)","p","Delete","WaitForFirstConsumer",true,"60m"])--",
       R"(,"annotations":{"storageclass.kubernetes.io/is-default-class":"true"})"},
      {kStorage, "StorageClass", R"("provisioner":"p")",
       R"(["x","p","Delete","Immediate",false,"60m"])",
       R"(,"annotations":{"storageclass.kubernetes.io/is-default-class":"false"})"},
      {kStorage, "CSINode", R"("spec":{"drivers":[{"name":"a"},{"name":"b"}]})",
       R"(["x",2,"60m"])"},
      {kStorage, "CSIDriver",
       R"("spec":{"attachRequired":true,"podInfoOnMount":false,"storageCapacity":true,"requiresRepublish":true,
          "tokenRequests":[{"audience":"a"},{"audience":"b"}],"volumeLifecycleModes":["Persistent","Ephemeral"]})",
       R"(["x",true,false,true,"a,b",true,"Persistent,Ephemeral","60m"])"},
      {kStorage, "CSIDriver", R"("spec":{"podInfoOnMount":true})",
       R"(["x",false,true,false,"<unset>",false,"<none>","60m"])"},
      {kStorage, "CSIStorageCapacity", R"("storageClassName":"c","capacity":"1Gi")",
       R"(["x","c","1Gi"])"},
      {kStorage, "CSIStorageCapacity", R"("storageClassName":"c")", R"(["x","c","<unset>"])"},
      {kStorage, "VolumeAttachment",
       R"("spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}},"status":{"attached":true})",
       R"(["x","a","v","n",true,"60m"])"},
      {kStorage, "VolumeAttributesClass", R"("driverName":"d")", R"(["x","d","60m"])"},
  };
  check(cases);
}

TEST(DeviceCells, SayWhatIsAllocated) {
  const CellsCase cases[] = {
      {kResource, "ResourceClaim", "", R"(["x","pending","60m"])"},
      {kResource, "ResourceClaim", "", R"(["x","deleted","60m"])", kDeleting},
      {kResource, "ResourceClaim", R"("status":{"allocation":{}})", R"(["x","allocated","60m"])"},
      {kResource, "ResourceClaim", R"("status":{"allocation":{},"reservedFor":[{"uid":"u"}]})",
       R"(["x","deleted,allocated,reserved","60m"])", kDeleting},
      {kResource, "ResourceSlice", R"("spec":{"driver":"d","pool":{"name":"p"},"nodeName":"n"})",
       R"(["x","n","d","p","60m"])"},
      {kResource, "ResourceSlice", R"("spec":{"driver":"d"})", R"(["x","<unset>","d","","60m"])"},
      {kResource, "DeviceClass", "", R"(["x","60m"])"},
      {kResource, "ResourceClaimTemplate", "", R"(["x","60m"])"},
  };
  check(cases);
}

}  // namespace
}  // namespace muster::api
