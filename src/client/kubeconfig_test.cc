#include "client/kubeconfig.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace muster::client {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlain = R"(
apiVersion: v1
kind: Config
current-context: dev
contexts:
- name: dev
  context: {cluster: near, user: me, namespace: team-a}
- name: prod
  context: {cluster: far, user: robot}
- name: nobody
  context: {cluster: near}
clusters:
- name: near
  cluster: {server: "https://127.0.0.1:6443/", certificate-authority-data: LS0tLS1CRUdJTiBDQQ==}
- name: far
  cluster: {server: https://far, insecure-skip-tls-verify: true, tls-server-name: kubernetes}
users:
- name: me
  user: {client-certificate: pki/me.crt, client-key-data: LS0tLS1CRUdJTiBLRVk=}
- name: robot
  user: {token: stale, tokenFile: token}
)";

class KubeconfigTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "muster-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directory(root_ / "pki");
    put("pki/me.crt", "-----BEGIN CERTIFICATE");
    put("token", "fresh\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string put(const std::string& name, const std::string& text) {
    std::ofstream(root_ / name) << text;
    return root_ / name;
  }
  Result<Kubeconfig> load(const std::string& text, std::string_view context = "") {
    return load_kubeconfig({.files = {put("config", text)}}, context);
  }
  // The complaint about a file, without the folder's name.
  std::string complaint(const std::string& text, std::string_view context = "") {
    const Result<Kubeconfig> loaded = load(text, context);
    if (loaded) return "no complaint";
    std::string message = loaded.error().message;
    const std::string folder = root_.string() + "/";
    for (std::size_t at = message.find(folder); at != std::string::npos; at = message.find(folder))
      message.erase(at, folder.size());
    return message;
  }

  fs::path root_;
};

// A file with one context; cluster and user are the given YAML mappings.
std::string one(const std::string& cluster, const std::string& user) {
  return "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
         "clusters: [{name: k, cluster: " +
         cluster + "}]\nusers: [{name: u, user: " + user + "}]\n";
}

TEST_F(KubeconfigTest, TakesTheCurrentContextWithFilesBesideIt) {
  const Result<Kubeconfig> config = load(kPlain);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->context, "dev");
  EXPECT_EQ(config->server, "https://127.0.0.1:6443");
  EXPECT_EQ(config->name_space, "team-a");
  EXPECT_EQ(config->certificate_authority, "-----BEGIN CA");
  EXPECT_EQ(config->certificate_authority_file, "") << "it stands in the kubeconfig itself";
  EXPECT_EQ(config->client_certificate, "-----BEGIN CERTIFICATE");
  EXPECT_EQ(config->client_key, "-----BEGIN KEY");
  EXPECT_EQ(config->client_certificate_file, root_ / "pki/me.crt");
  EXPECT_EQ(config->client_key_file, "") << "it stands in the kubeconfig itself";
  EXPECT_FALSE(config->insecure_skip_tls_verify);
}

TEST_F(KubeconfigTest, TakesANamedContextAndTheTokenOfItsFile) {
  const Result<Kubeconfig> config = load(kPlain, "prod");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->token, "fresh");
  EXPECT_EQ(config->token_file, root_ / "token");
  EXPECT_EQ(config->tls_server_name, "kubernetes");
  EXPECT_TRUE(config->insecure_skip_tls_verify);
  EXPECT_EQ(config->name_space, "");
}

TEST_F(KubeconfigTest, AnAuthorityInAFileIsReadAndItsPlaceKept) {
  const Result<Kubeconfig> config =
      load(one("{server: https://x, certificate-authority: pki/me.crt}", "{}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->certificate_authority, "-----BEGIN CERTIFICATE");
  EXPECT_EQ(config->certificate_authority_file, root_ / "pki/me.crt");
}

TEST_F(KubeconfigTest, AContextWithoutUserIsAnonymous) {
  const Result<Kubeconfig> config = load(kPlain, "nobody");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->client_certificate, "");
  EXPECT_EQ(config->token, "");
}

TEST_F(KubeconfigTest, TheFirstFileThatNamesSomethingWins) {
  const std::string first = put("first",
                                "contexts: [{name: dev, context: {cluster: far, user: robot}}]\n"
                                "users: [{name: robot, user: {token: mine}}]\n");
  const std::string second = put("second", kPlain);
  const Result<Kubeconfig> config =
      load_kubeconfig({.files = {first, root_ / "absent", second}, .may_be_missing = true}, "");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->context, "dev");
  EXPECT_EQ(config->server, "https://far");
  EXPECT_EQ(config->token, "mine");
}

