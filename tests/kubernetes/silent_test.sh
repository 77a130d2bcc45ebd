#!/usr/bin/env bash
# Connections that stay open and carry nothing any more: the leader renews its lease on another one in time, and watches
# and bindings go on within a minute.
. "$(dirname "$0")/lib.sh"

start_kubernetes
cat >"$WORK/config.yaml" <<END
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: muster}]
END
make_node a ra
proxy_port=$(free_port)
run_in_background proxy python3 "$(dirname "$0")/silent_proxy.py" "$proxy_port" "$API_PORT"
proxy=$LAST
sed "s/:$API_PORT/:$proxy_port/" "$SCHEDULER_KUBECONFIG" >"$WORK/proxied.kubeconfig"
port=$(free_port)
SCHEDULER_KUBECONFIG=$WORK/proxied.kubeconfig start_scheduler scheduler --config "$WORK/config.yaml" \
  --bind-address 127.0.0.1 --secure-port "$port"
pod before 0.1 | k create -f - >/dev/null
eventually "a pod is bound through the proxy" 60 1 bound before

kill -USR1 "$proxy"
since=$SECONDS
pod after 0.1 | k create -f - >/dev/null
eventually "silence is noticed" 75 1 bound after
kill -0 "$SCHEDULER_PID"
pass_or_fail $? "the lease was renewed on another connection" "$(tail -n 5 "$WORK/scheduler.log")"
eventually "ready" 20 ok curl -sk "https://127.0.0.1:$port/readyz"
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
echo "bound $((SECONDS - since)) s after the silence began"
