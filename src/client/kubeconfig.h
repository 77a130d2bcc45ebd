#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Where a Kubernetes API server is and which user to be, from kubectl's configuration files.
// Blocking reads of small files: for programs and their start, never for a component.
namespace muster::client {

// One context of a kubeconfig, resolved. Certificates and keys are PEM text, already read, whether
// they were in the file or beside it.
struct Kubeconfig {
  std::string context;                // its name; empty for a file without contexts
  std::string server;                 // https://HOST[:PORT][/PATH], no slash at the end
  std::string name_space;             // empty if the context names none
  std::string certificate_authority;  // empty: the certificates the system trusts
  std::string client_certificate;     // empty, or with its key
  std::string client_key;
  // The files the three were read from, if any: such files get replaced.
  std::string certificate_authority_file;
  std::string client_certificate_file;
  std::string client_key_file;
  std::string token;            // empty, or sent in the Authorization header
  std::string token_file;       // file that `token` was read from, if any: it gets replaced
  std::string tls_server_name;  // empty: the host of `server`
  bool insecure_skip_tls_verify = false;
  std::string proxy;  // what stands between, http:// or socks5://; empty: the environment's
  // The user to act as; empty: oneself.
  std::string impersonate;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
};

// "HOST[:PORT]" of a server's address.
std::string_view authority_of(std::string_view server);

// Which files to read, as kubectl chooses them: `flag` alone if it is not empty; else the list in
// the environment variable KUBECONFIG (`listed`, separated by colons) if it is not empty; else
// .kube/config in the home directory. A file that the list or the default names may be missing.
struct KubeconfigSources {
  std::vector<std::string> files;
  bool may_be_missing = false;
};
KubeconfigSources kubeconfig_sources(std::string_view flag, std::string_view listed,
                                     std::string_view home);

// Reads the files and merges them, the first that names something winning. `context` chooses one;
// empty: the current one. Errors name the file, the field and what to do.
Result<Kubeconfig> load_kubeconfig(const KubeconfigSources& sources, std::string_view context);

// What a pod finds about the cluster it runs in: the two variables of its environment, and the
// folder its service account is mounted at (kServiceAccountFolder).
inline constexpr const char* kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";
Result<Kubeconfig> in_cluster_config(std::string_view host, std::string_view port,
                                     const std::string& folder);

// The text of a file: a certificate or a key.
Result<std::string> read_pem_file(const std::string& path);

// The token in a file, without the blanks at its end. Fails if there is none.
Result<std::string> read_token_file(const std::string& path);

}  // namespace muster::client
