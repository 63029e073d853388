#include "launch/mpiexec/words.hpp"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "launch/boot/edit_distance.hpp"
#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

int whole_number(const std::string& text) {
  int value = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end && value >= 0 ? value : -1;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    if (to > from) pieces.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return pieces;
}

std::string printable(const std::string& text) {
  std::string shown = text;
  std::ranges::replace_if(
      shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

std::vector<std::string> split_quoted(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      in_word = true;
    } else if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (c == '#' && !in_word) {
      break;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = std::min<std::size_t>(3, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = boot::edit_distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

std::string name_of(const std::string& assignment) { return assignment.substr(0, assignment.find('=')); }

std::string value_in(const std::vector<std::string>& environment, const std::string& name) {
  const auto found = std::ranges::find(environment, name, name_of);
  return found != environment.end() ? found->substr(name.size() + 1) : "";
}

void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& entry) { return name_of(entry) == name; });
  environment.push_back(name + '=' + value);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string own_folder() {
  std::string program(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size());
  program.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1);
}

std::string bytes_of_file(const std::string& path, std::size_t most) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "re"), fclose);
  std::string bytes;
  char buffer[16384];
  while (file && bytes.size() < most) {
    const std::size_t got = fread(buffer, 1, std::min(sizeof buffer, most - bytes.size()), file.get());
    if (got == 0) break;
    bytes.append(buffer, got);
  }
  return bytes;
}

std::vector<std::string> lines_of_file(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "re"), fclose);
  struct stat status;
  if (!file || (fstat(fileno(file.get()), &status) == 0 && S_ISDIR(status.st_mode)))
    throw UsageError("cannot read the file '" + path + "': " + strerror(file ? EISDIR : errno));
  std::vector<std::string> lines(1);
  for (int c = getc(file.get()); c != EOF; c = getc(file.get())) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += static_cast<char>(c);
  }
  return lines;
}

}  // namespace heddle::mpiexec
