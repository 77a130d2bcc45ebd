#pragma once

#include <memory>
#include <span>

#include "api/kept.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/views/pod_templates.h"

// What components on a foreign server keep of the objects that they watch. Nobody writes such
// objects back: components patch, so what is left out here stays unchanged on the server.
namespace muster::api {

// What a scheduler reads, by views or otherwise: a pod of some kilobytes becomes one of a few
// hundred bytes. For small kinds, only the record of who manages which field is dropped.
std::span<const Kept> kept_by_scheduler(const Kind& kind);

// The object of such a reduced document. What a scheduler reads of pods and nodes is in their
// views, which are made here: for nodes, and once a pod has its node or has ended, the bytes hold
// only metadata, and the view no tolerations. Pods that wait keep theirs: they are copied onto
// nodes.
std::shared_ptr<Object> made_for_scheduler(const Kind& kind, Json& document,
                                           PodTemplates& templates);

// Controllers read more: for every kind only that record is dropped.
std::span<const Kept> kept_by_controllers(const Kind& kind);

}  // namespace muster::api
