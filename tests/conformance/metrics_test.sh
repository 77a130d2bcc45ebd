#!/usr/bin/env bash
# What components count is served beside what the server counts.
. "$(dirname "$0")/lib.sh"

start_muster --in-memory --zones 1 --racks-per-block 1 --nodes-per-rack 2 --node-resources cpu=8,memory=16Gi
expect "a pod is created" "pod/web created" k run web --image=nginx
eventually "it runs" "Running" k get pod web

metric() { k get --raw /metrics | grep "^$1" | head -1; }
expect "controllers count their work" "workqueue_adds_total" metric 'workqueue_adds_total{name="garbage-collector"}'
expect "controllers measure it" "workqueue_work_duration_seconds_count" metric 'workqueue_work_duration_seconds_count{name="namespace-defaults"}'
expect "components count their calls" "rest_client_requests_total" metric 'rest_client_requests_total{code="201",host="loopback",method="POST"}'
expect "the server counts what they ask for" 'subresource="binding"' metric 'apiserver_request_total{.*resource="pods".*subresource="binding"'
eventually "the scheduler counts its attempts" "scheduler_schedule_attempts_total" metric 'scheduler_schedule_attempts_total{.*result="scheduled"'
