#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "api/kinds/kind.h"
#include "base/result.h"

// What clients ask about the shape of the API: kubectl explain, validation before a request is
// sent, and how to compute a strategic merge patch. Generated from the schema tables and the kinds,
// each document once, at first use; the same build always gives the same bytes. Any thread may ask.
namespace muster::api {

class OpenApi {
 public:
  // Of these kinds, which must outlive it.
  explicit OpenApi(std::span<const Kind* const> kinds = all_kinds());
  ~OpenApi();

  // The body of /openapi/v3: where the document of each group and version is.
  std::string v3_index() const;
  // The document of one of them, by its key in the index: "api/v1", "apis/coordination.k8s.io/v1".
  Result<std::string> v3(std::string_view group_version_key) const;
  // The value of ?hash= in the index, by which clients cache the document.
  Result<std::string> v3_hash(std::string_view group_version_key) const;

  // The body of /openapi/v2, which kubectl before 1.29 insists on: JSON, and gnostic's protobuf
  // form (application/com.github.proto-openapi.spec.v2@v1.0+protobuf), the only one kubectl reads.
  std::string v2_json() const;
  std::string v2_protobuf() const;

 private:
  struct Documents;
  const Documents& with_v3() const;

  const std::span<const Kind* const> kinds_;
  const std::unique_ptr<Documents> documents_;
};

}  // namespace muster::api
