#!/usr/bin/env bash
# Whoever reaches the status port with ever new tokens has the API server asked about each of them: at a rate of its own, so
# that neither the server nor bindings suffer.
. "$(dirname "$0")/lib.sh"

start_kubernetes
# The scheduler itself may send one request a second.
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {qps: 1, burst: 2}
profiles: [{schedulerName: muster}]
END
make_node a ra
port=$(free_port)
start_scheduler scheduler --config "$WORK/config.yaml" --bind-address 127.0.0.1 --secure-port "$port"
eventually "ready" 60 ok curl -sk "https://127.0.0.1:$port/readyz"

reviews() { grep -h '"resource":"tokenreviews"' "$WORK/audit.json" | grep -c muster-scheduler; }
since=$SECONDS
codes=$(seq 200 | xargs -P 40 -I{} curl -sk --max-time 60 -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer invented-{}" \
  "https://127.0.0.1:$port/metrics" | sort | uniq -c | tr -s ' ')
pod lone 1 | k create -f - >/dev/null
took=$((SECONDS - since + 1))
asked=$(reviews)
expect "an invented token is nobody's" " 401" echo "$codes"
[ "$asked" -gt $((2 + took)) ]
pass_or_fail $? "reviews do not share the limit of bindings" "$asked in $took s; $codes"
[ "$asked" -le $((40 + 20 * took)) ]
pass_or_fail $? "and have one of their own" "$asked in $took s; $codes"
eventually "a pod is bound meanwhile" 30 1 bound lone
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
