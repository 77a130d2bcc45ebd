#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"

// Versions of kinds that other servers serve in a shape different from ours. Everything inside
// Muster speaks the newest shape; documents are translated on their way in and out.
namespace muster::client {

// The versions to ask a server for, most preferred first: our own, then older ones of another
// shape.
std::vector<std::string> versions_to_ask(const api::Kind& kind);

// Whether documents of this version have another shape than ours.
bool is_translated(const api::Kind& kind, std::string_view version);
// Rewrites a document that arrived in this version; others stay as they are. A document without the
// expected shape is left alone: decoding will say what is wrong with it.
void translate_in(const api::Kind& kind, std::string_view version, api::Json& document);
// Rewrites a document or a merge patch that goes out.
void translate_out(const api::Kind& kind, std::string_view version, api::Json& document);

// In which versions metadata.ownerReferences name owners on a server that serves some kinds in
// other versions than ours: it cannot find an owner of a version that it does not serve, so its
// garbage collector would never delete what belongs to it.
class OwnerVersions {
 public:
  // Nothing to remember if that is our version.
  void set(const api::Kind& kind, std::string_view served);
  // Whether an owner must be named in another version; also of the owners in a patch.
  bool concerns(const api::Json& body) const;
  // Rewrites the owners to those versions.
  void translate_out(api::Json& body) const;

 private:
  struct Spelling {
    std::string kind;
    std::string ours;  // apiVersion
    std::string theirs;
  };
  const Spelling* find(const api::Json& reference) const;

  std::vector<Spelling> spellings_;
};
// Names the owners of a document that arrived in our versions: those of kinds whose versions differ
// between servers.
void translate_owners_in(api::Json& document);

}  // namespace muster::client
