#include "launch/boot/pmi/message.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace heddle::boot {
namespace {

constexpr std::size_t length_digits = 6;

bool number_in(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Words without an equals sign are remarks.
PmiMessage words_of_line(std::string_view line) {
  PmiMessage message;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos)
      message.add(std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)));
  }
  return message;
}

PmiMessage words_of_body(std::string_view body) {
  PmiMessage message;
  while (!body.empty()) {
    const std::size_t equals = body.find('=');
    if (equals == std::string_view::npos) break;
    std::string value;
    std::size_t at = equals + 1;
    for (; at < body.size(); ++at) {
      if (body[at] == ';') {
        if (at + 1 >= body.size() || body[at + 1] != ';') break;
        ++at;
      }
      value += body[at];
    }
    message.add(std::string(body.substr(0, equals)), std::move(value));
    body.remove_prefix(std::min(at + 1, body.size()));
  }
  return message;
}

}  // namespace

std::string_view PmiMessage::at(std::string_view key) const {
  const auto found = std::find_if(words_.begin(), words_.end(), [&](const auto& word) { return word.first == key; });
  return found != words_.end() ? std::string_view(found->second) : std::string_view();
}

std::optional<int> PmiMessage::number(std::string_view key) const {
  int value = 0;
  if (!number_in(at(key), value)) return std::nullopt;
  return value;
}

std::string PmiMessage::encode(PmiVersion version) const {
  std::string text;
  for (const auto& [key, value] : words_) {
    if (version == PmiVersion::one) {
      if (!text.empty()) text += ' ';
      text.append(key).append(1, '=').append(value);
      continue;
    }
    text += key + '=';
    for (const char c : value) text.append(c == ';' ? 2 : 1, c);
    text += ';';
  }
  if (version == PmiVersion::one) return text + '\n';
  char length[16];
  std::snprintf(length, sizeof length, "%*zu", static_cast<int>(length_digits), text.size());
  return length + text;
}

std::optional<PmiMessage> PmiMessage::take(std::string& bytes, PmiVersion version, bool& broken) {
  broken = false;
  if (version == PmiVersion::one) {
    const std::size_t end = bytes.find('\n');
    broken = std::min(end, bytes.size()) > longest;
    if (broken || end == std::string::npos) return std::nullopt;
    PmiMessage message = words_of_line(std::string_view(bytes).substr(0, end));
    bytes.erase(0, end + 1);
    broken = message.command().empty();
    return message;
  }
  if (bytes.size() < length_digits) return std::nullopt;
  std::string_view digits = std::string_view(bytes).substr(0, length_digits);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  int length = 0;
  broken = !number_in(digits, length) || length <= 0 || static_cast<std::size_t>(length) > longest;
  if (broken || bytes.size() < length_digits + static_cast<std::size_t>(length)) return std::nullopt;
  PmiMessage message = words_of_body(std::string_view(bytes).substr(length_digits, static_cast<std::size_t>(length)));
  bytes.erase(0, length_digits + static_cast<std::size_t>(length));
  broken = message.command().empty();
  return message;
}

}  // namespace heddle::boot
