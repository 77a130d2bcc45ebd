//go:build tools

// Package tools keeps the module that kube_scheduler_test.sh builds the real kube-scheduler from.
package tools

import _ "k8s.io/kubernetes/cmd/kube-scheduler"
