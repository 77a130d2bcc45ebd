#include "client/kubeconfig.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "api/base64.h"
#include "api/json.h"
#include "api/yaml.h"

namespace muster::client {
namespace {

namespace fs = std::filesystem;
using api::Json;

// A cluster, user or context as a file defines it, with what error messages say of it.
struct Entry {
  std::string file;
  std::string path;  // "users[2].user"
  Json value;
};
using Entries = std::map<std::string, Entry, std::less<>>;

// All files, merged: who named something first has named it.
struct Merged {
  std::vector<std::string> files;  // those that exist
  std::string current_context;
  Entries clusters;
  Entries users;
  Entries contexts;
};

Result<std::string> read_text(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return fail(Reason::NotFound, "{}: Is a directory", path);
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Reason::NotFound, "{}: {}", path, std::strerror(errno));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The members of a list such as users: [{name: N, user: {...}}].
Result<void> merge_list(const std::string& file, const Json& document, std::string_view list,
                        std::string_view member, Entries& into) {
  const Json* found = api::find(document, list);
  if (found == nullptr || found->is_null()) return {};
  if (!found->is_array())
    return fail(Reason::Invalid, "kubeconfig {}: {} must be a list of {{name, {}}}", file, list,
                member);
  std::size_t index = 0;
  for (const Json& item : found->get_array()) {
    const std::string path = fmt::format("{}[{}]", list, index++);
    const std::string_view name = api::find_string(item, "name");
    if (name.empty())
      return fail(Reason::Invalid, "kubeconfig {}: {}.name is missing; every entry needs one", file,
                  path);
    const Json* value = api::find(item, member);
    into.emplace(name, Entry{.file = file,
                             .path = fmt::format("{}.{}", path, member),
                             .value = value == nullptr ? Json(nullptr) : *value});
  }
  return {};
}

Result<void> merge_file(const std::string& file, std::string_view text, Merged& into) {
  Result<api::ParsedJson> parsed = api::parse_yaml(text);
  if (!parsed)
    return fail(Reason::Invalid, "kubeconfig {} is no YAML: {}", file, parsed.error().message);
  const Json& document = parsed->value;
  if (document.is_null()) return {};  // to kubectl an empty file is one without entries
  if (!document.is_object() ||
      (api::find(document, "kind") != nullptr && api::find_string(document, "kind") != "Config"))
    return fail(Reason::Invalid,
                "{} is no kubeconfig: it must be a mapping with kind: Config; `kubectl config "
                "view --raw` prints one",
                file);
  if (into.current_context.empty())
    into.current_context = api::find_string(document, "current-context");
  TRY(merge_list(file, document, "clusters", "cluster", into.clusters));
  TRY(merge_list(file, document, "users", "user", into.users));
  TRY(merge_list(file, document, "contexts", "context", into.contexts));
  return {};
}

Result<Merged> merge_files(const KubeconfigSources& sources) {
  Merged merged;
  for (const std::string& file : sources.files) {
    std::error_code ignored;
    if (sources.may_be_missing && !fs::exists(file, ignored)) continue;
    Result<std::string> text = read_text(file);
    if (!text) return fail(Reason::NotFound, "cannot read the kubeconfig {}", text.error().message);
    TRY(merge_file(file, *text, merged));
    merged.files.push_back(file);
  }
  if (!merged.files.empty()) return merged;
  return fail(Reason::NotFound,
              "there is no kubeconfig ({} {}); name one with --kubeconfig FILE or the environment "
              "variable KUBECONFIG. `muster up` prints where it wrote its own",
              fmt::join(sources.files, ", "),
              sources.files.size() == 1 ? "does not exist" : "do not exist");
}

std::string known_names(const Entries& entries) {
  std::vector<std::string_view> names;
  for (const auto& [name, entry] : entries) names.push_back(name);
  return names.empty()
             ? "there is none"
             : fmt::format("there {} {}", names.size() == 1 ? "is" : "are", fmt::join(names, ", "));
}

// Reads the fields of one entry; every complaint names file and field.
class Fields {
 public:
  explicit Fields(const Entry& entry) : entry_(entry) {}

  bool has(std::string_view field) const {
    const Json* value = api::find(entry_.value, field);
    return value != nullptr && !value->is_null();
  }

  template <typename... Args>
  tl::unexpected<Error> refuse(std::string_view field, fmt::format_string<Args...> format,
                               Args&&... args) const {
    return fail(Reason::Invalid, "kubeconfig {}: {}.{} {}", entry_.file, entry_.path, field,
                fmt::format(format, std::forward<Args>(args)...));
  }

