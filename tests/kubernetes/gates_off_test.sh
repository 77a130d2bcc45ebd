#!/usr/bin/env bash
# A kube-apiserver as it comes, without group APIs: lone pods are scheduled, and nothing waits for what is not there. Then the
# APIs are switched on: the scheduler ends, and the next one has gangs.
. "$(dirname "$0")/lib.sh"

start_kubernetes
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false} # a server that starts again may be away for longer than a lease lasts
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
before=$(wc -l <"$WORK/audit.json")
run_in_background apiserver "${SERVER_COMMAND[@]}" "${GROUP_FLAGS[@]}"
eventually "the server is back" 120 ok k get --raw /readyz
ready=$(wc -l <"$WORK/audit.json")
runs() { kill -0 "$SCHEDULER_PID" 2>/dev/null && echo yes || echo no; }
eventually "the scheduler ends once groups are there to stay" 180 no runs
expect "and says why" "now, as it did not at the start; restart to use it" cat "$WORK/scheduler.log"
start_scheduler again --config "$WORK/config.yaml" --secure-port 0
gang train 3 | k create -f - >/dev/null
for i in 1 2; do pod "train-$i" 1 train; done | k create -f - >/dev/null
sleep 5
eventually "the next one waits for the whole gang" 1 0 bound train-
pod train-3 1 train | k create -f - >/dev/null
eventually "and binds it" 60 3 bound train-
# A server that has not read its roles yet refuses everything: what it said before it was ready does not count.
sed -i "$((before + 1)),${ready}d" "$WORK/audit.json"
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
