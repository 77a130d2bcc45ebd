#!/usr/bin/env bash
# Pods and gangs of higher priority take the place of lower ones, with kubectl from end to end.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 1 --nodes-per-rack 2 --node-resources cpu=4,memory=16Gi
eventually "all nodes are Ready" "2" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

pod() { # name class cpu [group]
  local group=
  [[ -n ${4:-} ]] && group="schedulingGroup: {podGroupName: $4}"
  cat <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  priorityClassName: $2
  terminationGracePeriodSeconds: 1
  $group
  containers:
  - {name: main, image: app, resources: {requests: {cpu: "$3"}}}
YAML
}
for class in low:1 high:100 higher:1000; do
  cat <<YAML
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: ${class%:*}}
value: ${class#*:}
YAML
done >"$WORK/classes.yaml"
expect "priority classes" "created" k apply -f "$WORK/classes.yaml"

{ pod a low 4; pod b low 4; } >"$WORK/low.yaml"
expect "two pods fill the nodes" "pod/b created" k apply -f "$WORK/low.yaml"
eventually "they run" "2" bash -c "$KUBECTL get pods --no-headers | grep -cw Running"

pod urgent high 4 >"$WORK/urgent.yaml"
expect "a pod of higher priority comes" "created" k apply -f "$WORK/urgent.yaml"
eventually "it runs" "Running" k get pod urgent
eventually "one of the low ones is gone" "1" bash -c "$KUBECTL get pods --no-headers | grep -cE '^(a|b) '"
eventually "an event says why" "Preempted by pod" k get events --field-selector reason=Preempted

{
  cat <<YAML
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: train}
spec:
  priorityClassName: higher
  schedulingPolicy: {gang: {minCount: 2}}
YAML
  pod train-0 higher 4 train
  pod train-1 higher 4 train
} >"$WORK/gang.yaml"
expect "a gang of the highest priority comes" "created" k apply -f "$WORK/gang.yaml"
eventually "both of its pods run" "2" bash -c "$KUBECTL get pods --no-headers | grep -E '^train' | grep -cw Running"
expect "nobody else does" "NotFound" k get pod urgent