  Result<std::string> text(std::string_view field) const {
    if (!has(field)) return std::string();
    const Json& value = *api::find(entry_.value, field);
    if (!value.is_string()) return refuse(field, "must be text; put it in quotes");
    return std::string(value.get_string());
  }

  Result<std::vector<std::string>> texts(std::string_view field) const {
    std::vector<std::string> out;
    if (!has(field)) return out;
    const Json& value = *api::find(entry_.value, field);
    if (!value.is_array()) return refuse(field, "must be a list");
    for (const Json& item : value.get_array()) {
      if (!item.is_string()) return refuse(field, "must be a list of texts");
      out.emplace_back(item.get_string());
    }
    return out;
  }

  Result<bool> flag(std::string_view field) const {
    if (!has(field)) return false;
    const Json& value = *api::find(entry_.value, field);
    if (!value.is_bool()) return refuse(field, "must be true or false");
    return value.get_bool();
  }

  // A path, from the folder of the kubeconfig if it is relative.
  Result<std::string> path(std::string_view field) const {
    const std::string written = TRY(text(field));
    if (written.empty()) return std::string();
    return (fs::path(entry_.file).parent_path() / written).lexically_normal().string();
  }

  // The bytes that FIELD-data holds, or those of the file that FIELD names; the former wins.
  Result<std::string> bytes(const std::string& field) const {
    const std::string data_field = field + "-data";
    if (const std::string data = TRY(text(data_field)); !data.empty()) {
      std::optional<std::string> decoded = api::base64_decode(data);
      if (!decoded) return refuse(data_field, "is no base64; `base64 -w0 FILE` writes it");
      return *std::move(decoded);
    }
    const std::string from = TRY(path(field));
    if (from.empty()) return std::string();
    Result<std::string> read = read_text(from);
    if (!read) return refuse(field, "names a file that cannot be read: {}", read.error().message);
    return read;
  }

  // PEM, so that a mix-up is reported here and not by the TLS library.
  Result<std::string> pem(const std::string& field) const {
    std::string read = TRY(bytes(field));
    if (!read.empty() && read.find("-----BEGIN ") == std::string::npos)
      return refuse(TRY(text(field + "-data")).empty() ? field : field + "-data",
                    "holds no PEM (it must contain -----BEGIN ...)");
    return read;
  }

