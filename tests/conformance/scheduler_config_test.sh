#!/usr/bin/env bash
# `muster up --scheduler-config` and `--pack`: what is wrong is said, what is right decides.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../../docs/examples/scheduler" && pwd)
refused() { timeout 60 "$MUSTER" up --in-memory --listen 127.0.0.1:0 "$@" 2>&1; }
node_of() { k get pod "$1" -o jsonpath='{.spec.nodeName}'; }

cat >"$WORK/bad.yaml" <<'YAML'
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 0
profiles:
- schedulerName: a
  plugin: {}
YAML
expect "an unknown field is refused with its line" \
  'bad.yaml: line 6: strict decoding error: unknown field "profiles[0].plugin"' refused --scheduler-config "$WORK/bad.yaml"
expect "and so is a bad value" "line 3: parallelism: Invalid value: 0" refused --scheduler-config "$WORK/bad.yaml"
: >"$WORK/empty.yaml"
expect "an empty file" "empty.yaml: Object 'Kind' is missing" refused --scheduler-config "$WORK/empty.yaml"
expect "a missing file" "cannot read the scheduler configuration" refused --scheduler-config "$WORK/nothing.yaml"
expect "two ways to say it" "cannot be used together with --scheduler-config" \
  refused --pack nvidia.com/gpu --scheduler-config "$examples/packing.yaml"
expect "no resource" "--pack: \"a b\" is no name of a resource" refused --pack "a b"
expect "a flag that was meant otherwise" "did you mean --scheduler-config?" refused --scheduler-confg x

# Two profiles: pods go where the profile they ask for sends them.
start_muster --in-memory --nodes-per-rack 3 --node-resources cpu=8,memory=32Gi \
  --scheduler-config "$examples/two-profiles.yaml"
eventually "all nodes are Ready" "3" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
make_pod() { # name scheduler
  k apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  schedulerName: $2
  containers: [{name: c, image: i, resources: {requests: {cpu: "1", memory: 1Gi}}}]
YAML
}
make_pod first default-scheduler
eventually "the first pod runs" "Running" k get pod first
make_pod packed packer
eventually "a pod of the packer runs" "Running" k get pod packed
expect "beside the first" "$(node_of first)" node_of packed
make_pod spread default-scheduler
eventually "a usual pod runs" "Running" k get pod spread
checks=$((checks + 1))
[ "$(node_of spread)" != "$(node_of first)" ] || { failures=$((failures + 1)); echo "FAILED: spread is beside first"; }
expect "the event names the profile" "packer" \
  k get events --field-selector involvedObject.name=packed,reason=Scheduled -o jsonpath='{.items[*].reportingComponent}'
make_pod stranger somebody-else
expect "whom nobody serves waits" "Pending" k get pod stranger

# What it was given is published, and explanations use it.
expect "the configuration can be read" "schedulerName: packer" k get configmap -n kube-public muster-scheduler -o yaml
expect "short names" "cpg" k api-resources --api-group=scheduling.k8s.io
k apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: large}
spec:
  schedulerName: packer
  containers: [{name: c, image: i, resources: {requests: {cpu: "100"}}}]
YAML
eventually "it is explained" "Pod default/large is unschedulable" timeout 60 "$MUSTER" explain pod large
