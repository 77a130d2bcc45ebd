#!/usr/bin/env bash
# A kube-apiserver that dies while pods are being bound, and one that is not there yet: nothing is lost, nothing is bound
# twice, no node gets more than it has, and nobody has to start Muster again.
. "$(dirname "$0")/lib.sh"

start_kubernetes
etcd=${started[0]}
server=${started[1]}
server_command=("${SERVER_COMMAND[@]}")
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 5000, burst: 5000}
leaderElection: {leaderElect: false}
profiles: [{schedulerName: muster}]
END
for i in 1 2 3 4 5; do make_node "n-$i" ra 8; done
port=$(free_port)
start_scheduler scheduler --config "$WORK/config.yaml" --bind-address 127.0.0.1 --secure-port "$port"
scheduler=$SCHEDULER_PID
eventually "ready" 60 ok curl -sk "https://127.0.0.1:$port/readyz"

again() { # starts the server anew, on the same port and data
  run_in_background apiserver "${server_command[@]}"
  server=$LAST
  eventually "the server is back" 120 ok "$KUBECTL" get --raw /readyz
}
# Forty pods fill the cluster to the last CPU: any room counted twice shows.
for round in 1 2 3; do
  for i in $(seq 40); do pod "r$round-$i" 1; done | k create -f - >/dev/null 2>&1 &
  creating=$!
  for _ in $(seq 100); do
    [ "$(bound "r$round-")" -gt $((5 * round)) ] && break
    sleep 0.02
  done
  kill -KILL "$server"
  wait "$server" 2>/dev/null
  wait "$creating"
  sleep 2
  again
  for i in $(seq 40); do pod "r$round-$i" 1; done | k create -f - >/dev/null 2>&1
  eventually "round $round: all pods are bound" 90 40 bound "r$round-"
  crowded=$(nodes_of "r$round-" | sort | uniq -c | awk '$1 > 8')
  [ -z "$crowded" ]
  pass_or_fail $? "no node has more than it has room for" "$crowded"
  unsaid=$(k get pods -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName} {.status.conditions[?(@.type=="PodScheduled")].status}{"\n"}{end}' |
    awk '$2 != "" && $3 != "True"')
  [ -z "$unsaid" ]
  pass_or_fail $? "no bound pod is said not to be scheduled" "$unsaid"
  eventually "ready again" 20 ok curl -sk "https://127.0.0.1:$port/readyz"
  k delete pods --all --wait=true --grace-period=0 --force >/dev/null 2>&1
done
kill -0 "$scheduler"
pass_or_fail $? "the scheduler is the one of the beginning" "$(tail -n 3 "$WORK/scheduler.log")"

# A scheduler that is started while the server is away waits for it, alive and not ready.
kill -KILL "$server"
wait "$server" 2>/dev/null
early=$(free_port)
start_scheduler early --config "$WORK/config.yaml" --bind-address 127.0.0.1 --secure-port "$early"
eventually "it lives" 20 ok curl -sk "https://127.0.0.1:$early/livez"
expect "and says what it waits for" "cannot reach the API server" curl -sk "https://127.0.0.1:$early/readyz"
again
eventually "ready as soon as the server is" 60 ok curl -sk "https://127.0.0.1:$early/readyz"
kill -0 "$etcd"
pass_or_fail $? "etcd is the one of the beginning" "gone"
kill "$scheduler" "$SCHEDULER_PID" # or the server would wait for their watches when it is stopped
wait "$scheduler" "$SCHEDULER_PID"
