#!/usr/bin/env bash
# The real kube-controller-manager on Muster's own server: its Job controller drives our Jobs while ours is off, its garbage
# collector deletes what has lost its owner, and neither finds anything to complain about.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --racks-per-block 2 --nodes-per-rack 2 --node-resources cpu=8,memory=32Gi \
  --controllers '*,-job,-garbage-collector,-replicaset' --feature-gates WorkloadWithJob=false
run_in_background kube-controller-manager "$KUBERNETES" kube-controller-manager --kubeconfig "$KUBECONFIG" \
  --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG" --secure-port 0 \
  --controllers job-controller,garbage-collector-controller,replicaset-controller

job() { # NAME COMPLETIONS PARALLELISM [ANNOTATION]
  cat <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  completions: $2
  parallelism: $3
  completionMode: Indexed
  backoffLimit: 2
  template:
    metadata: {annotations: {${4:-muster.dev/run-time: 2s}}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: app, resources: {requests: {cpu: "1"}}}]
---
END
}
job works 5 3 | k apply -f - >/dev/null
expect "a Job is completed by its Job controller" "condition met" k wait --for=condition=Complete job/works --timeout=120s
expect "all completions are counted" "0-4" k get job works -o 'jsonpath={.status.completedIndexes}'
eventually "the finalizers of its pods are gone" 30 "" \
  k get pods -l job-name=works -o 'jsonpath={.items[*].metadata.finalizers}'
expect "it leads by its Lease" "kube-controller-manager" k -n kube-system get leases
expect "its events are stored" "SuccessfulCreate" k get events --field-selector involvedObject.name=works

job fails 1 1 'muster.dev/run-time: 1s, muster.dev/exit-code: "1"' | k apply -f - >/dev/null
expect "a Job whose pods fail ends as failed" "condition met" k wait --for=condition=Failed job/fails --timeout=120s
expect "for its reason" "BackoffLimitExceeded" k get job fails -o 'jsonpath={.status.conditions[?(@.type=="Failed")].reason}'

job suspended 2 2 | sed 's/^spec:/spec:\n  suspend: true/' | k apply -f - >/dev/null
expect "a suspended Job says so" "condition met" k wait --for=condition=Suspended job/suspended --timeout=60s
k patch job suspended --type merge -p '{"spec": {"suspend": false}}' >/dev/null
expect "and works when it is resumed" "condition met" k wait --for=condition=Complete job/suspended --timeout=120s

k apply -f - >/dev/null <<END
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: app, resources: {requests: {cpu: 100m}}}]}
END
eventually "its ReplicaSet controller makes pods" 60 3 k get rs web -o 'jsonpath={.status.readyReplicas}'
k scale rs web --replicas 1 >/dev/null
eventually "and deletes them" 60 1 k get rs web -o 'jsonpath={.status.replicas}'

k delete job works --cascade=background >/dev/null
owned() { k get pods -l job-name=works -o name | grep -c .; }
eventually "its garbage collector deletes the pods of a deleted Job" 120 0 owned
k delete rs web --cascade=foreground --wait=false >/dev/null
gone() { k get rs web -o name 2>&1 | grep -o NotFound; }
eventually "also in the foreground" 120 NotFound gone

# What it logs about every ReplicaSet without a Deployment, when it waits for its own writes and about what has just
# been deleted is no complaint.
complaints=$(grep -E '^E[0-9]{4}' "$WORK/kube-controller-manager.log" |
  grep -vE 'manifest file is empty|is not as new as written version|\\" not found"|replica_set.go.*err=<$')
[ -z "$complaints" ]
pass_or_fail $? "it has nothing to complain about" "$(cut -c1-300 <<<"$complaints" | head -n 10)"
