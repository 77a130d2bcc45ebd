#!/usr/bin/env bash
# A kube-apiserver that falls silent: for seconds, which changes nothing, and for longer than the lease allows.
. "$(dirname "$0")/lib.sh"

start_kubernetes
server=${started[1]}
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: muster}]
END
make_node a-1 ra
start_scheduler first --config "$WORK/config.yaml" --secure-port 0
first=$SCHEDULER_PID
pod lone-1 0.1 | k create -f - >/dev/null
eventually "a pod is bound" 60 1 bound lone-
for i in 2 3 4; do pod "lone-$i" 0.1; done | k create -f - >/dev/null &
creating=$!
kill -STOP "$server"
sleep 6
kill -CONT "$server"
wait "$creating"
eventually "six seconds of silence change nothing" 60 4 bound lone-
kill -0 "$first"
pass_or_fail $? "it still leads" "$(tail -n 3 "$WORK/first.log")"

kill -STOP "$server"
sleep 14
kill -CONT "$server"
wait "$first"
[ $? -eq 2 ]
pass_or_fail $? "after fourteen it has ended" "$(tail -n 3 "$WORK/first.log")"
expect "and says why" "the lease kube-system/muster-scheduler was lost" tail -n 1 "$WORK/first.log"
start_scheduler second --config "$WORK/config.yaml" --secure-port 0
for i in 5 6 7; do pod "lone-$i" 0.1; done | k create -f - >/dev/null
eventually "the next process goes on" 60 7 bound lone-
