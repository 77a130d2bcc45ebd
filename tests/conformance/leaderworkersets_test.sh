#!/usr/bin/env bash
# LeaderWorkerSets by kubectl: groups before pods, restarts, scale, a rolling update, deletion.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 2 --nodes-per-rack 4 --node-resources cpu=8,memory=32Gi
eventually "all nodes are Ready" "8" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

cat >"$WORK/llm.yaml" <<'YAML'
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: llm}
spec:
  replicas: 2
  scheduling: {}
  leaderWorkerTemplate:
    size: 3
    workerTemplate: {spec: {containers: [{name: main, image: "llm:1", resources: {requests: {cpu: "1"}}}]}}
YAML
expect_not "a LeaderWorkerSet is acted on" "nothing in this control plane acts on it" k apply -f "$WORK/llm.yaml"
expect "it becomes available" "condition met" k wait lws/llm --for=condition=Available --timeout=50s
expect "pods have upstream's names" "llm-0 llm-0-1 llm-0-2 llm-1 llm-1-1 llm-1-2" k get pods -o 'jsonpath={.items[*].metadata.name}'
expect "in StatefulSets" "llm llm-0 llm-1" k get statefulsets -o 'jsonpath={.items[*].metadata.name}'
expect "they know their leader" "llm-1.llm.default" k get pod llm-1-2 -o 'jsonpath={.spec.containers[0].env[0].value}'
expect "each replica is a gang" "3 3" k get podgroups -o 'jsonpath={.items[*].spec.schedulingPolicy.gang.minCount}'
expect "pods are in them" "$(k get pod llm-1 -o 'jsonpath={.spec.schedulingGroup.podGroupName}')" k get pod llm-1-2 -o 'jsonpath={.spec.schedulingGroup.podGroupName}'
expect "groups were made first" "True" k get lws llm -o 'jsonpath={.status.conditions[?(@.type=="WorkloadSchedulingCreated")].status}'
expect "explained as one" "LeaderWorkerSet default/llm is scheduled: all of its 2 groups are." "$MUSTER" explain lws llm
expect "in one picture" "leaderworkerset/llm scheduled 2 of 2 groups" bash -c "$MUSTER explain lws llm | tr -s ' '"

first=$(k get pod llm-0 -o 'jsonpath={.metadata.uid}')
k delete pod llm-0-1 --wait=false >/dev/null
eventually "a lost worker takes its leader along" "yes" bash -c "uid=\$($KUBECTL get pod llm-0 -o 'jsonpath={.metadata.uid}' 2>/dev/null); [ -n \"\$uid\" ] && [ \"\$uid\" != $first ] && echo yes"
eventually "all run again" "2" k get lws llm -o 'jsonpath={.status.readyReplicas}'

expect "scale" "scaled" k scale lws llm --replicas=3
eventually "three are ready" "3" k get lws llm -o 'jsonpath={.status.readyReplicas}'
expect "a new image" "patched" k patch lws llm --type=merge -p '{"spec":{"leaderWorkerTemplate":{"workerTemplate":{"spec":{"containers":[{"name":"main","image":"llm:2"}]}}}}}'
eventually "all pods have it" "9" bash -c "$KUBECTL get pods -o 'jsonpath={.items[*].spec.containers[0].image}' | tr ' ' '\n' | grep -c llm:2"
eventually "and are ready" "3" k get lws llm -o 'jsonpath={.status.readyReplicas}'
expect "scale to nothing" "scaled" k scale lws llm --replicas=0
eventually "no pod is left" "0" bash -c "$KUBECTL get pods --no-headers 2>/dev/null | wc -l"
eventually "and no group" "0" bash -c "$KUBECTL get podgroups --no-headers 2>/dev/null | wc -l"
expect "the Workload stays" "llm" k get workloads
expect "delete it" "deleted" k delete lws llm
eventually "nothing is left" "0" bash -c "$KUBECTL get statefulsets,workloads,podgroups,controllerrevisions --no-headers 2>/dev/null | wc -l"
