#!/usr/bin/env bash
# Jobs by kubectl: made, waited for, suspended, scaled, failed, deleted; grouped without being asked.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 2 --nodes-per-rack 4 --node-resources cpu=8,memory=32Gi
eventually "all nodes are Ready" "8" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

expect_not "a Job is acted on" "nothing in this control plane acts on it" k create job hello --image=hello
expect "kubectl waits for its end" "job.batch/hello condition met" k wait --for=condition=complete job/hello --timeout=50s
expect "it is complete" "Complete" k get jobs
expect "one of one" "1/1" k get job hello
expect "the pod is counted" "1" k get job hello -o 'jsonpath={.status.succeeded}'
expect "nothing is left to count" "{}" k get job hello -o 'jsonpath={.status.uncountedTerminatedPods}'
expect "its pod has ended" "Completed" k get pods -l job-name=hello
expect "its pod is free to go" "[]" k get pods -l job-name=hello -o 'jsonpath=[{.items[0].metadata.finalizers}]'
expect "events say what happened" "Job completed" k describe job hello
expect "a Workload was made" "hello-" k get workloads
expect "and a group" "hello-pgt-0" k get podgroups

cat >"$WORK/gang.yaml" <<'YAML'
apiVersion: batch/v1
kind: Job
metadata: {name: gang}
spec:
  parallelism: 9
  completions: 9
  completionMode: Indexed
  scheduling:
    schedulingPolicy: {gang: {}}
    schedulingConstraints: {topology: [{key: topology.kubernetes.io/zone}]}
    disruptionMode: {all: {}}
  template:
    metadata: {annotations: {muster.dev/run-time: forever}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "train:1", resources: {requests: {cpu: "8"}}}]
YAML
expect "a gang Job applies" "created" k apply -f "$WORK/gang.yaml"
eventually "nine pods are made" "9" bash -c "$KUBECTL get pods -l job-name=gang --no-headers | grep -c Pending"
eventually "none starts: there are eight nodes" "Unschedulable" k get podgroups
expect "smaller, it fits" "patched" k patch job gang --type=merge -p '{"spec":{"parallelism":8,"completions":8}}'
eventually "all eight run" "8" k get job gang -o 'jsonpath={.status.ready}'
expect "the group follows" "8" k get podgroups -o 'jsonpath={.items[*].spec.schedulingPolicy.gang.minCount}'
expect "host names carry the index" "gang-7" k get pods -l batch.kubernetes.io/job-completion-index=7 -o 'jsonpath={.items[0].spec.hostname}'

expect "suspend" "patched" k patch job gang --type=merge -p '{"spec":{"suspend":true}}'
eventually "its pods go" "No resources" k get pods -l job-name=gang
eventually "it says so" "Suspended" k get job gang
expect "resume" "patched" k patch job gang --type=merge -p '{"spec":{"suspend":false}}'
eventually "all eight run again" "8" k get job gang -o 'jsonpath={.status.ready}'
expect "no failure was counted" "[]" k get job gang -o 'jsonpath=[{.status.failed}]'

expect "delete" "deleted" k delete job gang --timeout=50s
eventually "nothing is left of it" "No resources" k get pods -l job-name=gang
eventually "its Workload and its group go too" "0" bash -c "$KUBECTL get workloads,podgroups --no-headers | grep -c gang"

cat >"$WORK/bad.yaml" <<'YAML'
apiVersion: batch/v1
kind: Job
metadata: {name: bad}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {muster.dev/run-time: 1s, muster.dev/exit-code: "3"}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "train:1"}]
YAML
expect "a Job that fails applies" "created" k apply -f "$WORK/bad.yaml"
expect "kubectl waits for its failure" "condition met" k wait --for=condition=failed job/bad --timeout=50s
expect "with upstream's reason" "BackoffLimitExceeded" k get job bad -o 'jsonpath={.status.conditions[?(@.type=="Failed")].reason}'
