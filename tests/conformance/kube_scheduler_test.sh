#!/usr/bin/env bash
# The real kube-scheduler, unmodified, beside ours: it must find every collection it lists and watches, lead
# by a Lease, bind pods and say why it cannot. KUBERNETES names the binary of tests/kubernetes; without one it is built,
# which takes many minutes the first time.
. "$(dirname "$0")/lib.sh"

if [ -z "${KUBERNETES:-}" ]; then
  [ -n "${MUSTER_TEST_LONG:-}" ] || skip "compiling kube-scheduler takes many minutes; ./dev test --long does it"
  . "$(dirname "$0")/../kubernetes/build.sh"
  build_kubernetes
fi

start_muster --in-memory --racks-per-block 2 --nodes-per-rack 2 --node-resources cpu=8,memory=32Gi
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: $KUBECONFIG}
leaderElection: {leaderElect: true}
profiles: [{schedulerName: kube}]
END
"$KUBERNETES" kube-scheduler --config "$WORK/config.yaml" --authentication-kubeconfig "$KUBECONFIG" \
  --authorization-kubeconfig "$KUBECONFIG" --secure-port=0 >"$WORK/scheduler.log" 2>&1 &
its_pid=$!

pod() { # name cpu
  cat <<END
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec: {schedulerName: kube, containers: [{name: main, image: app, resources: {requests: {cpu: "$2"}}}]}
END
}
for i in 1 2 3; do pod "fits-$i" 3 | k apply -f - >/dev/null; done
pod huge 99 | k apply -f - >/dev/null

expect "its pods run" "condition met" k wait --for=condition=Ready pod/fits-1 pod/fits-2 pod/fits-3 --timeout=60s
expect "what cannot fit says so" "condition met" k wait --for=condition=PodScheduled=false pod/huge --timeout=60s
expect "in its own words" "4 Insufficient cpu" k get pod huge -o 'jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}'
expect "it bound them itself" "Successfully assigned default/fits-1 to" k get events
expect "and not ours" "kube" k get events --field-selector involvedObject.name=fits-1,reason=Scheduled \
  -o 'jsonpath={.items[0].reportingComponent}'
expect "it leads by a Lease" "kube-scheduler" k -n kube-system get leases
expect "a room that becomes free is used" "condition met" bash -c "
  '$KUBECTL' delete node --all --wait=false >/dev/null
  '$KUBECTL' create -f - >/dev/null <<END
apiVersion: v1
kind: Node
metadata: {name: giant}
status: {allocatable: {cpu: '128', memory: 64Gi, pods: '10'}, conditions: [{type: Ready, status: 'True'}]}
END
  '$KUBECTL' wait --for=condition=PodScheduled pod/huge --timeout=60s"
complaints=$(grep -E '^E' "$WORK/scheduler.log" | grep -v 'manifest file is empty')
[ -z "$complaints" ]
pass_or_fail $? "it has nothing to complain about" "$complaints"
kill "$its_pid"
wait "$its_pid"
true
