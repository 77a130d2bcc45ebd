#!/usr/bin/env bash
# Feature gates over restarts on one data directory: on, off, on. What is off is not served and not believed; what is
# stored stays.
. "$(dirname "$0")/lib.sh"

data=$WORK/data
cluster=(--data-dir "$data" --racks-per-block 2 --nodes-per-rack 2 --node-resources cpu=4,memory=8Gi)
all_off=GenericWorkload=false,TopologyAwareWorkloadScheduling=false,CompositePodGroup=false,PodGroupPreemptionPolicy=false,WorkloadWithJob=false
some_off=TopologyAwareWorkloadScheduling=false,CompositePodGroup=false,PodGroupPreemptionPolicy=false
k_raw() { k get --raw "$1"; }
refused() { # flags…: what `muster up` says before it gives up
  timeout 20 "$MUSTER" up --listen 127.0.0.1:0 --in-memory "$@" 2>&1
  echo "code $?"
}

# Flags that cannot be.
expect "an unknown gate is named" "unrecognized feature gate: Nonsense" refused --feature-gates=Nonsense=true
expect "an unmet dependency is told" \
  "CompositePodGroup is enabled, but depends on features that are disabled: [TopologyAwareWorkloadScheduling]" \
  refused --feature-gates=TopologyAwareWorkloadScheduling=false
expect "and what to do" "say CompositePodGroup=false as well, or TopologyAwareWorkloadScheduling=true" \
  refused --feature-gates=TopologyAwareWorkloadScheduling=false
expect "it does not start" "code 2" refused --feature-gates=TopologyAwareWorkloadScheduling=false
expect "several flags add up" "cannot set feature gate DeclarativeValidation to false" \
  refused --feature-gates=CompositePodGroup=false --feature-gates=DeclarativeValidation=false

group() { # NAME minCount
  cat <<YAML
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: $1}
spec:
  parentCompositePodGroupName: tree
  workloadRef: {workloadName: w, templateName: t}
  schedulingPolicy: {gang: {minCount: $2}}
  schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}
  preemptionPolicy: PreemptLowerPriority
YAML
}
member() { # NAME GROUP
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  schedulingGroup: {podGroupName: $2}
  containers: [{name: main, image: app, resources: {requests: {cpu: "1"}}}]
YAML
}
cat >"$WORK/tree.yaml" <<'YAML'
apiVersion: scheduling.k8s.io/v1alpha3
kind: CompositePodGroup
metadata: {name: tree}
spec:
  workloadRef: {workloadName: w, templateName: root}
  schedulingPolicy: {basic: {}}
YAML

echo "--- on"
start_muster "${cluster[@]}"
expect "a composite" "created" k apply -f "$WORK/tree.yaml"
expect "a group with every gated field" "created" k apply -f - < <(group stored 3)
expect "a member" "created" k apply -f - < <(member one stored)
k get podgroup stored -o jsonpath='{.spec}' >"$WORK/spec.before"
sleep 2
expect "one member is not enough" "Pending" k get pod one
stop_muster

echo "--- all off"
start_muster "${cluster[@]}" "--feature-gates=$all_off"
expect "no kinds" "doesn't have a resource type" k get podgroups
expect "no versions" "NotFound" k_raw /apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups
expect_not "not in discovery" "v1alpha3" k_raw /apis/scheduling.k8s.io
expect_not "not in OpenAPI" "PodGroupTemplate" k_raw /openapi/v3/apis/scheduling.k8s.io/v1
expect_not "nor in its index" "scheduling.k8s.io/v1beta1" k_raw /openapi/v3
eventually "the pod that waited for its gang is a lone pod now" "Running" k get pod one
expect "a stored field stays through an update" "labeled" k label pod one touched=yes
expect "and is still there" "stored" k get pod one -o 'jsonpath={.spec.schedulingGroup.podGroupName}'
member two stored >"$WORK/two.yaml"
expect "a new pod" "created" k create -f "$WORK/two.yaml"
expect "has no group" "none" k get pod two -o 'custom-columns=G:.spec.schedulingGroup.podGroupName'
stop_muster

echo "--- some off"
start_muster "${cluster[@]}" "--feature-gates=$some_off"
expect "groups are there again" "stored" k get podgroups
expect "composites are not" "doesn't have a resource type" k get compositepodgroups
expect "gated fields are dropped on create" "created" k create -f - < <(group fresh 1)
expect "all of them" "[]" k get podgroup fresh \
  -o 'jsonpath=[{.spec.parentCompositePodGroupName}{.spec.schedulingConstraints}{.spec.preemptionPolicy}]'
expect "a member" "created" k create -f - < <(member three fresh)
eventually "the group is a root of its own" "Running" k get pod three
expect "minCount may change" "patched" k patch podgroup stored --type=merge -p '{"spec":{"schedulingPolicy":{"gang":{"minCount":1}}}}'
expect "what was stored stays" '"topology.kubernetes.io/rack"' k get podgroup stored -o 'jsonpath={.spec.schedulingConstraints}'
expect "also the parent" "tree" k get podgroup stored -o 'jsonpath={.spec.parentCompositePodGroupName}'
stop_muster

echo "--- on again"
start_muster "${cluster[@]}"
expect "the composite is there" "tree" k get compositepodgroups
expect "nothing was lost" "$(sed 's/"minCount":3/"minCount":1/' "$WORK/spec.before")" k get podgroup stored -o jsonpath='{.spec}'
expect "the pod is a member again" "stored" k get pod one -o 'jsonpath={.spec.schedulingGroup.podGroupName}'
k create -f - < <(member four stored) >/dev/null
eventually "and the tree is scheduled" "Running" k get pod four
eventually "all of it" "Scheduled" k get compositepodgroup tree
expect "wide output counts members" "2" bash -c "$KUBECTL get podgroup stored -o wide --no-headers | awk '{print \$7}'"
expect "and those with a node" "2" bash -c "$KUBECTL get podgroup stored -o wide --no-headers | awk '{print \$8}'"
