#!/usr/bin/env bash
# StatefulSets by kubectl: names, order, scale, partitions, history, claims.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 2 --nodes-per-rack 4 --node-resources cpu=8,memory=32Gi
eventually "all nodes are Ready" "8" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

cat >"$WORK/db.yaml" <<'YAML'
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: "db:1"}]}
YAML
expect_not "a StatefulSet is acted on" "nothing in this control plane acts on it" k apply -f "$WORK/db.yaml"
expect "kubectl follows its rollout" "roll out complete" k rollout status statefulset/db --timeout=50s
expect "all are ready" "3/3" k get statefulset db
expect "pods have stable names" "db-0 db-1 db-2" k get pods -l app=db -o 'jsonpath={.items[*].metadata.name}'
expect "and hosts" "db-2.db" k get pod db-2 -o 'jsonpath={.spec.hostname}.{.spec.subdomain}'
expect "labels say who they are" "db-1/1" k get pod db-1 -o 'jsonpath={.metadata.labels.statefulset\.kubernetes\.io/pod-name}/{.metadata.labels.apps\.kubernetes\.io/pod-index}'
first=$(k get statefulset db -o 'jsonpath={.status.currentRevision}')
expect "and of which revision" "$first" k get pod db-0 -o 'jsonpath={.metadata.labels.controller-revision-hash}'
expect "events say so" "create Pod db-0 in StatefulSet db successful" k describe statefulset db

expect "scale" "scaled" k scale statefulset db --replicas=5
eventually "five run" "5/5" k get statefulset db
expect "and down" "scaled" k scale statefulset db --replicas=3
eventually "the highest are gone" "db-0 db-1 db-2" k get pods -l app=db -o 'jsonpath={.items[*].metadata.name}'

expect "a partition" "patched" k patch statefulset db --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}}}}'
expect "a new image" "image updated" k set image statefulset/db main=db:2
expect "rolls out down to it" "partitioned roll out complete" k rollout status statefulset/db --timeout=50s
expect "only there" "db:1 db:1 db:2" k get pods -l app=db -o 'jsonpath={.items[*].spec.containers[0].image}'
k delete pod db-0 --wait=false >/dev/null
eventually "a pod below it comes back as it was" "db:1 db:1 db:2" k get pods -l app=db -o 'jsonpath={.items[*].spec.containers[0].image}'
eventually "all are ready again" "3/3" k get statefulset db
expect "without it" "patched" k patch statefulset db --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}'
expect "all roll over" "roll out complete" k rollout status statefulset/db --timeout=50s
expect "to the new image" "db:2 db:2 db:2" k get pods -l app=db -o 'jsonpath={.items[*].spec.containers[0].image}'
expect "history has both" "2" k rollout history statefulset/db
expect "undo" "rolled back" k rollout undo statefulset/db
expect "rolls back" "roll out complete" k rollout status statefulset/db --timeout=50s
expect "to the old image" "db:1 db:1 db:1" k get pods -l app=db -o 'jsonpath={.items[*].spec.containers[0].image}'
expect "by the old revision" "$first" k get statefulset db -o 'jsonpath={.status.currentRevision}'
expect "restart" "restarted" k rollout restart statefulset/db
expect "is a rollout" "roll out complete" k rollout status statefulset/db --timeout=50s

cat >"$WORK/kept.yaml" <<'YAML'
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kept}
spec:
  replicas: 2
  podManagementPolicy: Parallel
  ordinals: {start: 5}
  selector: {matchLabels: {app: kept}}
  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete, whenDeleted: Retain}
  template:
    metadata: {labels: {app: kept}}
    spec: {containers: [{name: main, image: "kept:1"}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
YAML
k apply -f "$WORK/kept.yaml" >/dev/null
eventually "each pod gets its claim" "data-kept-5 data-kept-6" k get pvc -o 'jsonpath={.items[*].metadata.name}'
eventually "ordinals start where asked" "kept-5 kept-6" k get pods -l app=kept -o 'jsonpath={.items[*].metadata.name}'
expect "the pod mounts it" "data-kept-5" k get pod kept-5 -o 'jsonpath={.spec.volumes[0].persistentVolumeClaim.claimName}'
expect "scale it down" "scaled" k scale statefulset kept --replicas=1
eventually "the claim goes with its pod" "not found" k get pvc data-kept-6
expect "delete both sets" "deleted" k delete statefulset db kept
eventually "their pods go" "0" bash -c "$KUBECTL get pods --no-headers 2>/dev/null | wc -l"
expect "a claim that is retained stays" "data-kept-5" k get pvc data-kept-5
