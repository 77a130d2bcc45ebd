#include "api/schema/tables.h"

// coordination.k8s.io/v1: leases. tables.h explains the notation.
namespace muster::api::schema {

const Table kCoordination{"coordination/v1", R"(
Lease object -- A claim that must be renewed: heartbeats of nodes, election of leaders.
  1  metadata  meta.ObjectMeta  always
  2  spec      LeaseSpec        always

LeaseList object
  1  metadata  meta.ListMeta  always
  2  items     []Lease        required

LeaseSpec
  1  holderIdentity        *string
     -- Who holds the lease.
  2  leaseDurationSeconds  *int32
     -- How long it holds after a renewal.
  3  acquireTime           *MicroTime
     -- When the holder got it.
  4  renewTime             *MicroTime
     -- When the holder last renewed it.
  5  leaseTransitions      *int32
     -- How often the holder changed.
  6  strategy              *string
  7  preferredHolder       *string
)"};

}  // namespace muster::api::schema