 private:
  const Entry& entry_;
};

Result<void> read_cluster(const Entry& entry, Kubeconfig& into) {
  const Fields fields(entry);
  into.server = TRY(fields.text("server"));
  if (into.server.empty())
    return fields.refuse("server", "is missing; write https://HOST:PORT of the API server");
  if (!into.server.starts_with("https://") && !into.server.starts_with("http://"))
    return fields.refuse("server", "is {}; it must begin with https://", into.server);
  while (into.server.ends_with('/')) into.server.pop_back();
  into.insecure_skip_tls_verify = TRY(fields.flag("insecure-skip-tls-verify"));
  into.tls_server_name = TRY(fields.text("tls-server-name"));
  into.proxy = TRY(fields.text("proxy-url"));
  into.certificate_authority = TRY(fields.pem("certificate-authority"));
  if (TRY(fields.text("certificate-authority-data")).empty())
    into.certificate_authority_file = TRY(fields.path("certificate-authority"));
  if (into.insecure_skip_tls_verify && !into.certificate_authority.empty())
    return fields.refuse("insecure-skip-tls-verify",
                         "is true beside a certificate authority; keep one of the two");
  return {};
}

Result<void> read_token(const Fields& fields, Kubeconfig& into) {
  into.token = TRY(fields.text("token"));
  into.token_file = TRY(fields.path("tokenFile"));
  if (into.token_file.empty()) return {};
  Result<std::string> read = read_token_file(into.token_file);
  if (!read) return fields.refuse("tokenFile", "cannot be used: {}", read.error().message);
  into.token = *std::move(read);
  return {};
}

Result<void> read_impersonation(const Fields& fields, Kubeconfig& into) {
  into.impersonate = TRY(fields.text("as"));
  into.impersonate_uid = TRY(fields.text("as-uid"));
  into.impersonate_groups = TRY(fields.texts("as-groups"));
  if (fields.has("as-user-extra"))
    return fields.refuse("as-user-extra", "is not understood; leave it out, or use a token");
  const std::string_view rest = !into.impersonate_uid.empty()      ? "as-uid"
                                : !into.impersonate_groups.empty() ? "as-groups"
                                                                   : "";
  if (!rest.empty() && into.impersonate.empty())
    return fields.refuse(rest, "names no user to act as; add as: USER");
  return {};
}

Result<void> read_user(const Entry& entry, Kubeconfig& into) {
  const Fields fields(entry);
  for (const std::string_view plugin : {"exec", "auth-provider"})
    if (fields.has(plugin))
      return fields.refuse(plugin,
                           "is a login program, and Muster runs none; give the user a token "
                           "instead, e.g. the one that `kubectl create token` prints");
  if (fields.has("username"))
    return fields.refuse("username",
                         "is password login, which Kubernetes no longer has; use a token or a "
                         "client certificate");
  into.client_certificate = TRY(fields.pem("client-certificate"));
  into.client_key = TRY(fields.pem("client-key"));
  if (into.client_certificate.empty() != into.client_key.empty())
    return fields.refuse(into.client_key.empty() ? "client-key" : "client-certificate",
                         "is missing; certificate and key go together");
  if (TRY(fields.text("client-certificate-data")).empty())
    into.client_certificate_file = TRY(fields.path("client-certificate"));
  if (TRY(fields.text("client-key-data")).empty())
    into.client_key_file = TRY(fields.path("client-key"));
  TRY(read_impersonation(fields, into));
  return read_token(fields, into);
}

Result<const Entry*> look_up(const Entries& entries, const Fields& context,
                             std::string_view field) {
  const std::string name = TRY(context.text(field));
  if (name.empty()) return context.refuse(field, "is missing; {}", known_names(entries));
  const auto found = entries.find(name);
  if (found == entries.end())
    return context.refuse(field, "names {}, which is not defined; {}", name, known_names(entries));
  return &found->second;
}

}  // namespace

std::string_view authority_of(std::string_view server) {
  const std::size_t start = server.find("://") + 3;
  return server.substr(start, server.find('/', start) - start);
}

Result<std::string> read_pem_file(const std::string& path) { return read_text(path); }

Result<std::string> read_token_file(const std::string& path) {
  std::string token = TRY(read_text(path));
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  if (token.empty()) return fail(Reason::Invalid, "{} is empty", path);
  return token;
}

KubeconfigSources kubeconfig_sources(std::string_view flag, std::string_view listed,
                                     std::string_view home) {
  KubeconfigSources sources;
  if (!flag.empty()) {
    sources.files.emplace_back(flag);
    return sources;
  }
  sources.may_be_missing = true;
  while (!listed.empty()) {
    const std::size_t end = std::min(listed.find(':'), listed.size());
    if (end > 0) sources.files.emplace_back(listed.substr(0, end));
    listed.remove_prefix(std::min(end + 1, listed.size()));
  }
  if (sources.files.empty()) sources.files.push_back(fmt::format("{}/.kube/config", home));
  return sources;
}

Result<Kubeconfig> load_kubeconfig(const KubeconfigSources& sources, std::string_view context) {
  const Merged merged = TRY(merge_files(sources));
  const std::string files = fmt::format("{}", fmt::join(merged.files, ":"));
  Kubeconfig chosen;
  chosen.context = context.empty() ? merged.current_context : std::string(context);
  if (chosen.context.empty())
    return fail(Reason::Invalid,
                "kubeconfig {}: current-context is not set; choose one with --context or `kubectl "
                "config use-context` ({})",
                files, known_names(merged.contexts));
  const auto found = merged.contexts.find(chosen.context);
  if (found == merged.contexts.end())
    return fail(Reason::NotFound, "kubeconfig {}: {} {}, but contexts has no such name; {}", files,
                context.empty() ? "current-context is" : "--context says", chosen.context,
                known_names(merged.contexts));
  const Fields fields(found->second);
  chosen.name_space = TRY(fields.text("namespace"));
  const Entry* const cluster = TRY(look_up(merged.clusters, fields, "cluster"));
  TRY(read_cluster(*cluster, chosen));
  if (!fields.has("user")) return chosen;  // anonymous, as kubectl allows
  const Entry* const user = TRY(look_up(merged.users, fields, "user"));
  TRY(read_user(*user, chosen));
  return chosen;
}

Result<Kubeconfig> in_cluster_config(std::string_view host, std::string_view port,
                                     const std::string& folder) {
  if (host.empty() || port.empty())
    return fail(Reason::Invalid,
                "this is no pod of a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
                "are not set; name a kubeconfig instead");
  Kubeconfig config;
  config.context = "in-cluster";
  const bool is_v6 = host.find(':') != std::string_view::npos;
  config.server = fmt::format("https://{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
  config.token_file = folder + "/token";
  config.token = TRY(read_token_file(config.token_file));
  config.certificate_authority_file = folder + "/ca.crt";
  config.certificate_authority = TRY(read_text(config.certificate_authority_file));
  // Only a default, so that a pod without it still works.
  if (const Result<std::string> name_space = read_text(folder + "/namespace"))
    config.name_space = *name_space;
  return config;
}

}  // namespace muster::client