TEST_F(KubeconfigTest, TheFirstCurrentContextWinsWhateverLaterFilesSay) {
  const std::string first = put("first", "current-context: prod\n");
  const std::string second = put("second", kPlain);
  const std::string last = put("last", "kind: Config\n");
  const Result<Kubeconfig> config = load_kubeconfig({.files = {first, second, last}}, "");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->context, "prod");
}

TEST_F(KubeconfigTest, SaysWhatIsWrongAndWhere) {
  const std::string cluster = "{server: https://x}";
  EXPECT_EQ(complaint("a: [b").find("kubeconfig config is no YAML: "), 0U);
  EXPECT_EQ(complaint("kind: Pod"),
            "config is no kubeconfig: it must be a mapping with kind: Config; `kubectl config view "
            "--raw` prints one");
  EXPECT_EQ(complaint("clusters: x"),
            "kubeconfig config: clusters must be a list of {name, cluster}");
  EXPECT_EQ(complaint("users: [{user: {}}]"),
            "kubeconfig config: users[0].name is missing; every entry needs one");
  EXPECT_EQ(complaint("contexts: [{name: a}, {name: b}]"),
            "kubeconfig config: current-context is not set; choose one with --context or `kubectl "
            "config use-context` (there are a, b)");
  EXPECT_EQ(complaint(kPlain, "test"),
            "kubeconfig config: --context says test, but contexts has no such name; there are dev, "
            "nobody, prod");
  EXPECT_EQ(
      complaint("current-context: x"),
      "kubeconfig config: current-context is x, but contexts has no such name; there is none");
  EXPECT_EQ(
      complaint("current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
                "clusters: [{name: l}]"),
      "kubeconfig config: contexts[0].context.cluster names k, which is not defined; there is "
      "l");
  EXPECT_EQ(complaint(one("{}", "{}")),
            "kubeconfig config: clusters[0].cluster.server is missing; write https://HOST:PORT of "
            "the API server");
  EXPECT_EQ(complaint(one("{server: x}", "{}")),
            "kubeconfig config: clusters[0].cluster.server is x; it must begin with https://");
  EXPECT_EQ(
      complaint(one("{server: https://x, insecure-skip-tls-verify: maybe}", "{}")),
      "kubeconfig config: clusters[0].cluster.insecure-skip-tls-verify must be true or false");
  EXPECT_EQ(complaint(one("{server: https://x, certificate-authority-data: '#'}", "{}")),
            "kubeconfig config: clusters[0].cluster.certificate-authority-data is no base64; "
            "`base64 -w0 FILE` writes it");
  EXPECT_EQ(complaint(one("{server: https://x, certificate-authority: token}", "{}")),
            "kubeconfig config: clusters[0].cluster.certificate-authority holds no PEM (it must "
            "contain -----BEGIN ...)");
  EXPECT_EQ(complaint(one(cluster, "{token: 12}")),
            "kubeconfig config: users[0].user.token must be text; put it in quotes");
  EXPECT_EQ(complaint(one(cluster, "{client-certificate: pki/me.crt}")),
            "kubeconfig config: users[0].user.client-key is missing; certificate and key go "
            "together");
  EXPECT_EQ(complaint(one(cluster, "{client-certificate: pki/you.crt}")),
            "kubeconfig config: users[0].user.client-certificate names a file that cannot be read: "
            "pki/you.crt: No such file or directory");
  EXPECT_EQ(complaint(one(cluster, "{tokenFile: pki}")),
            "kubeconfig config: users[0].user.tokenFile cannot be used: pki: Is a "
            "directory");
  EXPECT_EQ(complaint(one(cluster, "{exec: {command: login}}")),
            "kubeconfig config: users[0].user.exec is a login program, and Muster runs none; give "
            "the user a token instead, e.g. the one that `kubectl create token` prints");
}

