#!/usr/bin/env bash
# `muster controllers` on a real kube-apiserver, with exactly the rights of docs/deploy/controllers-rbac.yaml: Jobs and JobSets
# are driven by Muster, groups that lost pods say so; nothing runs that is not named, or that somebody else runs.
. "$(dirname "$0")/lib.sh"

start_kubernetes --feature-gates GenericWorkload=true,GangScheduling=true --runtime-config scheduling.k8s.io/v1alpha2=true
k apply -f "$ROOT/docs/deploy/controllers-rbac.yaml" >/dev/null
k create -f - >/dev/null <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobsets.jobset.x-k8s.io}
spec:
  group: jobset.x-k8s.io
  scope: Namespaced
  names: {kind: JobSet, listKind: JobSetList, plural: jobsets, singular: jobset}
  versions:
  - name: v1alpha2
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
END
write_kubeconfig "$WORK/controllers.kubeconfig" "$(k create token muster-controllers -n kube-system)"
manager() { run_in_background "$1" "$MUSTER" controllers --kubeconfig "$WORK/controllers.kubeconfig" --secure-port 0 "${@:2}"; }

expect "nothing runs unless it is named" "nothing runs unless it is named" \
  "$MUSTER" controllers --kubeconfig "$WORK/controllers.kubeconfig"
served() { k get --raw /apis/jobset.x-k8s.io/v1alpha2 | grep -o '"name":"jobsets"'; }
eventually "JobSets are served" 60 '"name":"jobsets"' served
manager controllers --controllers job,jobset,group-minimum,podgroup-protection

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
finish_pods job-name=works
eventually "and completes when they do" 60 True k get job works -o 'jsonpath={.status.conditions[?(@.type=="Complete")].status}'

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
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: kube-controller-manager, namespace: kube-system}
spec: {holderIdentity: another, leaseDurationSeconds: 15}
END
renew() { while :; do k annotate lease kube-controller-manager -n kube-system "at=$RANDOM" --overwrite >/dev/null; sleep 1; done; }
run_in_background renewing renew
expect "what a kube-controller-manager has is not run beside one" "a kube-controller-manager is at work" \
  "$MUSTER" controllers --kubeconfig "$WORK/controllers.kubeconfig" --secure-port 0 --controllers job

refused_controllers() { grep -h '"username":"system:serviceaccount:kube-system:muster-controllers"' "$WORK"/audit.json | grep '"code":403' |
  grep -o '"verb":"[a-z]*"[^}]*' | cut -c1-300 | sort | uniq -c; }
[ -z "$(refused_controllers)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused_controllers)"
