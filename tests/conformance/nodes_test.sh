#!/usr/bin/env bash
# Nodes by kubectl: created, tainted, made to fail, back again; what a pretend node cannot do.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 2 --nodes-per-rack 2 --node-resources cpu=8,memory=32Gi
eventually "all nodes are Ready" "4" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
expect "nodes have os and architecture" "4" bash -c "$KUBECTL get nodes -l kubernetes.io/os=linux,kubernetes.io/arch=amd64 --no-headers | wc -l"
expect "and ephemeral storage" "100Gi" k get node z1-b1-r1-n1 -o 'jsonpath={.status.allocatable.ephemeral-storage}'

revision() { k get --raw '/api/v1/nodes?limit=1' | grep -o '"resourceVersion":"[0-9]*"' | head -n 1; }
twelve_idle_seconds() {
  local before
  before=$(revision)
  sleep 12
  [ "$before" = "$(revision)" ] && echo idle
}
for _ in 1 2 3 4 5; do # what a fresh server makes for itself may take a while
  idle=$(twelve_idle_seconds)
  [ -n "$idle" ] && break
done
expect "idle nodes write nothing" "idle" echo "$idle"

k create -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: extra, annotations: {muster.dev/node: pretend}, labels: {pool: extra}}
status: {capacity: {cpu: 2, memory: 4Gi}}
YAML
expect "a pretend node made by hand becomes Ready" "condition met" k wait --for=condition=Ready node/extra --timeout=20s
eventually "it has no taints" "[]" k get node extra -o 'jsonpath=[{.spec.taints}]'
k create -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Node
metadata: {name: bare}
YAML
expect "a node without a kubelet takes no pods" "node.kubernetes.io/not-ready:NoSchedule" k describe node bare

k run web --image=web --overrides='{"spec":{"nodeName":"z1-b1-r1-n1"}}' >/dev/null
k run stays --image=web --overrides='{"spec":{"nodeName":"z1-b1-r1-n1","tolerations":[{"operator":"Exists"}]}}' >/dev/null
expect "a pod runs" "condition met" k wait --for=condition=Ready pod/web pod/stays --timeout=20s
refuses() { # what, kubectl arguments…
  local what=$1
  shift
  expect "$what says why not" "pretend node z1-b1-r1-n1: no containers to attach to" k "$@"
}
refuses logs logs web
refuses exec exec web -- ls
refuses attach attach web
refuses port-forward port-forward pod/web 18080:80
echo hello >"$WORK/hello"
refuses cp cp "$WORK/hello" web:/tmp/hello
expect "a pod on no node says so" "does not have a host assigned" bash -c "$KUBECTL run waits --image=x --overrides='{\"spec\":{\"nodeSelector\":{\"no\":\"where\"}}}' && $KUBECTL logs waits"
expect "a missing pod is missing" 'pods "nobody" not found' k logs nobody

k taint node z1-b1-r1-n1 maintenance=now:NoExecute >/dev/null
eventually "a NoExecute taint drives a pod away" "NotFound" k get pod web
eventually "with an event" "Marking for deletion Pod default/web" k get events
expect "a pod that tolerates it stays" "Running" k get pod stays
k taint node z1-b1-r1-n1 maintenance- >/dev/null

k annotate node z2-b1-r1-n1 muster.dev/fail=not-ready >/dev/null
eventually "a kubelet says that it is not ready" "NotReady" k get node z2-b1-r1-n1
eventually "its node is tainted" "node.kubernetes.io/not-ready:NoSchedule" k describe node z2-b1-r1-n1
k annotate node z2-b1-r1-n1 muster.dev/fail- >/dev/null
eventually "it is back" "True []" k get node z2-b1-r1-n1 -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status} [{.spec.taints}]'

k annotate node z1-b1-r1-n1 muster.dev/fail=true >/dev/null
expect "a silent node becomes Unknown" "condition met" k wait --for=condition=Ready=Unknown node/z1-b1-r1-n1 --timeout=90s
expect "it says why" "Kubelet stopped posting node status" k describe node z1-b1-r1-n1
eventually "it is unreachable" "node.kubernetes.io/unreachable:NoSchedule" k describe node z1-b1-r1-n1
eventually "its pod is not ready" "False" k get pod stays -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
eventually "an event says so" "status is now: NodeNotReady" k get events
k annotate node z1-b1-r1-n1 muster.dev/fail- >/dev/null
expect "it comes back" "condition met" k wait --for=condition=Ready node/z1-b1-r1-n1 --timeout=20s
eventually "its pod is ready again" "True" k get pod stays -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'

k apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: again, annotations: {muster.dev/run-time: 1s, muster.dev/exit-code: "1,0"}}
spec: {restartPolicy: OnFailure, containers: [{name: main, image: app}]}
YAML
eventually "a container that failed is started again" "Succeeded 1" k get pod again -o 'jsonpath={.status.phase} {.status.containerStatuses[0].restartCount}'
