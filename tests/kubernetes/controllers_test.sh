#!/usr/bin/env bash
# `muster controllers` on a real kube-apiserver, with exactly the rights of docs/deploy/controllers-rbac.yaml: Jobs, JobSets and
# LeaderWorkerSets are driven by Muster, groups in use are protected; nothing runs that is not named, or that somebody else runs.
. "$(dirname "$0")/lib.sh"

start_kubernetes_with_groups
k apply -f "$ROOT/docs/deploy/controllers-rbac.yaml" >/dev/null
custom JobSet jobsets jobset.x-k8s.io v1alpha2
custom LeaderWorkerSet leaderworkersets leaderworkerset.x-k8s.io v1
write_kubeconfig "$WORK/controllers.kubeconfig" "$(k create token muster-controllers -n kube-system)"
manager() { run_in_background "$1" "$MUSTER" controllers --kubeconfig "$WORK/controllers.kubeconfig" --secure-port 0 "${@:2}"; }

expect "nothing runs unless it is named" "nothing runs unless it is named" \
  "$MUSTER" controllers --kubeconfig "$WORK/controllers.kubeconfig"
expect "leaderworkerset alone is refused" "name statefulset as well" \
  "$MUSTER" controllers --kubeconfig "$WORK/controllers.kubeconfig" --controllers leaderworkerset
served() { k api-resources -o name | grep -cE '^(jobsets.jobset|leaderworkersets.leaderworkerset).x-k8s.io$'; }
eventually "JobSets and LeaderWorkerSets are served" 60 2 served
# What has lost its owner is deleted by the cluster's own collector.
run_in_background collector "$KUBERNETES" kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false --secure-port 0 \
  --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" --controllers garbage-collector-controller
manager controllers --controllers job,jobset,leaderworkerset,statefulset,group-minimum,podgroup-protection
holder=$LAST

job() { # NAME INDENT
  cat <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  completions: 2
  parallelism: 2
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}
END
}
finish_pods() { # SELECTOR: as a kubelet says that they have ended well
  for name in $(k get pods -l "$1" -o name); do
    k patch "$name" --subresource status --type merge -p '{"status": {"phase": "Succeeded"}}' >/dev/null
  done
}
count() { k get pods -l "$1" -o name | grep -c .; }
job works | k create -f - >/dev/null
eventually "a Job has its pods" 60 2 count job-name=works
owner_version() { k get podgroups -o 'jsonpath={.items[*].metadata.ownerReferences[?(@.kind=="Workload")].apiVersion}'; }
eventually "its group names its Workload in a version that is served" 10 "$GROUP_API" owner_version
finish_pods job-name=works
eventually "and completes when they do" 60 True k get job works -o 'jsonpath={.status.conditions[?(@.type=="Complete")].status}'
k delete job works --wait=false >/dev/null
groups() { k get podgroups -o name | grep -c podgroup; }
eventually "a Job that is deleted takes its group along" 60 0 groups

k create -f - >/dev/null <<END
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  network: {enableDNSHostnames: true}
  replicatedJobs:
  - name: workers
    replicas: 2
    template: {spec: {completions: 1, parallelism: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}}}
END
eventually "a JobSet has its Jobs' pods" 60 2 count jobset.sigs.k8s.io/jobset-name=train
finish_pods jobset.sigs.k8s.io/jobset-name=train
eventually "and completes when they do" 90 True k get jobset train -o 'jsonpath={.status.conditions[?(@.type=="Completed")].status}'

k create -f - >/dev/null <<END
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    workerTemplate: {spec: {containers: [{name: main, image: app}]}}
END
run_pods() { # SELECTOR: as a kubelet says that they run and are ready
  for name in $(k get pods -l "$1" -o name); do
    k patch "$name" --subresource status --type merge -p '{"status": {"phase": "Running", "conditions": [
      {"type": "Ready", "status": "True"}, {"type": "ContainersReady", "status": "True"}]}}' >/dev/null
  done
}
lws=leaderworkerset.sigs.k8s.io/name=serve
eventually "a LeaderWorkerSet has its leaders and workers" 90 4 count $lws
run_pods $lws
eventually "and is available when they are ready" 90 True \
  k get leaderworkerset serve -o 'jsonpath={.status.conditions[?(@.type=="Available")].status}'
k patch leaderworkerset serve --type merge -p '{"spec": {"replicas": 1}}' >/dev/null
eventually "a replica less takes its pods along" 90 2 count $lws
k patch leaderworkerset serve --type json -p \
  '[{"op": "replace", "path": "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image", "value": "app:2"}]' >/dev/null
updated() { run_pods $lws; k get pods -l $lws -o 'jsonpath={.items[*].spec.containers[0].image}'; }
eventually "a new template replaces the others" 120 "app:2 app:2" updated

k create -f - >/dev/null <<END
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: kube-controller-manager, namespace: kube-system}
spec: {holderIdentity: another, leaseDurationSeconds: 15}
END
renew() { while :; do k annotate lease kube-controller-manager -n kube-system "at=$RANDOM" --overwrite >/dev/null; sleep 1; done; }
run_in_background renewing renew
expect "what a kube-controller-manager has is not run beside one" "a kube-controller-manager is at work" \
  "$MUSTER" controllers --kubeconfig "$WORK/controllers.kubeconfig" --secure-port 0 --controllers job

run_in_background beside "$MUSTER" controllers --kubeconfig "$WORK/controllers.kubeconfig" --secure-port 0 \
  --controllers job --switched-off-elsewhere
waiting=$LAST
eventually "unless it is said that it runs without them" 30 1 grep -c ' runs job$' "$WORK/beside.log"

refused_controllers() { grep -h '"username":"system:serviceaccount:kube-system:muster-controllers"' "$WORK"/audit.json | grep '"code":403' |
  grep -o '"verb":"[a-z]*"[^}]*' | cut -c1-300 | sort | uniq -c; }
# --- composites, where there are any
if [ "$KUBERNETES_VERSION" != 1.36 ]; then
  kill -TERM "$holder" "$waiting"
  wait "$holder" "$waiting" 2>/dev/null
  manager composites --protect-composites
  k create -f - >/dev/null <<END
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: tree}
spec: {workloadRef: {workloadName: w, templateName: root}, schedulingPolicy: {gang: {minGroupCount: 1}}}
END
  eventually "a composite is protected" 60 scheduling.muster.dev/compositepodgroup-protection \
    k get compositepodgroup tree -o 'jsonpath={.metadata.finalizers[0]}'
  k delete compositepodgroup tree --wait=false >/dev/null
  gone() { k get compositepodgroup tree -o name | grep -o NotFound; }
  eventually "and goes when it has no groups" 60 NotFound gone
fi
[ -z "$(refused_controllers)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused_controllers)"
