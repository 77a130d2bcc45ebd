#!/usr/bin/env bash
# `muster controllers` on a server without group APIs: Jobs and sets run without groups, and those that ask for groups say so. And
# a server that is away for a while is waited for, also by the look for other controllers.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --racks-per-block 2 --nodes-per-rack 4 --node-resources cpu=8,memory=32Gi \
  --controllers '*,-job,-jobset,-lws,-statefulset' \
  --feature-gates GenericWorkload=false,TopologyAwareWorkloadScheduling=false,CompositePodGroup=false,PodGroupPreemptionPolicy=false,WorkloadWithJob=false
# What a kube-controller-manager has left behind is looked at for some seconds.
k create -f - >/dev/null <<END
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: kube-controller-manager, namespace: kube-system}
spec: {holderIdentity: them, leaseDurationSeconds: 5}
END
"$MUSTER" controllers --kubeconfig "$KUBECONFIG" --controllers job,jobset,lws,statefulset --secure-port 0 >"$WORK/controllers.log" 2>&1 &
controllers=$!
sleep 2
kill -STOP "$MUSTER_PID"
eventually "a server that is away is asked again" "asking again" cat "$WORK/controllers.log"
kill -CONT "$MUSTER_PID"
pods() { k get pods -l "$1" -o name | grep -c .; }

k create -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: works}
spec:
  parallelism: 2
  completions: 2
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
END
eventually "a Job has its pods" 2 pods job-name=works
eventually "that there are no groups is said" "not served: no gangs" cat "$WORK/controllers.log"

jobset() { # NAME [SCHEDULING]
  cat <<END
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: $1}
spec:
  ${2:+scheduling: $2}
  replicatedJobs:
  - name: w
    template: {spec: {parallelism: 2, completions: 2, template: {spec: {containers: [{name: c, image: i}]}}}}
END
}
jobset train | k create -f - >/dev/null
eventually "a JobSet has its Jobs' pods" 2 pods jobset.sigs.k8s.io/jobset-name=train
jobset gang '{}' | k create -f - >/dev/null
eventually "one that asks for a gang says that there are none" APINotAvailable \
  k get jobset gang -o 'jsonpath={.status.conditions[?(@.type=="SchedulingBlocked")].reason}'
expect "and has no pods" 0 pods jobset.sigs.k8s.io/jobset-name=gang

lws() { # NAME [SCHEDULING]
  cat <<END
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: $1}
spec:
  ${2:+scheduling: $2}
  replicas: 1
  leaderWorkerTemplate:
    size: 2
    workerTemplate: {spec: {containers: [{name: c, image: i}]}}
END
}
lws serve | k create -f - >/dev/null
eventually "a LeaderWorkerSet has its pods" 2 pods leaderworkerset.sigs.k8s.io/name=serve
lws gang '{}' | k create -f - >/dev/null
eventually "one that asks for a gang says that there are none" APINotAvailable \
  k get leaderworkerset gang -o 'jsonpath={.status.conditions[?(@.type=="WorkloadSchedulingCreated")].reason}'
expect "and has no pods" 0 pods leaderworkerset.sigs.k8s.io/name=gang
kill -TERM "$controllers"
wait "$controllers"
