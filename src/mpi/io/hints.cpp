#include "mpi/io/hints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

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

// "*:N": N on each node. Lists of host names mean nothing here.
bool parse_list(std::string_view text, int& per_node) {
  return text.starts_with("*:") && (text == "*:*" ? (per_node = 1 << 30, true) : parse(text.substr(2), 1, per_node));
}

constexpr std::string_view told_as_given[] = {"access_style", "striping_factor", "filename", "file_perm",
                                              "mpi_assert_memory_alloc_kinds"};

}  // namespace

Hints::Hints() : cb_buffer_size(4 << 20), read_buffer(1 << 20), write_buffer(512 << 10) {}

void Hints::set(const Info* info) {
  if (info == nullptr) return;
  for (const auto& [key, value] : info->entries()) {
    if (key == "cb_nodes" || key == "io_ompio_num_aggregators") {
      (void)parse(value, 1, cb_nodes);
    } else if (key == "cb_config_list") {
      (void)parse_list(value, cb_per_node);
    } else if (key == "cb_buffer_size" || key == "io_ompio_bytes_per_agg") {
      (void)parse_length(value, 4096, cb_buffer_size);
    } else if (key == "ind_rd_buffer_size") {
      (void)parse_length(value, 4096, read_buffer);
    } else if (key == "ind_wr_buffer_size") {
      (void)parse_length(value, 4096, write_buffer);
    } else if (key == "striping_unit") {
      (void)parse_length(value, 1, striping_unit);
    } else if (key == "romio_cb_read") {
      (void)parse(value, cb_read);
    } else if (key == "romio_cb_write") {
      (void)parse(value, cb_write);
    } else if (key == "collective_buffering") {
      if (parse(value, cb_read)) cb_write = cb_read;
    } else if (key == "romio_ds_read") {
      (void)parse(value, ds_read);
    } else if (key == "romio_ds_write") {
      (void)parse(value, ds_write);
    } else if (std::ranges::find(told_as_given, key) != std::end(told_as_given)) {
      std::erase_if(kept_, [&name = key](const auto& entry) { return entry.first == name; });
      kept_.emplace_back(key, value);
    }
  }
}

InfoEntries Hints::entries() const {
  InfoEntries entries{{"cb_buffer_size", std::to_string(cb_buffer_size)},
                      {"ind_rd_buffer_size", std::to_string(read_buffer)},
                      {"ind_wr_buffer_size", std::to_string(write_buffer)},
                      {"romio_cb_read", text_of(cb_read)},
                      {"romio_cb_write", text_of(cb_write)},
                      {"romio_ds_read", text_of(ds_read)},
                      {"romio_ds_write", text_of(ds_write)}};
  if (cb_nodes != 0) entries.emplace_back("cb_nodes", std::to_string(cb_nodes));
  if (cb_per_node != 0)
    entries.emplace_back("cb_config_list", cb_per_node == 1 << 30 ? "*:*" : "*:" + std::to_string(cb_per_node));
  if (striping_unit != 0) entries.emplace_back("striping_unit", std::to_string(striping_unit));
  entries.insert(entries.end(), kept_.begin(), kept_.end());
  return entries;
}

}  // namespace heddle::io
