#!/usr/bin/env bash
# A GroupBinding by hand: the example of docs/group-binding.md, and what users read when it is refused.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../docs/examples" && pwd)

start_muster --in-memory --racks-per-block 2 --nodes-per-rack 2 --node-resources cpu=8,memory=32Gi
eventually "all nodes are Ready" "4" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
expect "it is in discovery" "GroupBinding" k api-resources --api-group=scheduling.muster.dev
expect "kubectl explains it" "nodeName" k explain groupbinding.spec.pods
expect "it cannot be listed" "MethodNotAllowed" k get groupbindings

k create -f "$examples/duo.yaml" >/dev/null
uid() { "$KUBECTL" get "$1" "$2" -o jsonpath='{.metadata.uid}'; }
node() { "$KUBECTL" get nodes -o jsonpath="{.items[$1].metadata.name}"; }
binding() { # NODE OF duo-1
  cat <<YAML
apiVersion: scheduling.muster.dev/v1alpha1
kind: GroupBinding
metadata: {name: duo}
spec:
  root: {kind: PodGroup, name: duo}
  pods:
  - {name: duo-0, uid: $(uid pod duo-0), nodeName: $(node 0)}
  - {name: duo-1, uid: $(uid pod duo-1), nodeName: $1}
  conditions:
  - kind: PodGroup
    name: duo
    condition: {type: PodGroupInitiallyScheduled, status: "True", reason: Scheduled}
YAML
}
binding nowhere >"$WORK/wrong.yaml"
binding "$(node 1)" >"$WORK/right.yaml"
bound() { "$KUBECTL" get pods -o jsonpath='{.items[*].spec.nodeName}' | wc -w; }

expect "a node that does not exist refuses it" 'node "nowhere" for pod duo-1 does not exist' k create -f "$WORK/wrong.yaml"
expect "nothing of it happened" "0" bound
expect "every field that is wrong is named" "spec.pods[0].uid: Required value" \
  bash -c "sed 's/uid: [^,]*,/uid: \"\",/' '$WORK/right.yaml' | $KUBECTL create --validate=false -f - 2>&1"
expect "a dry run binds nothing" "duo created" k create --dry-run=server -f "$WORK/right.yaml"
expect "still nothing" "0" bound
expect "it is taken as a whole" "groupbinding.scheduling.muster.dev/duo created" k create -f "$WORK/right.yaml"
expect "both pods have a node" "2" bound
eventually "and run" "2" bash -c "$KUBECTL get pods --no-headers | grep -cw Running"
expect "the group says so" "Scheduled" k get podgroup duo
expect "the same again is fine and says how many" "bound: 2" k create -o yaml -f "$WORK/right.yaml"
sed "s/nodeName: $(node 1)/nodeName: $(node 2)/" "$WORK/right.yaml" >"$WORK/other.yaml"
expect "another node is not" "pod duo-1 is already assigned to node" k create -f "$WORK/other.yaml"

# A missing parent is told on the group within seconds, and nothing else changes.
cat >"$WORK/orphan.yaml" <<'YAML'
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: orphan}
spec:
  parentCompositePodGroupName: nobody
  workloadRef: {workloadName: w, templateName: t}
  schedulingPolicy: {gang: {minCount: 1}}
---
apiVersion: v1
kind: Pod
metadata: {name: orphan-0}
spec:
  schedulingGroup: {podGroupName: orphan}
  containers: [{name: main, image: "app:1"}]
YAML
k create -f "$WORK/orphan.yaml" >/dev/null
eventually "the missing parent is told on the group" 'composite pod group "nobody" does not exist' \
  k describe podgroup orphan
expect_not "the pod is not called unschedulable" "Unschedulable" k get pod orphan-0 -o yaml
