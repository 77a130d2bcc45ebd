#!/usr/bin/env bash
# A kube-apiserver as it comes, without group APIs: lone pods are scheduled, and nothing waits for what is not there. Then the
# APIs are switched on: the scheduler ends, and the next one has gangs.
. "$(dirname "$0")/lib.sh"

start_kubernetes
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: muster}]
END
make_node a-1 ra
start_scheduler scheduler --config "$WORK/config.yaml" --secure-port 0
for i in 1 2 3; do pod "lone-$i"; done | k create -f - >/dev/null
eventually "lone pods are bound" 60 3 bound lone-
expect "that there are no groups is said" "podgroups                    not served: no gangs" cat "$WORK/scheduler.log"

# --- the same server with groups
server=${started[1]}
kill "$server"
wait "$server" 2>/dev/null
run_in_background apiserver "${SERVER_COMMAND[@]}" "${GROUP_FLAGS[@]}"
runs() { kill -0 "$SCHEDULER_PID" 2>/dev/null && echo yes || echo no; }
eventually "the scheduler ends once groups are there to stay" 180 no runs
expect "and says why" "now, which it did not; start again to use it" cat "$WORK/scheduler.log"
start_scheduler again --config "$WORK/config.yaml" --secure-port 0
gang train 3 | k create -f - >/dev/null
for i in 1 2; do pod "train-$i" 1 train; done | k create -f - >/dev/null
sleep 5
eventually "the next one waits for the whole gang" 1 0 bound train-
pod train-3 1 train | k create -f - >/dev/null
eventually "and binds it" 60 3 bound train-
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