TEST_F(KubeconfigTest, SaysWhomToActAsAndWhatStandsBetween) {
  const auto read = load(one("{server: https://x, proxy-url: http://proxy:3128}",
                             "{token: t, as: jane, as-uid: u-1, as-groups: [ops, dev]}"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->proxy, "http://proxy:3128");
  EXPECT_EQ(read->impersonate, "jane");
  EXPECT_EQ(read->impersonate_uid, "u-1");
  EXPECT_EQ(read->impersonate_groups, (std::vector<std::string>{"ops", "dev"}));
  const std::string at = "kubeconfig config: users[0].user.";
  const auto refused = [&](const std::string& user) {
    return complaint(one("{server: https://x}", user));
  };
  EXPECT_EQ(refused("{as-groups: [ops]}"), at + "as-groups names no user to act as; add as: USER");
  EXPECT_EQ(refused("{as: jane, as-groups: ops}"), at + "as-groups must be a list");
  EXPECT_EQ(refused("{as: jane, as-user-extra: {a: [b]}}"),
            at + "as-user-extra is not understood; leave it out, or use a token");
}

TEST_F(KubeconfigTest, AFileThatWasAskedForMustExist) {
  const std::string absent = root_ / "absent";
  const Result<Kubeconfig> asked = load_kubeconfig({.files = {absent}}, "");
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message,
            "cannot read the kubeconfig " + absent + ": No such file or directory");
  const Result<Kubeconfig> by_default =
      load_kubeconfig({.files = {absent}, .may_be_missing = true}, "");
  ASSERT_FALSE(by_default);
  EXPECT_EQ(by_default.error().message,
            "there is no kubeconfig (" + absent +
                " does not exist); name one with --kubeconfig FILE or the environment variable "
                "KUBECONFIG. `muster up` prints where it wrote its own");
}

TEST_F(KubeconfigTest, RefusesWhatCannotGoTogether) {
  const std::string cluster = "kubeconfig config: clusters[0].cluster.";
  const std::string user = "kubeconfig config: users[0].user.";
  const std::string plain = "{server: https://x}";
  EXPECT_EQ(complaint(one("{server: https://x, insecure-skip-tls-verify: true, "
                          "certificate-authority: pki/me.crt}",
                          "{}")),
            cluster +
                "insecure-skip-tls-verify is true beside a certificate authority; keep one of the "
                "two");
  EXPECT_EQ(complaint(one(plain, "{client-key-data: LS0tLS1CRUdJTiBLRVk=}")),
            user + "client-certificate is missing; certificate and key go together");
  EXPECT_EQ(complaint(one(plain, "{client-key-data: aGVsbG8=}")),
            user + "client-key-data holds no PEM (it must contain -----BEGIN ...)");
  EXPECT_EQ(complaint(one(plain, "{auth-provider: {name: gcp}}")),
            user +
                "auth-provider is a login program, and Muster runs none; give the user a token "
                "instead, e.g. the one that `kubectl create token` prints");
  EXPECT_EQ(complaint(one(plain, "{username: jane, password: x}")),
            user +
                "username is password login, which Kubernetes no longer has; use a token or a "
                "client certificate");
  EXPECT_EQ(complaint(one(plain, "{as-uid: u-1, as-groups: [ops]}")),
            user + "as-uid names no user to act as; add as: USER");
  EXPECT_EQ(complaint(one(plain, "{as: jane, as-groups: [7]}")),
            user + "as-groups must be a list of texts");
  EXPECT_EQ(complaint("current-context: c\ncontexts: [{name: c, context: {user: u}}]\n"),
            "kubeconfig config: contexts[0].context.cluster is missing; there is none");
  EXPECT_EQ(complaint("current-context: c\n"
                      "contexts: [{name: b}, {name: c, context: {cluster: k, user: u}}]\n"
                      "clusters: [{name: k, cluster: {server: https://x}}]\n"),
            "kubeconfig config: contexts[1].context.user names u, which is not defined; there is "
            "none");
}

TEST_F(KubeconfigTest, AnEmptyFileHasNothingAndOtherTextIsNoKubeconfig) {
  const std::string no_context =
      "kubeconfig config: current-context is not set; choose one with --context or `kubectl config "
      "use-context` (there is none)";
  EXPECT_EQ(complaint(""), no_context);
  EXPECT_EQ(complaint("clusters: null\nusers:\n"), no_context);
  EXPECT_EQ(complaint("just text"),
            "config is no kubeconfig: it must be a mapping with kind: Config; `kubectl config view "
            "--raw` prints one");
}

