#!/usr/bin/env bash
# A gang by kubectl: bound whole inside one rack, or told why not. The examples of the documentation work.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../docs/examples" && pwd)

start_muster --in-memory --zones 2 --racks-per-block 2 --nodes-per-rack 4 \
  --node-resources cpu=32,memory=128Gi,nvidia.com/gpu=8
eventually "all nodes are Ready" "16" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

running() { # LABEL-FREE count of running pods whose name starts with $1
  "$KUBECTL" get pods --no-headers 2>/dev/null | grep "^$1" | grep -cw Running
}
racks() { # the racks in which pods named $1-… run
  "$KUBECTL" get pods --no-headers -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName |
    grep "^$1" | awk '{print $2}' | sed 's/-n[0-9]*$//' | sort -u
}

for example in pod picky-pod batch-pod; do
  expect "docs/examples/$example.yaml applies" "created" k apply -f "$examples/$example.yaml"
done
eventually "the batch pod ends" "Completed" k get pod batch
expect "clean up" "deleted" k delete pod hello picky batch

expect "the gang applies" "podgroup.scheduling.k8s.io/train created" k apply -f "$examples/gang.yaml"
eventually "all four workers run" "4" running train
expect "in one rack" "1" bash -c "$(declare -f racks); KUBECTL=$KUBECTL; racks train | wc -l"
eventually "the group says it is scheduled" "Scheduled" k get podgroup train
wide() { "$KUBECTL" get podgroup "$1" -o wide --no-headers | awk '{print $6, $7, $8, $9}'; }
expect "minimum, members, scheduled and domain" "4 4 4 $(racks train)" wide train
minimum_met() { k get podgroup "$1" -o 'jsonpath={.status.conditions[?(@.type=="scheduling.muster.dev/MinimumMet")].status}'; }
eventually "it has what it needs" "True" minimum_met train
expect "apply again changes nothing" "podgroup.scheduling.k8s.io/train unchanged" k apply -f "$examples/gang.yaml"

# Five more racks' worth of gangs than there are racks: what does not fit waits whole.
for i in 2 3 4 5; do
  sed "s/\btrain\b/job$i/g; s/train-/job$i-/g" "$examples/gang.yaml" >"$WORK/job$i.yaml"
  k apply -f "$WORK/job$i.yaml" >/dev/null
done
eventually "three more gangs fit" "12" bash -c "$KUBECTL get pods --no-headers | grep '^job' | grep -cw Running"
eventually "the fifth waits whole" "Unschedulable" k get podgroup job5
expect "none of it runs" "0" running job5
expect "and it is told why" "nvidia.com/gpu" k get podgroup job5 -o 'jsonpath={.status.conditions[0].message}'
expect "room appears" "deleted" k delete pods train-0 train-1 train-2 train-3
eventually "and the whole gang runs" "4" running job5
eventually "the first gang is broken, and shows it" "BelowMinimum" k get podgroup train
expect "how much is missing" "4 missing" k get podgroup train -o wide
eventually "its condition agrees" "False" minimum_met train
eventually "and an event" "0 of at least 4 pods run or have succeeded" \
  k get events --field-selector involvedObject.name=train,reason=BelowMinimum

# The protection finalizer keeps a group while its pods run.
expect "delete the group" "deleted" k delete podgroup job2 --wait=false
expect "it stays while its pods run" "Terminating" k get podgroup job2
expect "and says so" "waits for 4 pods" k get podgroup job2 -o wide
expect "its pods go" "deleted" k delete pods job2-0 job2-1 job2-2 job2-3
eventually "and then it goes too" "NotFound" k get podgroup job2

# Upstream's words for what is wrong.
cat >"$WORK/both.yaml" <<'YAML'
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: both}
spec: {schedulingPolicy: {basic: {}, gang: {minCount: 2}}}
YAML
expect "two policies are refused" 'must specify exactly one of: `basic`, `gang`' k apply -f "$WORK/both.yaml"

# A tree: block-wide training of two cubes, each in a rack of its own block.
cat >"$WORK/tree.yaml" <<'YAML'
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: slice}
spec:
  workloadRef: {workloadName: slice, templateName: slice}
  schedulingPolicy: {gang: {minGroupCount: 2}}
  schedulingConstraints: {topology: [{key: topology.muster.dev/block}]}
YAML
for cube in a b; do
  cat >>"$WORK/tree.yaml" <<YAML
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: cube-$cube}
spec:
  parentCompositePodGroupName: slice
  workloadRef: {workloadName: slice, templateName: cube}
  schedulingPolicy: {gang: {minCount: 3}}
  schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}
YAML
  for i in 0 1 2; do
    cat >>"$WORK/tree.yaml" <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: cube-$cube-$i}
spec:
  schedulingGroup: {podGroupName: cube-$cube}
  containers: [{name: main, image: "train:1", resources: {requests: {nvidia.com/gpu: "8"}, limits: {nvidia.com/gpu: "8"}}}]
YAML
  done
done
k delete pods --all >/dev/null
k apply -f "$WORK/tree.yaml" >/dev/null
eventually "the whole tree runs" "6" running cube
expect "each cube in one rack" "2" bash -c "$(declare -f racks); KUBECTL=$KUBECTL; racks cube | wc -l"
expect "both in one block" "1" bash -c "$(declare -f racks); KUBECTL=$KUBECTL; racks cube | sed 's/-r[0-9]*\$//' | sort -u | wc -l"
eventually "the composite says so" "True" k get compositepodgroup slice -o \
  'jsonpath={.status.conditions[?(@.type=="CompositePodGroupInitiallyScheduled")].status}'
