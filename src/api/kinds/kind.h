#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/schema.h"

namespace muster::api {

// A part of an object with an endpoint of its own: pods/status, pods/binding.
struct Subresource {
  std::string name;        // "status"
  std::string kind;        // what the body is: "Pod", "Binding", "Eviction"
  std::string body_group;  // group and version of the body where they differ from the resource's
  std::string body_version;
  std::vector<std::string> verbs;  // sorted
};

// What the API knows about a kind of object, written once, in its group's file. All versions of a
// kind share one Kind: conversion between them is a swap of apiVersion.
struct Kind {
  std::string group;                  // "" is core
  std::vector<std::string> versions;  // served, most preferred first
  std::string stored_version;
  std::string kind;      // "Pod"
  std::string plural;    // "pods"
  std::string singular;  // "pod"
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  std::vector<Subresource> subresources;
  std::string store_prefix;  // first part of the store key; two kinds may be views of one prefix
  const schema::Message* message = nullptr;

  // False: a request in the form of an object. It is created and answered, never stored, so there
  // is nothing to get, list or delete.
  bool stored = true;
  bool unconditional_update = true;  // PUT without resourceVersion
  bool create_on_update = false;     // PUT of a missing object creates it
  bool keeps_generation = false;     // generation 1 at create, +1 on spec change
  bool answers_delete_with_object = false;
  bool deletes_collections = true;
  std::vector<std::string> selectable_fields;  // beyond metadata.name and metadata.namespace

  std::string list_kind() const { return kind + "List"; }
  // "v1" or "scheduling.k8s.io/v1".
  std::string api_version(std::string_view version) const;
  // "pods" or "podgroups.scheduling.k8s.io": how messages name the resource.
  std::string qualified_plural() const;
  // "Pod" or "PodGroup.scheduling.k8s.io": how Invalid messages name the kind.
  std::string qualified_kind() const;
  const Subresource* subresource(std::string_view name) const;
  bool serves(std::string_view version) const;
};

// Every kind, in discovery order. Lives forever.
std::span<const Kind* const> all_kinds();
// By group, version and plural, as a URL names it; null if not served.
const Kind* find_resource(std::string_view group, std::string_view version,
                          std::string_view plural);
// By group and Kind, as an apiVersion/kind pair names it.
const Kind* find_kind(std::string_view group, std::string_view kind);

namespace kinds {
// The kinds our own components use. CHECKs that the kind exists.
const Kind& pod();
const Kind& node();
const Kind& name_space();
const Kind& event();
const Kind& priority_class();
const Kind& lease();
const Kind& workload();
const Kind& pod_group();
const Kind& composite_pod_group();
const Kind& group_binding();
const Kind& persistent_volume();
const Kind& persistent_volume_claim();
const Kind& storage_class();
const Kind& csi_node();
const Kind& csi_driver();
const Kind& csi_storage_capacity();
const Kind& volume_attachment();
}  // namespace kinds

}  // namespace muster::api
