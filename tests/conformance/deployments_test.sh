#!/usr/bin/env bash
# Deployments by kubectl: rolled out, scaled, paused, undone, stuck, recreated, deleted.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 2 --nodes-per-rack 4 --node-resources cpu=8,memory=32Gi
eventually "all nodes are Ready" "8" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

cat >"$WORK/web.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {kubernetes.io/change-cause: first}}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "web:1", resources: {requests: {cpu: "1"}}}]}
YAML
expect_not "a Deployment is acted on" "nothing in this control plane acts on it" k apply -f "$WORK/web.yaml"
expect "kubectl follows its rollout" "successfully rolled out" k rollout status deployment/web --timeout=50s
expect "all are ready" "4/4     4            4" k get deployment web
expect "its set has them all" "4         4         4" k get replicasets -l app=web
expect "pods are named after the set" "4" bash -c "$KUBECTL get pods --no-headers -l app=web | grep -cE '^web-[a-z0-9]+-[a-z0-9]{5} '"
expect "the hash is a label" "pod-template-hash" k get pods -l app=web --show-labels
expect "conditions say so" "NewReplicaSetAvailable" k get deployment web -o 'jsonpath={.status.conditions}'
expect "events say so" "Scaled up replica set web-" k describe deployment web
expect "its set says so too" "SuccessfulCreate" k get events --field-selector involvedObject.kind=ReplicaSet

expect "a new image" "image updated" k set image deployment/web main=web:2
k annotate deployment web kubernetes.io/change-cause=second --overwrite >/dev/null
expect "rolls out" "successfully rolled out" k rollout status deployment/web --timeout=50s
expect "all pods have it" "web:2 web:2 web:2 web:2" k get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}'
expect "history shows both" "second" k rollout history deployment/web
expect "with the older" "first" k rollout history deployment/web
expect "a revision in detail" "web:1" k rollout history deployment/web --revision=1
expect "undo" "rolled back" k rollout undo deployment/web
expect "rolls back" "successfully rolled out" k rollout status deployment/web --timeout=50s
expect "all pods have the old image" "web:1 web:1 web:1 web:1" k get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}'
expect "as a new revision" "3" k get deployment web -o 'jsonpath={.metadata.annotations.deployment\.kubernetes\.io/revision}'
expect "the set remembers the old one" "1" k get replicasets -l app=web -o 'jsonpath={.items[*].metadata.annotations.deployment\.kubernetes\.io/revision-history}'

expect "restart" "restarted" k rollout restart deployment/web
expect "is a rollout" "successfully rolled out" k rollout status deployment/web --timeout=50s
eventually "three sets are remembered" "3" bash -c "$KUBECTL get replicasets -l app=web --no-headers | wc -l"

expect "scale" "scaled" k scale deployment web --replicas=7
eventually "seven run" "7/7" k get deployment web
expect "and down" "scaled" k scale deployment web --replicas=2
eventually "two run" "2/2     2            2" k get deployment web
eventually "no other pod is left" "2" bash -c "$KUBECTL get pods -l app=web --no-headers | wc -l"

expect "pause" "paused" k rollout pause deployment/web
k set image deployment/web main=web:3 >/dev/null
eventually "a paused one says so" "DeploymentPaused" k get deployment web -o 'jsonpath={.status.conditions}'
expect "and does not roll out" "web:1 web:1" k get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}'
expect "resume" "resumed" k rollout resume deployment/web
expect "goes on" "successfully rolled out" k rollout status deployment/web --timeout=50s
expect "to the new image" "web:3 web:3" k get pods -l app=web -o 'jsonpath={.items[*].spec.containers[0].image}'

# A rollout that cannot go on says why, and old pods stay.
expect "a deadline" "patched" k patch deployment web --type=merge -p '{"spec":{"progressDeadlineSeconds":3,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}}}'
expect "pods that fit nowhere" "resource requirements updated" k set resources deployment web --requests=cpu=100
expect "kubectl gives up" "exceeded its progress deadline" k rollout status deployment/web --timeout=50s
expect "the old ones still run" "2/2" k get deployment web
expect "undo heals it" "rolled back" k rollout undo deployment/web
expect "at once" "successfully rolled out" k rollout status deployment/web --timeout=50s

# Recreate: never two versions at once.
cat >"$WORK/once.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: once}
spec:
  replicas: 2
  strategy: {type: Recreate}
  revisionHistoryLimit: 1
  selector: {matchLabels: {app: once}}
  template:
    metadata: {labels: {app: once}}
    spec: {containers: [{name: main, image: "once:1"}]}
YAML
k apply -f "$WORK/once.yaml" >/dev/null
expect "one that is recreated" "successfully rolled out" k rollout status deployment/once --timeout=50s
for version in 2 3 4; do
  k set image deployment/once "main=once:$version" >/dev/null
  expect "version $version" "successfully rolled out" k rollout status deployment/once --timeout=50s
done
eventually "one old set is kept" "2" bash -c "$KUBECTL get replicasets -l app=once --no-headers | wc -l"

# ReplicaSets on their own: adoption, release, the order of deletion.
cat >"$WORK/set.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: stray, labels: {app: set}}
spec: {containers: [{name: main, image: "set:1"}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: set}
spec:
  replicas: 3
  selector: {matchLabels: {app: set}}
  template:
    metadata: {labels: {app: set}}
    spec: {containers: [{name: main, image: "set:1"}]}
YAML
k apply -f "$WORK/set.yaml" >/dev/null
eventually "three with the one it adopted" "3         3         3" k get replicaset set
expect "the stray one has an owner" "ReplicaSet/set" k get pod stray -o 'jsonpath={.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}'
k annotate pod stray controller.kubernetes.io/pod-deletion-cost=-100 >/dev/null
expect "scale it down" "scaled" k scale replicaset set --replicas=2
eventually "the cheapest goes" "not found" k get pod stray
victim=$(k get pods -l app=set -o 'jsonpath={.items[0].metadata.name}')
expect "a pod that is relabeled" "labeled" k label pod "$victim" app=other --overwrite
eventually "is let go" "[]" k get pod "$victim" -o 'jsonpath=[{.metadata.ownerReferences}]'
eventually "and replaced" "2         2         2" k get replicaset set

expect "deleting a Deployment" "deleted" k delete deployment web once
eventually "takes its sets along" "0" bash -c "$KUBECTL get replicasets -l 'app in (web,once)' --no-headers 2>/dev/null | wc -l"
eventually "and its pods" "0" bash -c "$KUBECTL get pods -l 'app in (web,once)' --no-headers 2>/dev/null | wc -l"
