#pragma once

#include <string>

#include "api/request.h"
#include "base/error.h"

// Status objects: how the API reports failure, and success without an object.
namespace muster::server {

// {"kind":"Status",…,"status":"Failure",…}, without a line end. `continue_token`, if not empty,
// is put in metadata.continue: where a listing that expired may go on.
std::string status_json(const Error& error, std::string_view continue_token = {});

// {"kind":"Status",…,"status":"Success",…}, without a line end.
std::string status_json(const api::StatusAnswer& answer);

}  // namespace muster::server
