#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

// Protobuf's wire format: fields by number, without any idea of what they mean.
namespace muster::api::wire {

enum class Type : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

// One field on the wire.
struct Token {
  std::uint32_t number = 0;
  Type type = Type::Varint;
  std::uint64_t integer = 0;  // of Varint, Fixed64 and Fixed32
  std::string_view bytes;     // of Bytes
};

inline tl::unexpected<Error> malformed() {
  return fail(Reason::BadRequest, "the body is no valid protobuf message");
}

// Steps through a message, never beyond its end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }

  std::optional<Token> next() {
    const auto key = varint();
    if (!key || *key >> 3U == 0 || *key >> 32U != 0) return std::nullopt;
    Token token;
    token.number = static_cast<std::uint32_t>(*key >> 3U);
    token.type = static_cast<Type>(*key & 7U);
    switch (token.type) {
      case Type::Varint: return finish(token, varint());
      case Type::Fixed64: return finish(token, fixed(8));
      case Type::Fixed32: return finish(token, fixed(4));
      case Type::Bytes: break;
      default: return std::nullopt;  // groups, which nobody writes
    }
    const auto size = varint();
    if (!size || *size > rest_.size()) return std::nullopt;
    token.bytes = rest_.substr(0, *size);
    rest_.remove_prefix(*size);
    return token;
  }

 private:
  static std::optional<Token> finish(Token token, std::optional<std::uint64_t> integer) {
    if (!integer) return std::nullopt;
    token.integer = *integer;
    return token;
  }

  std::optional<std::uint64_t> fixed(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    rest_.remove_prefix(size);
    return value;
  }

  std::string_view rest_;
};

// The fields of a small helper message (Time, Quantity, IntOrString, a map entry), by number.
struct SmallMessage {
  Token fields[4];
  bool present[4] = {};

  static std::optional<SmallMessage> read(std::string_view bytes) {
    SmallMessage message;
    for (Reader reader(bytes); !reader.done();) {
      const auto token = reader.next();
      if (!token) return std::nullopt;
      if (token->number >= 4) continue;
      message.fields[token->number] = *token;
      message.present[token->number] = true;
    }
    return message;
  }
};

}  // namespace muster::api::wire
