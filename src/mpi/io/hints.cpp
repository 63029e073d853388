#include "mpi/io/hints.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::io {

namespace {

bool parse(std::string_view text, std::int64_t least, std::int64_t& value) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < least) return false;
  value = number;
  return true;
}

// For a length: no buffer is longer than that, whatever the hint.
constexpr std::int64_t longest = std::int64_t{1} << 30;
bool parse_length(std::string_view text, std::int64_t least, std::int64_t& value) {
  if (!parse(text, least, value)) return false;
  value = std::min(value, longest);
  return true;
}

bool parse(std::string_view text, int least, int& value) {
  std::int64_t number = 0;
  if (!parse(text, static_cast<std::int64_t>(least), number) || number > 1 << 30) return false;
  value = static_cast<int>(number);
  return true;
}

bool parse(std::string_view text, Choice& value) {
  if (text == "automatic") return value = Choice::automatic, true;
  if (text == "enable" || text == "true") return value = Choice::enable, true;
  if (text == "disable" || text == "false") return value = Choice::disable, true;
  return false;
}

std::string text_of(Choice choice) {
  return choice == Choice::automatic ? "automatic" : choice == Choice::enable ? "enable" : "disable";
}

constexpr int every_rank = 1 << 30;  // as cb_per_node

// "*:N": N on each node. Lists of host names mean nothing here.
bool parse_list(std::string_view text, int& per_node) {
  return text.starts_with("*:") && (text == "*:*" ? (per_node = every_rank, true) : parse(text.substr(2), 1, per_node));
}

std::string text_of_list(int per_node) {
  return per_node == 0 ? "" : per_node == every_rank ? "*:*" : "*:" + std::to_string(per_node);
}

// How a hint is read, and how it is told: empty when it is not set. A name that Open MPI has for a hint is not told.
// A bad value is ignored.
struct FileHint {
  KnownKey key;
  bool (*read)(Hints& hints, std::string_view text);
  std::string (*tell)(const Hints& hints);
};
using Text = std::string_view;

constexpr FileHint file_hints[] = {
    {"cb_buffer_size", [](Hints& h, Text t) { return parse_length(t, 4096, h.cb_buffer_size); },
     [](const Hints& h) { return std::to_string(h.cb_buffer_size); }},
    {"io_ompio_bytes_per_agg", [](Hints& h, Text t) { return parse_length(t, 4096, h.cb_buffer_size); }, nullptr},
    {"ind_rd_buffer_size", [](Hints& h, Text t) { return parse_length(t, 4096, h.read_buffer); },
     [](const Hints& h) { return std::to_string(h.read_buffer); }},
    {"ind_wr_buffer_size", [](Hints& h, Text t) { return parse_length(t, 4096, h.write_buffer); },
     [](const Hints& h) { return std::to_string(h.write_buffer); }},
    {"romio_cb_read", [](Hints& h, Text t) { return parse(t, h.cb_read); },
     [](const Hints& h) { return text_of(h.cb_read); }},
    {"romio_cb_write", [](Hints& h, Text t) { return parse(t, h.cb_write); },
     [](const Hints& h) { return text_of(h.cb_write); }},
    {"collective_buffering", [](Hints& h, Text t) { return parse(t, h.cb_read) && parse(t, h.cb_write); }, nullptr},
    {"romio_ds_read", [](Hints& h, Text t) { return parse(t, h.ds_read); },
     [](const Hints& h) { return text_of(h.ds_read); }},
    {"romio_ds_write", [](Hints& h, Text t) { return parse(t, h.ds_write); },
     [](const Hints& h) { return text_of(h.ds_write); }},
    {"cb_nodes", [](Hints& h, Text t) { return parse(t, 1, h.cb_nodes); },
     [](const Hints& h) { return h.cb_nodes != 0 ? std::to_string(h.cb_nodes) : ""; }},
    {"io_ompio_num_aggregators", [](Hints& h, Text t) { return parse(t, 1, h.cb_nodes); }, nullptr},
    {"cb_config_list", [](Hints& h, Text t) { return parse_list(t, h.cb_per_node); },
     [](const Hints& h) { return text_of_list(h.cb_per_node); }},
    {"striping_unit", [](Hints& h, Text t) { return parse_length(t, 1, h.striping_unit); },
     [](const Hints& h) { return h.striping_unit != 0 ? std::to_string(h.striping_unit) : ""; }},
};

}  // namespace

Hints::Hints() : cb_buffer_size(4 << 20), read_buffer(1 << 20), write_buffer(512 << 10) {}

void Hints::set(const Info* info) {
  for (auto& [key, value] : known_entries(info, InfoReader::file)) {
    const auto hint = std::find_if(std::begin(file_hints), std::end(file_hints),
                                   [&name = key](const FileHint& one) { return name == one.key; });
    if (hint != std::end(file_hints)) {
      (void)hint->read(*this, value);
    } else {
      std::erase_if(stored_, [&name = key](const auto& entry) { return entry.first == name; });
      stored_.emplace_back(std::move(key), std::move(value));
    }
  }
}

InfoEntries Hints::entries() const {
  InfoEntries entries;
  for (const FileHint& hint : file_hints) {
    std::string text = hint.tell != nullptr ? hint.tell(*this) : "";
    if (!text.empty()) entries.emplace_back(hint.key.name(), std::move(text));
  }
  entries.insert(entries.end(), stored_.begin(), stored_.end());
  return entries;
}

}  // namespace heddle::io
