#!/usr/bin/env bash
# What is stored and acted on by nobody: a warning for who writes it, an event for who finds it; and components that are
# switched off.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --nodes-per-rack 2
eventually "all nodes are Ready" "2" bash -c "$KUBECTL get nodes --no-headers | grep -cw Ready"

expect "a service comes with a warning" "Warning: Service is stored, but nothing in this control plane acts on it: no traffic is routed by it" \
  k create service clusterip web --tcp=80:8080
eventually "and has an event" "no traffic is routed by it" k describe service web
expect_not "that of the server has none" "NotActedOn" k describe service kubernetes

probed() { # READINESS
  cat <<END
apiVersion: apps/v1
kind: Deployment
metadata: {name: probed}
spec:
  selector: {matchLabels: {app: probed}}
  template:
    metadata: {labels: {app: probed}}
    spec:
      containers:
      - {name: main, image: app, livenessProbe: {httpGet: {port: 80}}, $1}
END
}
probed "" | k apply -f - >"$WORK/first"
expect "a probe in a template comes with a warning" "Warning: spec.template.spec.containers[0].livenessProbe is stored" cat "$WORK/first"
probed "readinessProbe: {httpGet: {port: 80}}" | k apply -f - >"$WORK/second"
expect "a probe that is added comes with a warning" "containers[0].readinessProbe is stored" cat "$WORK/second"
expect_not "and no other" "livenessProbe" cat "$WORK/second"
eventually "the deployment has an event" "NotActedOn" k describe deployment probed
eventually "its pod runs" "Running" k get pods -l app=probed
expect_not "and has none: its owner has it" "NotActedOn" k describe pods -l app=probed
k label deployment probed seen=often >/dev/null
k annotate deployment probed seen=often >/dev/null
sleep 1
expect "however often it changes, one event" "1" \
  bash -c "$KUBECTL get events --field-selector reason=NotActedOn,involvedObject.name=probed --no-headers | wc -l"

for i in $(seq 40); do
  printf -- '---\napiVersion: v1\nkind: Service\nmetadata: {name: many-%s}\nspec: {ports: [{port: 80}]}\n' "$i"
done | k create -f - >/dev/null
sleep 2
expect "many services make few events" "20" \
  bash -c "$KUBECTL get events --field-selector reason=NotActedOn,involvedObject.kind=Service --no-headers | wc -l"
stop_muster -TERM

# Without a controller its objects are stored, and that is all.
start_muster --in-memory --nodes-per-rack 2 --controllers '*,-job'
expect "a job without its controller comes with a warning" "Warning: Job is stored, but job is switched off" \
  k create job once --image=busybox
eventually "and has an event" "no pods are created for it" k describe job once
expect "and no pods" "No resources found" k get pods
expect_not "a deployment is none of that" "Warning" k create deployment web --image=nginx
eventually "and runs" "1/1" k get deployment web
expect "who does not exist cannot be switched off" "there is no jobs; there are scheduler, " \
  "$MUSTER" up --in-memory --controllers '*,-jobs'
