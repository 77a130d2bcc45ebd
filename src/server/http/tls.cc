#include "server/http/tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>

#include "base/check.h"

namespace muster::server {
namespace {

// --- A BIO over a socket. OpenSSL's own would raise SIGPIPE when the peer has gone.

int socket_of(BIO* bio) { return *static_cast<const int*>(BIO_get_data(bio)); }

int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(socket_of(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(socket_of(bio), data, static_cast<std::size_t>(size), 0);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long bio_control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

int bio_create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

BIO_METHOD* socket_bio_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "muster socket");
    CHECK(made != nullptr);
    BIO_meth_set_write(made, &bio_write);
    BIO_meth_set_read(made, &bio_read);
    BIO_meth_set_ctrl(made, &bio_control);
    BIO_meth_set_create(made, &bio_create);
    return made;
  }();
  return method;
}

// --- Callbacks of the handshake.

int choose_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned in_size, void* /*argument*/) {
  static constexpr std::array<unsigned char, 12> kOurs = {2,   'h', '2', 8,   'h', 't',
                                                          't', 'p', '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kOurs.data(), kOurs.size(), in, in_size) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// Set on a session whose client certificate does not hold. The handshake goes on, so that the
// client gets a 401 in words instead of an alert.
int invalid_certificate_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

int note_verification(int good, X509_STORE_CTX* store) {
  if (good != 1) {
    auto* ssl =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    static char marker = 0;
    SSL_set_ex_data(ssl, invalid_certificate_index(), &marker);
  }
  return 1;
}

tl::unexpected<Error> unusable(std::string_view what) {
  return fail(Reason::BadRequest, "{} cannot be used: {}", what, take_openssl_error());
}

// All values of a kind of name part, e.g. every O.
std::vector<std::string> name_parts(const X509_NAME* name, const ASN1_OBJECT* type) {
  std::vector<std::string> parts;
  for (int at = X509_NAME_get_index_by_OBJ(name, type, -1); at >= 0;
       at = X509_NAME_get_index_by_OBJ(name, type, at)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) continue;
    parts.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return parts;
}
std::vector<std::string> name_parts(const X509_NAME* name, int nid) {
  return name_parts(name, OBJ_nid2obj(nid));
}

// The part of a subject that holds a Kubernetes uid; empty unless there is exactly one.
std::string subject_uid(const X509_NAME* name) {
  static ASN1_OBJECT* const kType = OBJ_txt2obj("1.3.6.1.4.1.57683.2", 1);
  const std::vector<std::string> uids = name_parts(name, kType);
  return uids.size() == 1 ? uids.front() : "";
}

// SHA-256 of the certificate, in hex.
std::string fingerprint(const X509& certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  std::string out;
  if (X509_digest(&certificate, EVP_sha256(), digest.data(), &size) != 1) return out;
  for (unsigned i = 0; i < size; ++i) fmt::format_to(std::back_inserter(out), "{:02x}", digest[i]);
  return out;
}

}  // namespace

Result<TlsContext> TlsContext::make(const std::string& ca_certificate,
                                    const std::string& certificate,
                                    const std::string& private_key) {
  SslContextHandle context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const raw = context.get();
  if (raw == nullptr) return unusable("OpenSSL");
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                               SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(raw, 1);
  // Sessions are not resumed: clients keep connections, and who they are is judged on each.
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(raw, 0);
  if (SSL_CTX_set_cipher_list(raw, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
    return unusable("the cipher list");

  const CertificateHandle authority = TRY(read_certificate(ca_certificate));
  const CertificateHandle serving = TRY(read_certificate(certificate));
  const KeyHandle key = TRY(read_private_key(private_key));
  if (SSL_CTX_use_certificate(raw, serving.get()) != 1) return unusable("the serving certificate");
  if (SSL_CTX_use_PrivateKey(raw, key.get()) != 1) return unusable("the private key");
  if (X509_STORE_add_cert(SSL_CTX_get_cert_store(raw), authority.get()) != 1 ||
      SSL_CTX_add_client_CA(raw, authority.get()) != 1)
    return unusable("the CA certificate");

  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, &note_verification);
  SSL_CTX_set_alpn_select_cb(raw, &choose_protocol, nullptr);
  return TlsContext(std::move(context));
}

TlsSession::TlsSession(const TlsContext& context, int socket)
    : socket_(socket), ssl_(SSL_new(context.get())) {
  BIO* const bio = BIO_new(socket_bio_method());
  CHECK(ssl_ != nullptr);
  CHECK(bio != nullptr);
  BIO_set_data(bio, &socket_);
  SSL_set_bio(ssl_.get(), bio, bio);
  SSL_set_accept_state(ssl_.get());
}

Io TlsSession::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result == 1) return Io::Done;
  saw_plain_http_ = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_HTTP_REQUEST;
  return io_of(result);
}

Io TlsSession::read(std::span<char> into, std::size_t& moved) {
  moved = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(ssl_.get(), into.data(), into.size(), &moved);
  return result == 1 ? Io::Done : io_of(result);
}

Io TlsSession::write(std::string_view from, std::size_t& moved) {
  moved = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(ssl_.get(), from.data(), from.size(), &moved);
  return result == 1 ? Io::Done : io_of(result);
}

void TlsSession::close_notify() {
  // After a fatal error OpenSSL forbids SSL_shutdown.
  if (broken_ || SSL_is_init_finished(ssl_.get()) != 1) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
}

bool TlsSession::speaks_http2() const {
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &chosen, &size);
  return std::string_view(reinterpret_cast<const char*>(chosen), size) == "h2";
}

PeerCertificate TlsSession::peer() const {
  PeerCertificate peer;
  const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  if (certificate == nullptr) return peer;
  const X509_NAME* const name = X509_get_subject_name(certificate);
  std::vector<std::string> common_names = name_parts(name, NID_commonName);
  const bool holds = SSL_get_ex_data(ssl_.get(), invalid_certificate_index()) == nullptr &&
                     SSL_get_verify_result(ssl_.get()) == X509_V_OK && !common_names.empty() &&
                     !common_names.back().empty();
  peer.state = holds ? PeerCertificate::State::Valid : PeerCertificate::State::Invalid;
  if (!holds) return peer;
  // Go takes the last CN of a subject.
  peer.common_name = std::move(common_names.back());
  peer.organizations = name_parts(name, NID_organizationName);
  peer.uid = subject_uid(name);
  peer.fingerprint = fingerprint(*certificate);
  return peer;
}

Io TlsSession::io_of(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ: return Io::WantRead;
    case SSL_ERROR_WANT_WRITE: return Io::WantWrite;
    case SSL_ERROR_ZERO_RETURN: return Io::Closed;
    default: broken_ = true; return Io::Failed;
  }
}

}  // namespace muster::server
