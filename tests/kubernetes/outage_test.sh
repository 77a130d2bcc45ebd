#!/usr/bin/env bash
# A kube-apiserver that falls silent: for seconds, which changes nothing, for longer than the lease allows, and for minutes.
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
kill "$SCHEDULER_PID"
wait "$SCHEDULER_PID"

# --- minutes of silence, for a process that elects nobody
sed '$aleaderElection: {leaderElect: false}' "$WORK/config.yaml" >"$WORK/alone.yaml"
start_scheduler third --config "$WORK/alone.yaml" --secure-port 0
third=$SCHEDULER_PID
pod lone-8 0.1 | k create -f - >/dev/null
eventually "a process without an election binds" 60 8 bound lone-
# Some of these bindings are under way when the server falls silent.
for i in 1 2 3 4 5 6 7 8 9; do pod "late-$i" 0.1; done | k create -f - >/dev/null
kill -STOP "$server"
sleep 130
kill -CONT "$server"
eventually "after more than two minutes everything is bound" 90 9 bound late-
kill -0 "$third"
pass_or_fail $? "by the same process" "$(tail -n 3 "$WORK/third.log")"
bound_twice() { grep -h '"subresource":"binding"' "$WORK"/audit.json | grep '"code":201' | grep -o '"name":"late-[0-9]"' | sort | uniq -d; }
eventually "and nothing twice" 1 "" bound_twice
for i in 9 10; do pod "lone-$i" 0.1; done | k create -f - >/dev/null
eventually "it goes on" 60 10 bound lone-
