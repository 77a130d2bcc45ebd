#!/usr/bin/env bash
# Instead of kube-scheduler: Muster serves default-scheduler under kube-scheduler's own lease, so that the two never decide
# at once, and each takes over from the other.
. "$(dirname "$0")/lib.sh"

start_kubernetes
cat >"$WORK/kube.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: $KUBECONFIG}
leaderElection: {leaderElect: true}
END
kube_scheduler() { # NAME
  run_in_background "$1" "$KUBERNETES" kube-scheduler --config "$WORK/kube.yaml" --secure-port 0 \
    --authentication-kubeconfig "$KUBECONFIG" --authorization-kubeconfig "$KUBECONFIG"
}
default_pod() { pod "$1" 0.1 | sed '/schedulerName/d' | k create -f - >/dev/null; } # NAME
expect_same() { # GOT WANT WHAT
  [ "$1" = "$2" ]
  pass_or_fail $? "$3" "$1, not $2"
}
holder() { k -n kube-system get lease kube-scheduler -o 'jsonpath={.spec.holderIdentity}'; }

make_node a ra
k apply -f "$ROOT/docs/deploy/replace.yaml" >/dev/null
configuration >"$WORK/config.yaml"
expect "doctor knows the lease" "may do all that a scheduler does" \
  "$MUSTER" doctor --kubeconfig "$SCHEDULER_KUBECONFIG" --lease kube-scheduler
start_scheduler first --config "$WORK/config.yaml" --secure-port 0
muster=$SCHEDULER_PID
default_pod muster-1
sed 's/{leaderElect: true}/{resourceName: muster-scheduler}/' "$WORK/config.yaml" >"$WORK/own-lease.yaml"
expect "a lease of its own is refused" "keeps no kube-scheduler from deciding about the same pods" \
  timeout 30 "$MUSTER" scheduler --kubeconfig "$SCHEDULER_KUBECONFIG" --config "$WORK/own-lease.yaml" --secure-port 0
eventually "Muster serves default-scheduler" 60 1 bound muster-
ours=$(holder)
[ -n "$ours" ]
pass_or_fail $? "and holds kube-scheduler's lease" "no holder"

kube_scheduler kube
kube=$LAST
for i in 2 3 4 5; do default_pod "muster-$i"; done
eventually "beside a kube-scheduler it goes on" 60 5 bound muster-
expect_same "$(holder)" "$ours" "and still holds the lease"
expect "which waits its turn" "Attempting to acquire leader lease" cat "$WORK/kube.log"

kill "$muster"
wait "$muster"
pass_or_fail $? "Muster ends well" "$(tail -n 3 "$WORK/first.log")"
default_pod kube-1
eventually "kube-scheduler takes over" 60 1 bound kube-
theirs=$(holder)
[ "$theirs" != "$ours" ] && [ -n "$theirs" ]
pass_or_fail $? "with the lease" "$theirs"

start_scheduler second --config "$WORK/config.yaml" --secure-port 0
default_pod kube-2
eventually "and keeps it" 60 2 bound kube-
expect_same "$(holder)" "$theirs" "while Muster waits"
kill "$kube"
wait "$kube"
default_pod muster-6
eventually "then Muster takes over again" 60 6 bound muster-
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
