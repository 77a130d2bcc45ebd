#!/usr/bin/env bash
# A lone pod from kubectl to Running, and what users do with it.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 2 --racks-per-block 2 --nodes-per-rack 2 --node-resources cpu=8,memory=16Gi

cat >"$WORK/pod.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
spec:
  containers:
  - name: main
    image: nginx:1.27
    resources: {requests: {cpu: 500m, memory: 256Mi}}
    ports: [{containerPort: 80}]
YAML

eventually "all nodes are Ready" "8" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"
expect "nodes show their zone" "z2" k get nodes -L topology.kubernetes.io/zone
expect "apply creates" "pod/web created" k apply -f "$WORK/pod.yaml"
eventually "the pod runs" "Running" k get pod web
expect "apply again changes nothing" "pod/web unchanged" k apply -f "$WORK/pod.yaml"
sed -i 's/app: web/app: site/' "$WORK/pod.yaml"
expect "apply with a new label patches" "pod/web configured" k apply -f "$WORK/pod.yaml"
expect "the label is there" "site" k get pod web --show-labels
expect "wide output names the node" "z1-b1-r1" k get pod web -o wide
expect "describe shows the node" "Node:" k describe pod web
expect "describe shows the scheduler's event" "Successfully assigned default/web to" k describe pod web
expect "describe node lists the pod" "web" bash -c "$KUBECTL describe node \$($KUBECTL get pod web -o jsonpath={.spec.nodeName})"
expect "label" "labeled" k label pod web tier=front
expect "label selectors select" "web" k get pods -l tier=front
expect "and leave out" "No resources found" k get pods -l tier=back
expect "annotate" "annotated" k annotate pod web note=hello
expect "yaml keeps what was written" "image: nginx:1.27" k get pod web -o yaml
expect "field selectors select" "web" k get pods --field-selector status.phase=Running
expect "all namespaces" "default" k get pods -A
expect "wait for a condition" "condition met" k wait --for=condition=Ready pod/web --timeout=20s
expect "events are listed" "Scheduled" k get events
expect "api-resources knows pods" "pods" k api-resources
expect "a taken name is refused" 'pods "web" already exists' k create -f "$WORK/pod.yaml"

# A watch sees the pod go.
timeout 20 "$KUBECTL" get pods -w >"$WORK/watch.out" 2>&1 &
watch=$!
sleep 2
expect "delete waits for the pod to be gone" 'pod "web" deleted' k delete pod web
eventually "the watch saw it terminating" "Terminating" cat "$WORK/watch.out"
kill $watch 2>/dev/null
expect "it is gone" "NotFound" k get pod web

# A pod that fits nowhere says why; room lets it in.
cat >"$WORK/big.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: big}
spec:
  nodeSelector: {disk: fast}
  containers: [{name: main, image: "app:1", resources: {requests: {cpu: "6"}}}]
YAML
expect "a pod nobody takes is created" "pod/big created" k apply -f "$WORK/big.yaml"
eventually "and told why it waits" "0/8 nodes are available: 8 node(s) didn't match Pod's node affinity/selector." k describe pod big
expect "a node gets the label" "labeled" k label node z2-b1-r1-n1 disk=fast
eventually "and the pod runs there" "z2-b1-r1-n1" k get pod big -o wide
expect "cordon" "cordoned" k cordon z1-b1-r1-n1
expect "a cordoned node says so" "Ready,SchedulingDisabled" k get node z1-b1-r1-n1
expect "uncordon" "uncordoned" k uncordon z1-b1-r1-n1

expect "namespaces can be made" "namespace/lab created" k create namespace lab
expect "pods live in them" "pod/web created" k apply -n lab -f "$WORK/pod.yaml"
eventually "and run" "Running" k get pods -n lab
expect "namespaces go with what is in them" 'namespace "lab" deleted' k delete namespace lab
expect "a missing namespace is said" 'namespaces "lab" not found' k apply -n lab -f "$WORK/pod.yaml"
expect "delete --all" 'deleted' k delete pods --all --wait=false
expect "priority classes stand from the start" "system-node-critical" k get priorityclasses
expect "the version answers" "Server Version" k version

stop_muster -INT
pass_or_fail $? "SIGINT stops it cleanly" "$(cat "$WORK/muster.err")"
