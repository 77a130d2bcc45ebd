#pragma once

#include <memory>
#include <span>

#include "api/kept.h"
#include "api/kinds/kind.h"
#include "api/object.h"
#include "api/views/pod_templates.h"

// What components on a foreign server keep of the objects that they watch. Nobody writes such
// objects back: components patch, so that what is left out here stays as it is on the server.
namespace muster::api {

// What a scheduler reads, by views or otherwise: a pod of some kilobytes becomes one of a few
// hundred bytes. Of kinds that are small, only the record of who manages which field goes.
std::span<const Kept> kept_by_scheduler(const Kind& kind);

// The object of a document of which that was kept. What a scheduler reads of pods and nodes stands
// in their views, which are made here: once a pod has its node, or is over, and for nodes, the
// bytes hold nothing but metadata, and the view no tolerations. Pods that wait keep theirs: they
// are copied onto nodes.
std::shared_ptr<Object> made_for_scheduler(const Kind& kind, Json& document,
                                           PodTemplates& templates);

// Controllers read more: of every kind only that record goes.
std::span<const Kept> kept_by_controllers(const Kind& kind);

}  // namespace muster::api
