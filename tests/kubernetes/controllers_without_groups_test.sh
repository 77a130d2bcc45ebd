#!/usr/bin/env bash
# `muster controllers` on a kube-apiserver as it comes, without group APIs, with exactly the rights of
# docs/deploy/controllers-rbac.yaml: Jobs and sets run without groups. One that waits to lead looks for others again before it acts.
. "$(dirname "$0")/lib.sh"

start_kubernetes
k apply -f "$ROOT/docs/deploy/controllers-rbac.yaml" >/dev/null
custom JobSet jobsets jobset.x-k8s.io v1alpha2
custom LeaderWorkerSet leaderworkersets leaderworkerset.x-k8s.io v1
write_kubeconfig "$WORK/controllers.kubeconfig" "$(k create token muster-controllers -n kube-system)"
manager() { run_in_background "$1" "$MUSTER" controllers --kubeconfig "$WORK/controllers.kubeconfig" --secure-port 0 "${@:2}"; }
served() { k api-resources -o name | grep -cE '^(jobsets.jobset|leaderworkersets.leaderworkerset).x-k8s.io$'; }
eventually "JobSets and LeaderWorkerSets are served" 60 2 served
manager first --controllers job,jobset,lws,statefulset
first=$LAST

job() { # NAME
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
jobset() { # NAME [SCHEDULING]
  cat <<END
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: $1}
spec:
  ${2:+scheduling: $2}
  replicatedJobs:
  - name: workers
    replicas: 2
    template: {spec: {completions: 1, parallelism: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: app}]}}}}
END
}
lws() { # NAME [SCHEDULING]
  cat <<END
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: $1}
spec:
  ${2:+scheduling: $2}
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    workerTemplate: {spec: {containers: [{name: main, image: app}]}}
END
}
count() { k get pods -l "$1" -o name | grep -c .; }
finish_pods() { # SELECTOR: as a kubelet says that they have ended well
  for name in $(k get pods -l "$1" -o name); do
    k patch "$name" --subresource status --type merge -p '{"status": {"phase": "Succeeded"}}' >/dev/null
  done
}
job works | k create -f - >/dev/null
eventually "a Job has its pods" 60 2 count job-name=works
finish_pods job-name=works
eventually "and completes when they do" 60 True k get job works -o 'jsonpath={.status.conditions[?(@.type=="Complete")].status}'
jobset train | k create -f - >/dev/null
eventually "a JobSet has its Jobs' pods" 60 2 count jobset.sigs.k8s.io/jobset-name=train
lws serve | k create -f - >/dev/null
eventually "a LeaderWorkerSet has its pods" 60 2 count leaderworkerset.sigs.k8s.io/name=serve
jobset gang '{}' | k create -f - >/dev/null
lws gang '{}' | k create -f - >/dev/null
eventually "a JobSet that asks for a gang says that there are none" 60 APINotAvailable \
  k get jobset gang -o 'jsonpath={.status.conditions[?(@.type=="SchedulingBlocked")].reason}'
eventually "a LeaderWorkerSet too" 60 APINotAvailable \
  k get leaderworkerset gang -o 'jsonpath={.status.conditions[?(@.type=="WorkloadSchedulingCreated")].reason}'
eventually "and they have no pods" 1 0 count 'jobset.sigs.k8s.io/jobset-name=gang'
eventually "neither" 1 0 count 'leaderworkerset.sigs.k8s.io/name=gang'

# --- a kube-controller-manager that starts while one of ours waits
manager second --controllers job
second=$LAST
eventually "a second one waits" 30 1 grep -c ' runs job$' "$WORK/second.log"
run_in_background kcm "$KUBERNETES" kube-controller-manager --kubeconfig "$KUBECONFIG" --secure-port 0 \
  --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" --controllers garbage-collector-controller
held() { k get lease kube-controller-manager -n kube-system -o 'jsonpath={.spec.holderIdentity}' | grep -c '_'; }
eventually "a kube-controller-manager leads" 60 1 held
kill -TERM "$first"
wait "$first" 2>/dev/null
runs() { kill -0 "$second" 2>/dev/null && echo yes || echo no; }
eventually "the second one ends when it is elected" 60 no runs
expect "and says why" "a kube-controller-manager is at work" cat "$WORK/second.log"
refused_controllers() { grep -h '"username":"system:serviceaccount:kube-system:muster-controllers"' "$WORK"/audit.json | grep '"code":403' |
  grep -o '"verb":"[a-z]*"[^}]*' | cut -c1-300 | sort | uniq -c; }
[ -z "$(refused_controllers)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused_controllers)"

# --- leases of others are theirs
uninstall() { "$MUSTER" uninstall --kubeconfig "$KUBECONFIG" --lease muster-controllers --lease kube-controller-manager; }
expect "uninstall leaves the lease of another alone" "lease kube-system/kube-controller-manager: left alone: it is not Muster's" uninstall
eventually "which is still held" 1 1 held
lease() { k get lease muster-controllers -n kube-system -o name 2>&1 | grep -o NotFound; }
eventually "Muster's own is gone" 5 NotFound lease
