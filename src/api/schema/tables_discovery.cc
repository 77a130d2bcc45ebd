#include "api/schema/tables.h"

// discovery.k8s.io/v1: where services are reached. tables.h explains the notation.
namespace muster::api::schema {

const Table kDiscovery{"discovery/v1", R"(
Endpoint
  1  addresses           []string               required list=set
  2  conditions          EndpointConditions     always
  3  hostname            *string
  4  targetRef           *core.ObjectReference  atomic
  5  deprecatedTopology  {}string
  6  nodeName            *string
  7  zone                *string
  8  hints               *EndpointHints

EndpointConditions
  1  ready        *bool
  2  serving      *bool
  3  terminating  *bool

EndpointHints
  1  forZones  []ForZone
  2  forNodes  []ForNode

EndpointPort
  1  name         *string  default=""
  2  protocol     *string  allowed=SCTP|TCP|UDP default="TCP"
  3  port         *int32
  4  appProtocol  *string

EndpointSlice object -- Some of the addresses behind a service.
  1  metadata     meta.ObjectMeta  always
  4  addressType  string           required always allowed=FQDN|IPv4|IPv6
  2  endpoints    []Endpoint       required
  3  ports        []EndpointPort

EndpointSliceList object
  1  metadata  meta.ListMeta    always
  2  items     []EndpointSlice  required

ForNode
  1  name  string  required always

ForZone
  1  name  string  required always
)"};

}  // namespace muster::api::schema
