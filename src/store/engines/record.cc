#include "store/engines/record.h"

#include <boost/endian/conversion.hpp>

#include <limits>

namespace muster::store {
namespace {

constexpr std::uint8_t kWithBytes = 1;
constexpr std::uint8_t kWithDeposit = 2;

template <typename T>
void put_number(T number, std::string& out) {
  unsigned char bytes[sizeof(T)];
  boost::endian::endian_store<T, sizeof(T), boost::endian::order::big>(bytes, number);
  out.append(reinterpret_cast<const char*>(bytes), sizeof(T));
}

void put_size(std::string_view text, std::string& out) {
  CHECK(text.size() <= std::numeric_limits<std::uint32_t>::max());
  put_number(static_cast<std::uint32_t>(text.size()), out);
}

void put_text(std::string_view text, std::string& out) {
  put_size(text, out);
  out.append(text);
}

// Pops values off the front of a text; once something is missing, `good` stays false.
struct Reader {
  std::string_view rest;
  bool good = true;

  std::string_view pop(std::size_t size) {
    good = good && rest.size() >= size;
    if (!good) return {};
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }
  template <typename T>
  T number() {
    const std::string_view bytes = pop(sizeof(T));
    if (!good) return 0;
    return boost::endian::endian_load<T, sizeof(T), boost::endian::order::big>(
        reinterpret_cast<const unsigned char*>(bytes.data()));
  }
  std::string_view text() {
    const auto size = number<std::uint32_t>();
    return pop(size);
  }
};

}  // namespace

void encode_head(const Record& record, std::string& out) {
  out.clear();
  put_number(record.deposit ? kWithDeposit : kWithBytes, out);
  put_number(static_cast<std::uint8_t>(record.type), out);
  put_number(record.block_end.value, out);
  put_number(record.supersedes.value, out);
  for (const std::string_view text : {record.key, record.group, record.kind, record.version})
    put_text(text, out);
  if (!record.deposit) return put_size(record.bytes, out);
  CHECK_THAT(record.bytes.empty(), "{} is written twice in one record", record.key);
  put_number(record.deposit->number, out);
  put_number(record.deposit->size, out);
  put_number(record.deposit->hash, out);
}

void encode(const Record& record, std::string& out) {
  encode_head(record, out);
  out.append(record.bytes);
}

std::optional<Record> decode(std::string_view text) {
  Reader reader{.rest = text};
  const auto format = reader.number<std::uint8_t>();
  if (format != kWithBytes && format != kWithDeposit) return std::nullopt;
  const auto type = reader.number<std::uint8_t>();
  if (type > static_cast<std::uint8_t>(Change::Type::Deleted)) return std::nullopt;
  Record record;
  record.type = static_cast<Change::Type>(type);
  record.block_end.value = reader.number<std::int64_t>();
  record.supersedes.value = reader.number<std::int64_t>();
  record.key = reader.text();
  record.group = reader.text();
  record.kind = reader.text();
  record.version = reader.text();
  if (format == kWithDeposit) {
    Deposit& deposit = record.deposit.emplace();
    deposit.number = reader.number<std::int64_t>();
    deposit.size = reader.number<std::uint32_t>();
    deposit.hash = reader.number<std::uint64_t>();
  } else {
    record.bytes = reader.text();
  }
  if (!reader.good || !reader.rest.empty()) return std::nullopt;
  return record;
}

std::string encode_numbers(std::initializer_list<std::int64_t> numbers) {
  std::string out;
  for (const std::int64_t number : numbers) put_number(number, out);
  return out;
}

bool decode_numbers(std::string_view text, std::initializer_list<std::int64_t*> numbers) {
  Reader reader{.rest = text};
  for (std::int64_t* number : numbers) *number = reader.number<std::int64_t>();
  return reader.good && reader.rest.empty();
}

std::string encode_revision(Revision revision) { return encode_numbers({revision.value}); }

std::optional<Revision> decode_revision(std::string_view text) {
  Revision revision;
  if (!decode_numbers(text, {&revision.value}) || revision.value < 0) return std::nullopt;
  return revision;
}

}  // namespace muster::store
