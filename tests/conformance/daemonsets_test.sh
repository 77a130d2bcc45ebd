#!/usr/bin/env bash
# DaemonSets by kubectl: a pod per node, rolled out, undone, deleted.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 1 --nodes-per-rack 3 --node-resources cpu=8,memory=32Gi
eventually "all nodes are Ready" "3" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

cat >"$WORK/agent.yaml" <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: "agent:1"}]}
YAML
k cordon z1-b1-r1-n2 >/dev/null
expect_not "a DaemonSet is acted on" "nothing in this control plane acts on it" k apply -f "$WORK/agent.yaml"
expect "kubectl follows its rollout" "successfully rolled out" k rollout status daemonset/agent --timeout=50s
expect "one per node, cordoned ones too" "3         3         3       3            3" k get daemonset agent
expect "each on its own" "3" bash -c "$KUBECTL get pods -l app=agent -o 'jsonpath={range .items[*]}{.spec.nodeName}{\"\\n\"}{end}' | sort -u | grep -c ."
expect "a new image" "image updated" k set image daemonset/agent main=agent:2
expect "rolls out" "successfully rolled out" k rollout status daemonset/agent --timeout=50s
expect "to all" "agent:2 agent:2 agent:2" k get pods -l app=agent -o 'jsonpath={.items[*].spec.containers[0].image}'
expect "history has both" "2" k rollout history daemonset/agent
expect "undo" "rolled back" k rollout undo daemonset/agent
expect "rolls back" "successfully rolled out" k rollout status daemonset/agent --timeout=50s
eventually "to the old image" "agent:1 agent:1 agent:1" k get pods -l app=agent -o 'jsonpath={.items[*].spec.containers[0].image}'
expect "delete" "deleted" k delete daemonset agent
eventually "its pods go" "No resources" k get pods -l app=agent
