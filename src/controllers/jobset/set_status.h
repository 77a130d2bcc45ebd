#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/request.h"
#include "api/views/job_set_view.h"
#include "base/time.h"

namespace muster::controllers {

// The event to record about a change once it is stored.
struct SetNote {
  std::string type;  // Normal, Warning
  std::string reason;
  std::string message;
  friend bool operator==(const SetNote&, const SetNote&) = default;
};

// A status of a JobSet in the making.
class SetStatus {
 public:
  explicit SetStatus(const api::JobSetView& set) : before_(set.status), status_(set.status) {}

  // Sets a condition. True if its status changes; the time of its transition follows.
  bool set(std::string_view type, bool holds, std::string_view reason, std::string_view message);
  // Only if there is such a condition and it holds.
  void end(std::string_view type, std::string_view reason, std::string_view message);
  bool holds(std::string_view type) const;
  void note(std::string_view type, std::string_view reason, std::string_view message);

  api::JobSetView::Status& status() { return status_; }
  const api::JobSetView::Status& status() const { return status_; }
  const std::vector<SetNote>& notes() const { return notes_; }
  bool changed() const;

 private:
  const api::JobSetView::Status& before_;
  api::JobSetView::Status status_;
  std::vector<SetNote> notes_;
};

// Stores a status; a Conflict if the set has changed since.
api::Request status_request(const api::Object& set, const api::JobSetView::Status& status,
                            Time now);

}  // namespace muster::controllers
