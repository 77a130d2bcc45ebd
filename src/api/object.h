#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/values/string_pairs.h"
#include "base/check.h"
#include "base/result.h"
#include "base/time.h"

namespace muster::api {

// A point in the one order of all writes. 0 is before every write.
struct Revision {
  std::int64_t value = 0;
  friend auto operator<=>(Revision, Revision) = default;
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
};

// The part of metadata that we read. The rest is in the bytes.
struct ObjectMeta {
  std::string name;
  std::string name_space;
  std::string uid;
  std::int64_t generation = 0;
  std::optional<Time> creation_time;
  std::optional<Time> deletion_time;
  std::optional<std::int64_t> deletion_grace_s;
  StringPairs labels;
  StringPairs annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owners;
};

// Base of typed views; a view holds only the fields we read.
struct View {
  virtual ~View() = default;
};

// One version of one API object. Immutable once published, shared by everybody as
// shared_ptr<const Object>; loopback hands over the same pointer the server stored.
//
// The bytes are canonical JSON of the stored version: members in schema order, maps sorted, without
// kind, apiVersion and metadata.resourceVersion. They always begin with {"metadata":{" so that the
// three can be put back without parsing (encode()).
class Object {
 public:
  // From a document that has been decoded, defaulted and validated.
  static std::shared_ptr<Object> make(const Kind& kind, const Json& document);
  // From a document that has everything but metadata: that stays as it is in `old`, byte for byte.
  static std::shared_ptr<Object> make_keeping_metadata(const Object& old, const Json& document);
  // From bytes that make() once wrote. InternalError if they were damaged.
  static Result<std::shared_ptr<Object>> parse(const Kind& kind, std::string bytes);

  const Kind& kind() const { return *kind_; }
  const ObjectMeta& meta() const { return meta_; }
  std::string_view bytes() const { return bytes_; }
  // About how much memory this version takes: its bytes, the parsed metadata, the view that will be
  // read from it, and a fixed part per object. With many short entries that is several times the
  // bytes, so limits of memory count this.
  std::size_t memory() const { return memory_; }
  Revision revision() const { return revision_; }
  // The revision at which the object was created. Only a store sets it; 0 if the object is older
  // than the opening of the store.
  Revision created() const { return created_; }
  // Set once by the store's engine, before the object is published.
  void assign_revision(Revision revision, Revision created = {}) {
    CHECK(revision_.value == 0);
    revision_ = revision;
    created_ = created;
  }

  // The document to edit: a fresh parse of the bytes (no kind, apiVersion, resourceVersion).
  Json document() const;

  // The typed view, built on first use and kept. V is the one view type of this kind and has
  // `static std::unique_ptr<V> read(const Object&)`. Any thread may ask.
  template <typename V>
  const V& view() const {
    const View* view = view_.load(std::memory_order_acquire);
    if (view == nullptr) [[unlikely]]
      view = read_view<V>();
    return static_cast<const V&>(*view);
  }

  // Sets the view that would be read from the bytes, for a caller that has the document at hand and
  // knows that somebody will ask. Before the object is published.
  void set_view(std::unique_ptr<View> view) const { publish_view(std::move(view)); }

  ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

 private:
  // `document` is what the bytes say, but for its metadata.
  Object(const Kind& kind, std::string bytes, std::size_t metadata_end, ObjectMeta meta,
         const Json& document);
  // Out of line, so that view() only loads a pointer if the view exists.
  template <typename V>
  [[gnu::noinline]] const View* read_view() const {
    return publish_view(V::read(*this));
  }
  const View* publish_view(std::unique_ptr<View> view) const;

  const Kind* kind_;
  std::uint32_t metadata_end_;  // the bytes up to here are {"metadata":{…}
  std::string bytes_;
  ObjectMeta meta_;
  std::size_t memory_;
  Revision revision_;
  Revision created_;
  mutable std::atomic<const View*> view_{nullptr};
};

using ObjectPtr = std::shared_ptr<const Object>;

// Appends the JSON a client sees: the bytes with resourceVersion added and, unless it is a list
// item, kind and apiVersion of the requested version.
struct EncodeOptions {
  std::string_view version;  // "v1beta1"; empty = the stored version
  bool with_type = true;     // kind and apiVersion
};
void encode(const Object& object, Revision revision, const EncodeOptions& options,
            std::string& out);

// namespace/name, or name for cluster-scoped objects: how messages and logs name an object.
std::string key_text(const ObjectMeta& meta);

}  // namespace muster::api
