#!/usr/bin/env bash
# A kube-apiserver that serves groups in v1alpha3 only: they are read and written in that version.
. "$(dirname "$0")/lib.sh"

needs_composites
start_kubernetes_with_groups --runtime-config scheduling.k8s.io/v1beta1=false
GROUP_API=scheduling.k8s.io/v1alpha3
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: muster}]
END
for i in 1 2; do make_node "a-$i" ra; done
start_scheduler scheduler --config "$WORK/config.yaml" --secure-port 0
gang train 2 | k create -f - >/dev/null
for i in 1 2; do pod "train-$i" 8 train; done | k create -f - >/dev/null
eventually "a gang is bound" 60 2 bound train-
eventually "its group says so" 30 True group_says train
expect "the version that is served is used" "podgroups                    scheduling.k8s.io/v1alpha3" cat "$WORK/scheduler.log"
gang wide 3 | k create -f - >/dev/null
for i in 1 2 3; do pod "wide-$i" 8 wide; done | k create -f - >/dev/null
eventually "a gang that does not fit waits" 30 False group_says wide
expect "muster explain reads it there" "0 of 3 pods fit" "$MUSTER" explain podgroup wide --kubeconfig "$KUBECONFIG"
# What belongs to a Workload must name it in that version, too: otherwise nobody knows what it belongs to.
run_in_background controllers "$MUSTER" controllers --kubeconfig "$KUBECONFIG" --secure-port 0 --controllers job,podgroup-protection
k create -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: works}
spec: {template: {spec: {restartPolicy: Never, schedulerName: nobody, containers: [{name: main, image: app}]}}}
END
owner_version() { k get podgroups -o 'jsonpath={.items[*].metadata.ownerReferences[?(@.kind=="Workload")].apiVersion}'; }
eventually "a Job's group names its Workload in that version" 60 "$GROUP_API" owner_version
run_in_background collector "$KUBERNETES" kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false --secure-port 0 \
  --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" --controllers garbage-collector-controller
k delete job works --wait=false >/dev/null
eventually "and is deleted with its Job" 60 "" owner_version
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
