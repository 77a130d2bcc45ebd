#include "scheduler/config/config_errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/yaml_lines.h"

namespace muster::scheduler {

std::string ConfigErrors::at_line(std::string_view path, std::string sentence) const {
  const auto line = api::yaml_line_of(text_, path);
  return line ? fmt::format("line {}: {}", *line, sentence) : sentence;
}

void ConfigErrors::add(const std::string& path, std::string sentence) {
  found_.push_back(at_line(path, std::move(sentence)));
}

tl::unexpected<Error> ConfigErrors::fail() const {
  std::vector<std::string> all = found_;
  for (const Cause& cause : fields_.causes())
    all.push_back(at_line(cause.field, cause.field.empty()
                                           ? cause.message
                                           : fmt::format("{}: {}", cause.field, cause.message)));
  return muster::fail(Reason::Invalid, "{}", fmt::join(all, "; "));
}

}  // namespace muster::scheduler
