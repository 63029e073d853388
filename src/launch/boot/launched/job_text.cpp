#include "launch/boot/launched/job_text.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <cstdio>

#include "launch/boot/job.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {
namespace {

constexpr std::string_view format_name = "heddle1";
constexpr char between = '/', inside = ',';

std::string hexadecimal(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(number));
  return text;
}

template <class Number>
bool read_number(std::string_view text, Number& number, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    parts.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

// Names may not contain their separators.
std::string plain(std::string_view text) {
  std::string result(text.substr(0, 64));
  for (char& c : result)
    if (c <= ' ' || c > '~' || c == between || c == inside || c == ';' || c == '=') c = '_';
  return result;
}

}  // namespace

std::string own_host() {
  char name[256] = "?";
  (void)gethostname(name, sizeof name - 1);
  return plain(name);
}

std::string own_kind() {
  utsname machine{};
  (void)uname(&machine);
  const bool little = std::endian::native == std::endian::little;
  return std::string(HEDDLE_VERSION) + inside + std::to_string(job_layout) + inside + plain(machine.machine) + inside +
         (little ? "little" : "big");
}

std::string described(std::string_view kind) {
  std::vector<std::string> parts = split(kind, inside);
  parts.resize(4);
  return "Heddle " + parts[0] + " (segment layout " + parts[1] + ", " + parts[2] + ", " + parts[3] + "-endian)";
}

std::string JobText::encode() const {
  std::string text(format_name);
  for (const std::string& part : {kind, host, hexadecimal(machine), std::to_string(nodes), hexadecimal(secret.low),
                                  hexadecimal(secret.high), socket, std::to_string(port)})
    text += between + part;
  text += between;
  bool first = true;
  for (const std::string& address : addresses) {
    if (text.size() + address.size() + 1 > Wireup::text_bytes) break;
    if (!first) text += inside;
    text += address;
    first = false;
  }
  return text;
}

std::optional<JobText> JobText::decode(std::string_view text) {
  const std::vector<std::string> parts = split(text, between);
  JobText job;
  if (parts.size() != 10 || parts[0] != format_name || !read_number(parts[3], job.machine, 16) ||
      !read_number(parts[4], job.nodes, 10) || !read_number(parts[5], job.secret.low, 16) ||
      !read_number(parts[6], job.secret.high, 16) || !read_number(parts[8], job.port, 10) || job.nodes < 1 ||
      job.port < 0 || job.port > 65535)
    return std::nullopt;
  job.kind = parts[1];
  job.host = parts[2];
  job.socket = parts[7];
  job.addresses = split(parts[9], inside);
  return job;
}

}  // namespace heddle::boot
