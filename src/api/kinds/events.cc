#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {

// The other face of core events: conversion.h turns one into the other, and only core ones are
// stored.
std::vector<Kind> events_kinds() {
  Kind event = plain_kind({.group = "events.k8s.io", .version = "v1", .package = "events/v1"},
                          "Event", "events");
  event.short_names = {"ev"};
  event.create_on_update = true;
  event.selectable_fields = {"regarding.kind",       "regarding.namespace",
                             "regarding.name",       "regarding.uid",
                             "regarding.apiVersion", "regarding.resourceVersion",
                             "regarding.fieldPath",  "reason",
                             "reportingController",  "type"};
  return {event};
}

}  // namespace muster::api::kinds
