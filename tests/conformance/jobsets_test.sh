#!/usr/bin/env bash
# JobSets by kubectl: made, waited for, placed whole, explained, suspended, restarted, deleted.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 3 --nodes-per-rack 2 --node-resources cpu=8,memory=32Gi
eventually "all nodes are Ready" "6" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

cat >"$WORK/plain.yaml" <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: plain}
spec:
  replicatedJobs:
  - name: work
    replicas: 2
    template:
      spec:
        parallelism: 2
        completions: 2
        template:
          metadata: {annotations: {muster.dev/run-time: 2s}}
          spec: {containers: [{name: c, image: i}]}
YAML
expect_not "a JobSet is acted on" "nothing in this control plane acts on it" k apply -f "$WORK/plain.yaml"
expect "kubectl waits for its end" "condition met" k wait --for=condition=completed jobset/plain --timeout=50s
expect "its column says so" "Completed" k get jobset plain
expect "its Jobs have upstream's names" "plain-work-1" k get jobs
expect "and labels" "plain-work-0" k get jobs -l jobset.sigs.k8s.io/jobset-name=plain,jobset.sigs.k8s.io/job-index=0
expect "a headless Service" "None" k get service plain
expect "no groups were asked for" "No resources" k get podgroups

cat >"$WORK/train.yaml" <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  failurePolicy: {maxRestarts: 2}
  scheduling:
    schedulingPolicy: {gang: {}}
    replicatedJobs:
    - targetReplicatedJobs: [driver]
    - targetReplicatedJobs: [slices]
      job: {schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}}
  replicatedJobs:
  - name: driver
    template:
      spec:
        template:
          metadata: {annotations: {muster.dev/run-time: forever}}
          spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
  - name: slices
    replicas: 3
    template:
      spec:
        parallelism: 4
        completions: 4
        backoffLimit: 0
        template:
          metadata: {annotations: {muster.dev/run-time: forever}}
          spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]}
YAML
expect "a tree applies" "created" k apply -f "$WORK/train.yaml"
eventually "all its pods run" "13" bash -c "$KUBECTL get pods -l jobset.sigs.k8s.io/jobset-name=train --no-headers | grep -c Running"
expect "each Job is a group" "-slices-2" k get podgroups
expect "below a composite" "-root" k get compositepodgroups
expect "of one Workload" "train-" k get workloads
expect "ready and wanted are shown" "slices" k get jobset train -o 'jsonpath={.status.replicatedJobsStatus}'
expect "explain finds its tree" "-slices-1" "$MUSTER" explain jobset train
expect "explain says what is missing" "has no Workload" "$MUSTER" explain jobset plain
expect "build draws the same tree" "gang of 3 groups" "$MUSTER" build -f "$WORK/train.yaml" -o tree

expect "two places are refused" "already says how this replicatedJob is scheduled" k apply --dry-run=server -f - <<YAML
$(sed 's/name: train/name: twice/; s/backoffLimit: 0/scheduling: {schedulingPolicy: {gang: {}}}/' "$WORK/train.yaml")
YAML
expect "what runs keeps its shape" "may only change while the JobSet is suspended" \
  k patch jobset train --type=merge -p '{"spec":{"scheduling":null}}'

expect "suspend" "patched" k patch jobset train --type=merge -p '{"spec":{"suspend":true}}'
eventually "its pods go" "No resources" k get pods -l jobset.sigs.k8s.io/jobset-name=train
eventually "its groups go" "No resources" k get compositepodgroups,podgroups,workloads
expect "resume" "patched" k patch jobset train --type=merge -p '{"spec":{"suspend":false}}'
eventually "all its pods run again" "13" bash -c "$KUBECTL get pods -l jobset.sigs.k8s.io/jobset-name=train --no-headers | grep -c Running"

node=$(k get pods -l jobset.sigs.k8s.io/jobset-name=train,jobset.sigs.k8s.io/replicatedjob-name=slices -o 'jsonpath={.items[0].metadata.name}')
expect "a pod that fails" "deleted" k delete pod "$node" --grace-period=0
eventually "starts the set again" "1" k get jobset train -o 'jsonpath={.status.restarts}'
eventually "in groups of their own" ".1-slices-0" k get podgroups
eventually "all its pods run once more" "13" bash -c "$KUBECTL get pods -l jobset.sigs.k8s.io/restart-attempt=1 --no-headers | grep -c Running"

expect "delete" "deleted" k delete jobset train --timeout=50s
eventually "nothing is left of it" "No resources" k get compositepodgroups,podgroups,workloads
eventually "nor of its Jobs" "0" bash -c "$KUBECTL get jobs --no-headers | grep -c train"
