#include "launch/boot/launched/frame.hpp"

namespace heddle::boot {
namespace {

constexpr std::size_t head_bytes = 5;

std::uint64_t number_at(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << 8 * i;
  return number;
}

}  // namespace

std::string Frame::encode() const {
  Frame head(kind_);
  head.add(static_cast<std::uint32_t>(fields_.size()));
  return head.fields_ + static_cast<char>(kind_) + fields_;
}

std::optional<Frame> Frame::take(std::string& bytes, std::size_t most, bool& broken) {
  broken = false;
  if (bytes.size() < head_bytes) return std::nullopt;
  const std::size_t length = number_at(std::string_view(bytes).substr(0, 4));
  const auto kind = static_cast<std::uint8_t>(bytes[4]);
  broken = length > most || kind == 0 || kind > last_frame_kind;
  if (broken || bytes.size() - head_bytes < length) return std::nullopt;
  Frame frame(static_cast<FrameKind>(kind), bytes.substr(head_bytes, length));
  bytes.erase(0, head_bytes + length);
  return frame;
}

std::uint64_t Fields::take(std::size_t bytes) {
  if (rest_.size() < bytes) {
    complete_ = false;
    rest_ = {};
    return 0;
  }
  const std::uint64_t number = number_at(rest_.substr(0, bytes));
  rest_.remove_prefix(bytes);
  return number;
}

}  // namespace heddle::boot
