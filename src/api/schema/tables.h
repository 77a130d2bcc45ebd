#pragma once

#include <string_view>

// The text the schema is read from. One message is a name and a line for each field:
//
//   Pod object -- A sentence about the message.
//     1  metadata  meta.ObjectMeta  always
//     2  spec      PodSpec          always
//        -- A sentence about the field above.
//
// A line holds the protobuf number, the JSON name, the type and any of the words below. `object`
// after a message's name says that it is a kind, so it may have kind and apiVersion beside its
// fields.
//
//   type         string bool int32 int64 double bytes Quantity IntOrString Time MicroTime Duration
//                Any, or a message: of the same package, meta.X, core.X, scheduling.v1alpha3.X
//   []T {}T *T   a list; a map from string; presence counts even for zero values
//   always       written even when empty
//   inline       the members of the message stand in the parent
//   required     a client must give it
//   merge        strategic merge: a set of scalars; merge=KEY: items are matched by KEY
//   retainKeys   strategic merge: $retainKeys is sent for the items (or for this map)
//   replace      strategic merge: the map is replaced as a whole
//   list=set     server-side apply: a set; list=A,B: items are matched by these keys; else atomic
//   atomic       server-side apply: the map is one value
//   default=J    JSON without blanks, filled in where the member is missing
//   allowed=A|B  the only values there are
namespace muster::api::schema {

struct Table {
  std::string_view package;
  std::string_view text;
};

extern const Table kMeta;
extern const Table kPods;
extern const Table kNodes;
extern const Table kVolumes;
extern const Table kCore;
extern const Table kSchedulingV1;
extern const Table kSchedulingV1beta1;
extern const Table kSchedulingV1alpha3;
extern const Table kSchedulingV1alpha3Only;
extern const Table kBatch;
extern const Table kAppsV1;
extern const Table kAutoscalingV1;
extern const Table kPolicy;
extern const Table kCoordination;
extern const Table kEvents;
extern const Table kRbacV1;
extern const Table kAuthenticationV1;
extern const Table kAuthorizationV1;
extern const Table kResource;
extern const Table kStorage;
extern const Table kDiscovery;
extern const Table kJobSet;
extern const Table kLeaderWorkerSet;
extern const Table kMusterV1alpha1;
extern const Table kSchedulerConfig;

}  // namespace muster::api::schema