TEST_F(KubeconfigTest, WhatStandsInTheFileItselfWinsOverTheFileItNames) {
  const Result<Kubeconfig> config = load(
      one("{server: 'http://x//', certificate-authority-data: LS0tLS1CRUdJTiBDQQ==, "
          "certificate-authority: pki/absent.crt}",
          "{client-certificate-data: LS0tLS1CRUdJTiBDQQ==, client-certificate: pki/absent.crt, "
          "client-key: pki/me.crt, token: mine}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "http://x");
  EXPECT_EQ(config->certificate_authority, "-----BEGIN CA");
  EXPECT_EQ(config->certificate_authority_file, "");
  EXPECT_EQ(config->client_certificate, "-----BEGIN CA");
  EXPECT_EQ(config->client_certificate_file, "");
  EXPECT_EQ(config->client_key, "-----BEGIN CERTIFICATE");
  EXPECT_EQ(config->client_key_file, root_ / "pki/me.crt");
  EXPECT_EQ(config->token, "mine");
  EXPECT_EQ(config->token_file, "");
}

TEST_F(KubeconfigTest, ComplaintsAboutSeveralFilesNameThemAll) {
  const std::string first = put("first", "kind: Config\n");
  const std::string second = put("second", "kind: Config\n");
  const auto chosen = load_kubeconfig({.files = {first, second}}, "dev");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().message,
            "kubeconfig " + first + ":" + second +
                ": --context says dev, but contexts has no such name; there is none");
  const auto absent =
      load_kubeconfig({.files = {root_ / "a", root_ / "b"}, .may_be_missing = true}, "");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().message.find("there is no kubeconfig (" + (root_ / "a").string() + ", " +
                                        (root_ / "b").string() + " do not exist); "),
            0U)
      << absent.error().message;
}

TEST_F(KubeconfigTest, InAPodItReadsWhatIsMountedThere) {
  put("ca.crt", "-----BEGIN CA");
  const auto without = in_cluster_config("10.0.0.1", "443", root_);
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_EQ(without->name_space, "") << "that file may be missing";
  put("namespace", "team-a");
  const auto config = in_cluster_config("10.0.0.1", "443", root_);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->context, "in-cluster");
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token, "fresh");
  EXPECT_EQ(config->token_file, root_ / "token");
  EXPECT_EQ(config->certificate_authority, "-----BEGIN CA");
  EXPECT_EQ(config->certificate_authority_file, root_ / "ca.crt");
  EXPECT_EQ(config->name_space, "team-a");
  EXPECT_EQ(in_cluster_config("fd00::1", "443", root_)->server, "https://[fd00::1]:443");
}

TEST_F(KubeconfigTest, InAPodNothingButTheNamespaceMayBeMissing) {
  for (const auto& [host, port] : {std::pair{"", "443"}, std::pair{"10.0.0.1", ""}}) {
    const auto config = in_cluster_config(host, port, root_);
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().message,
              "this is no pod of a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT "
              "are not set; name a kubeconfig instead");
  }
  EXPECT_FALSE(in_cluster_config("10.0.0.1", "443", root_)) << "there is no ca.crt";
  put("ca.crt", "-----BEGIN CA");
  put("token", " \r\n\t");
  const auto config = in_cluster_config("10.0.0.1", "443", root_);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message, (root_ / "token").string() + " is empty");
}

TEST(AuthorityOfTest, IsHostAndPortOfAnAddress) {
  EXPECT_EQ(authority_of("https://host:6443"), "host:6443");
  EXPECT_EQ(authority_of("http://host/some/path"), "host");
}

TEST(KubeconfigSourcesTest, FlagThenVariableThenHome) {
  using Files = std::vector<std::string>;
  EXPECT_EQ(kubeconfig_sources("f", "a:b", "/home/x").files, Files{"f"});
  EXPECT_FALSE(kubeconfig_sources("f", "a:b", "/home/x").may_be_missing);
  EXPECT_EQ(kubeconfig_sources("", "a::b:", "/home/x").files, (Files{"a", "b"}));
  EXPECT_EQ(kubeconfig_sources("", "", "/home/x").files, Files{"/home/x/.kube/config"});
  EXPECT_TRUE(kubeconfig_sources("", "", "/home/x").may_be_missing);
}

}  // namespace
}  // namespace muster::client
