#!/usr/bin/env bash
# Controllers of others for the same objects: ours stay off where another says that it is theirs.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --racks-per-block 2 --nodes-per-rack 4 --node-resources cpu=8,memory=32Gi \
  --controllers '*,-jobset,-leaderworkerset,-statefulset'
jobset() { # NAME [MANAGER]
  cat <<END
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: $1}
spec:
  ${2:+managedBy: $2}
  replicatedJobs:
  - name: w
    template: {spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: c, image: i}]}}}}
END
}
lease() { # NAMESPACE NAME HOLDER
  k apply -f - >/dev/null <<END
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: $2, namespace: $1}
spec: {holderIdentity: $3, leaseDurationSeconds: 15, renewTime: "$(date -u +%Y-%m-%dT%H:%M:%S.%6NZ)"}
END
}
renew() { # NAMESPACE NAME: until it is killed
  while sleep 1; do lease "$1" "$2" "them-$RANDOM"; done
}
run_controllers() { # LOG NAMES [FLAG...]
  "$MUSTER" controllers --kubeconfig "$KUBECONFIG" --controllers "$2" --secure-port 0 "${@:3}" >"$WORK/$1.log" 2>&1 &
  CONTROLLERS_PID=$!
}
refused() { # NAMES
  timeout 60 "$MUSTER" controllers --kubeconfig "$KUBECONFIG" --controllers "$1" --secure-port 0
}

# While the JobSet project's own controller holds its lease, ours says so and does nothing.
k create namespace jobset-system >/dev/null
k create namespace lws-system >/dev/null
lease jobset-system 6d4f6a47.jobset.x-k8s.io them
renew jobset-system 6d4f6a47.jobset.x-k8s.io &
theirs=$!
jobset ours | k create -f - >/dev/null
jobset theirs acme.io/jobsets | k create -f - >/dev/null
expect "refused while another is at work" \
  "a JobSet controller is at work (lease jobset-system/6d4f6a47.jobset.x-k8s.io) and has jobset as well" refused jobset
expect "refused without the controller it works with" "name statefulset as well" refused leaderworkerset
expect "also by its short name" "name statefulset as well" refused lws
expect "nothing was touched" "No resources found" k get jobs
kill "$theirs"
wait "$theirs" 2>/dev/null

# One that has left its lease behind is not at work. JobSets of others are theirs all the same.
run_controllers first jobset,lws,statefulset
first=$CONTROLLERS_PID
eventually "a short name stands for the whole one" "runs jobset, leaderworkerset, statefulset" cat "$WORK/first.log"
eventually "our own JobSet runs" "ours-w-0" k get jobs -o name
eventually "to its end" "Completed" k get jobset ours -o 'jsonpath={.status.terminalState}'
status() { echo "[$(k get jobset theirs -o 'jsonpath={.status}')]"; }
expect "nobody writes a status for one that names another manager" '[{"restarts":0}]' status
expect_not "no Job" "theirs" k get jobs -o name
expect_not "no Service" "theirs" k get services -o name

# Of two of ours one leads; the other stays off until it may.
expect "its lease is held" "_" k -n kube-system get lease muster-controllers -o 'jsonpath={.spec.holderIdentity}'
holder() { k -n kube-system get lease muster-controllers -o 'jsonpath={.spec.holderIdentity}'; }
leader=$(holder)
run_controllers second jobset --protect-composites
second=$CONTROLLERS_PID
sleep 4
eventually "composites are protected by a short name" "runs jobset, compositepodgroup-protection" cat "$WORK/second.log"
expect "the second waits" "$leader" holder
kill -TERM "$first"
wait "$first"
jobset later | k create -f - >/dev/null
eventually "and goes on when the first has ended" "later-w-0" k get jobs -o name

# Whoever waits looks again before it acts: meanwhile another may have been installed.
run_controllers third jobset
third=$CONTROLLERS_PID
eventually "a third waits" "runs jobset" cat "$WORK/third.log"
renew jobset-system 6d4f6a47.jobset.x-k8s.io &
theirs=$!
jobset last | k create -f - >/dev/null
eventually "the leader goes on" "last-w-0" k get jobs -o name
kill -TERM "$second"
wait "$second"
jobset never | k create -f - >/dev/null
wait "$third"
expect "the third ends when it is elected, and says why" "a JobSet controller is at work" cat "$WORK/third.log"
expect_not "without having done anything" "never-w-0" k get jobs -o name
expect "its lease is free" "[]" sh -c "echo [\$($KUBECTL -n kube-system get lease muster-controllers -o 'jsonpath={.spec.holderIdentity}')]"

# Leases of others are theirs, whatever they are called.
lease kube-system kube-scheduler them
uninstalled() { "$MUSTER" uninstall --kubeconfig "$KUBECONFIG" --lease muster-controllers --lease kube-scheduler; }
expect "uninstall leaves the lease of another alone" "lease kube-system/kube-scheduler: left alone: it is not Muster's" uninstalled
expect "which is still there" "kube-scheduler" k -n kube-system get leases -o name
expect_not "Muster's own is not" "muster-controllers" k -n kube-system get leases -o name
kill "$theirs"
wait "$theirs" 2>/dev/null || true
