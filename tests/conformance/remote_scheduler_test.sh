#!/usr/bin/env bash
# `muster scheduler` beside a server, over HTTPS: it schedules what names it, leads by a Lease, hands over on SIGTERM,
# and the next one goes on. tests/kubernetes does the same on a real kube-apiserver.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --racks-per-block 2 --nodes-per-rack 4 --node-resources cpu=8,memory=32Gi
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: beside}]
END
run_scheduler() { # NAME
  "$MUSTER" scheduler --kubeconfig "$KUBECONFIG" --config "$WORK/config.yaml" --secure-port 0 >"$WORK/$1.log" 2>&1 &
  SCHEDULER_PID=$!
}
pod() { # NAME [GROUP]
  cat <<END
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  schedulerName: beside
  containers: [{name: main, image: app, resources: {requests: {cpu: "1"}}}]
  ${2:+schedulingGroup: {podGroupName: $2\}}
---
END
}

run_scheduler first
first=$SCHEDULER_PID
for i in 1 2 3; do pod "lone-$i"; done | k create -f - >/dev/null
expect "lone pods run" "condition met" k wait --for=condition=Ready pod/lone-1 pod/lone-2 pod/lone-3 --timeout=60s
expect "bound by it" "beside" k get events --field-selector involvedObject.name=lone-1,reason=Scheduled \
  -o 'jsonpath={.items[0].reportingComponent}'
k create -f - >/dev/null <<END
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: gang}
spec:
  schedulingPolicy: {gang: {minCount: 4}}
  schedulingConstraints: {topology: [{key: topology.kubernetes.io/rack}]}
END
for i in 1 2 3 4; do pod "gang-$i" gang; done | k create -f - >/dev/null
expect "a gang runs" "condition met" k wait --for=condition=Ready pod/gang-1 pod/gang-2 pod/gang-3 pod/gang-4 --timeout=60s
expect "its lease is held" "_" k -n kube-system get lease muster-scheduler -o 'jsonpath={.spec.holderIdentity}'

run_scheduler second
second=$SCHEDULER_PID
kill -TERM "$first"
wait "$first"
pass_or_fail $? "SIGTERM is an orderly end" "$(tail -n 5 "$WORK/first.log")"
pod later | k create -f - >/dev/null
expect "the second goes on" "condition met" k wait --for=condition=Ready pod/later --timeout=60s
kill -KILL "$second"
wait "$second" 2>/dev/null

# With the rights that every Kubernetes cluster gives to system:kube-scheduler, and no others.
k create serviceaccount planner -n kube-system >/dev/null
k create clusterrolebinding planner --clusterrole=system:kube-scheduler --serviceaccount=kube-system:planner >/dev/null
sed '/client-\(certificate\|key\)-data/d' "$KUBECONFIG" >"$WORK/planner"
k config set-credentials --kubeconfig "$WORK/planner" "$(k config view -o 'jsonpath={.users[0].name}')" \
  --token "$(k create token planner -n kube-system)" >/dev/null
k delete lease muster-scheduler -n kube-system >/dev/null
"$MUSTER" scheduler --kubeconfig "$WORK/planner" --config "$WORK/config.yaml" --secure-port 0 >"$WORK/third.log" 2>&1 &
third=$!
pod modest | k create -f - >/dev/null
expect "the rights of system:kube-scheduler will do" "condition met" k wait --for=condition=Ready pod/modest --timeout=60s
renewed() { k get lease muster-scheduler -n kube-system -o 'jsonpath={.spec.renewTime}'; }
before=$(renewed)
sleep 5
expect_not "also to renew the lease" "$before" renewed
expect_not "nothing was refused" "cannot" cat "$WORK/third.log"
kill -TERM "$third"
wait "$third"

expect "a bad configuration names the field" "leaderElection.retryPeriod" bash -c "
  printf 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {retryPeriod: soon}\n' >'$WORK/bad.yaml'
  '$MUSTER' scheduler --kubeconfig '$KUBECONFIG' --config '$WORK/bad.yaml'"
expect "controllers run only if named" "nothing runs unless it is named" "$MUSTER" controllers --kubeconfig "$KUBECONFIG"
expect "and must exist" "there is no jobb" "$MUSTER" controllers --kubeconfig "$KUBECONFIG" --controllers jobb
expect "in-cluster is only for pods" "this is no pod of a cluster" "$MUSTER" scheduler --kubeconfig in-cluster
