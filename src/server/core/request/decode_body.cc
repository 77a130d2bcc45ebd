#include "server/core/request/decode_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <utility>

#include "api/decode.h"
#include "api/validation/seed_fields.h"

namespace muster::server {
namespace {

using api::FieldValidation;
using api::Json;

struct GroupVersion {
  std::string_view group;
  std::string_view version;
};

GroupVersion split(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {.group = "", .version = api_version};
  return {.group = api_version.substr(0, slash), .version = api_version.substr(slash + 1)};
}

std::string join(const GroupVersion& gv) {
  return gv.group.empty() ? std::string(gv.version) : fmt::format("{}/{}", gv.group, gv.version);
}

bool served(const GroupVersion& gv, std::string_view kind) {
  const api::Kind* found = api::find_kind(gv.group, kind);
  return found != nullptr && found->serves(gv.version);
}

// How Go calls the package of a group's internal types: "core", "scheduling".
std::string_view go_package(std::string_view group) {
  if (group.ends_with(".muster.dev")) return "muster";
  return group.empty() ? "core" : group.substr(0, group.find('.'));
}

// The type a body claims to be must be the endpoint's; what it leaves out is taken from the URL.
Result<void> check_type(const BodyType& type, const Json& body) {
  const std::string_view said_version = api::find_string(body, "apiVersion");
  const std::string_view said_kind = api::find_string(body, "kind");
  const GroupVersion expected{.group = type.group, .version = type.version};
  const GroupVersion gv = said_version.empty() ? expected : split(said_version);
  const std::string_view kind = said_kind.empty() ? std::string_view(type.kind) : said_kind;
  const bool same_gv = gv.group == expected.group && gv.version == expected.version;
  if (kind == type.kind && same_gv) return {};
  // Two names of one thing, of which the old one is in no document of ours.
  if (kind == "Eviction" && type.kind == kind && gv.group == expected.group &&
      gv.version == "v1beta1")
    return {};

  if (kind == type.kind && gv.group == expected.group && served(gv, kind))
    return fail(Reason::BadRequest,
                "the API version in the data ({}) does not match the expected API version ({})",
                join(gv), join(expected));
  const std::string why =
      served(gv, kind)
          ? fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", gv.version, kind,
                        go_package(type.group), type.kind)
          : fmt::format(R"(no kind "{}" is registered for version "{}")", kind, join(gv));
  return fail(Reason::BadRequest, R"({} in version "{}" cannot be handled as a {}: {})", kind,
              gv.version, type.kind, why);
}

Error cannot_be_handled(const BodyType& type, std::string_view why) {
  return make_error(Reason::BadRequest, R"({} in version "{}" cannot be handled as a {}: {})",
                    type.kind, type.version, type.kind, why);
}

// The first bytes of what could not be read, as upstream quotes them.
std::string summary(std::string_view text) {
  constexpr std::size_t kShown = 30;
  if (text.empty()) return "<empty>";
  const std::string_view start = text.substr(0, kShown);
  std::string out;
  if (text.front() == '{') {
    out = start;
  } else {
    for (const char c : start)
      fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<unsigned char>(c));
  }
  if (text.size() > kShown) out += " ...";
  return out;
}

const api::schema::Message* find_message(std::string_view group, std::string_view version,
                                         std::string_view name) {
  const std::string package = fmt::format("{}/{}", go_package(group), version);
  for (const api::schema::Message* message : api::schema::all_messages())
    if (message->name == name && message->package == package) return message;
  return nullptr;
}

}  // namespace

Result<BodyType> body_type(const api::Kind& kind, std::string_view version,
                           std::string_view subresource) {
  BodyType type{.message = kind.message,
                .kind = kind.kind,
                .group = kind.group,
                .version = std::string(version)};
  if (subresource.empty()) return type;

  const api::Subresource* part = kind.subresource(subresource);
  if (part == nullptr)
    return fail(Reason::MethodNotAllowed,
                "the server does not allow this method on the requested resource");
  if (part->kind == kind.kind) return type;
  type.kind = part->kind;
  if (!part->body_version.empty()) {
    type.group = part->body_group;
    type.version = part->body_version;
  }
  type.message = find_message(type.group, type.version, type.kind);
  if (type.message == nullptr)
    return fail(Reason::MethodNotAllowed, "{} bodies are not supported yet", type.kind);
  return type;
}

Result<DecodedBody> decode_body(const BodyType& type, api::ParsedJson parsed,
                                FieldValidation validation) {
  TRY(check_type(type, parsed.value));
  Result<api::Decoded> decoded = api::decode(*type.message, std::move(parsed));
  if (!decoded) return fail(cannot_be_handled(type, decoded.error().message));

  DecodedBody out{.document = std::move(decoded->document), .warnings = {}};
  out.document.as_object().erase("kind");
  out.document.as_object().erase("apiVersion");
  if (validation == FieldValidation::Strict && !decoded->unknown.empty())
    return fail(cannot_be_handled(
        type, fmt::format("strict decoding error: {}", fmt::join(decoded->unknown, ", "))));
  if (validation == FieldValidation::Warn) {
    out.warnings = std::move(decoded->unknown);
    api::explain_seed_fields(type.kind, out.warnings);
  }
  return out;
}

Result<void> decode_into(api::Request& request, api::ParsedJson parsed) {
  const BodyType type = TRY(body_type(*request.kind, request.version, request.subresource));
  DecodedBody decoded = TRY(decode_body(type, std::move(parsed), request.field_validation));
  request.body = std::move(decoded.document);
  std::ranges::move(decoded.warnings, std::back_inserter(request.warnings));
  return {};
}

Result<void> decode_into(api::Request& request, std::string_view json_text) {
  Result<api::ParsedJson> parsed = api::parse_json(json_text);
  if (!parsed) {
    const BodyType type = TRY(body_type(*request.kind, request.version, request.subresource));
    return fail(Reason::BadRequest,
                "the object provided is unrecognized (must be of type {}): couldn't get "
                "version/kind; json parse error: {} ({})",
                type.kind, parsed.error().message, summary(json_text));
  }
  return decode_into(request, std::move(*parsed));
}

}  // namespace muster::server
