#include "api/schema/tables.h"

// events.k8s.io/v1: the newer face of events. tables.h explains the notation.
namespace muster::api::schema {

const Table kEvents{"events/v1", R"(
Event object
   1  metadata                  meta.ObjectMeta        always
   2  eventTime                 MicroTime              required always
   3  series                    *EventSeries
   4  reportingController       string
   5  reportingInstance         string
   6  action                    string
   7  reason                    string
   8  regarding                 core.ObjectReference   always atomic
   9  related                   *core.ObjectReference  atomic
  10  note                      string
  11  type                      string
  12  deprecatedSource          core.EventSource       always
  13  deprecatedFirstTimestamp  Time                   always
  14  deprecatedLastTimestamp   Time                   always
  15  deprecatedCount           int32

EventList object
  1  metadata  meta.ListMeta  always
  2  items     []Event        required

EventSeries
  1  count             int32      required always
  2  lastObservedTime  MicroTime  required always
)"};

}  // namespace muster::api::schema
