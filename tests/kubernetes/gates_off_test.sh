#!/usr/bin/env bash
# A kube-apiserver as it comes, without group APIs: lone pods are scheduled, and nothing waits for what is not there.
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
[ -z "$(refused)" ]
pass_or_fail $? "nothing was refused for lack of rights" "$(refused)"
