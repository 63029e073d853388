#include "base/threads/random/layout.hpp"

namespace random_program {

using test::Random;

Buffer::Buffer(int bytes, Random& random) {
  const int block = 1 + random.below(bytes > 4000 ? 2000 : 50);
  const int gap = 1 + random.below(20);
  const bool whole = bytes > 0 && bytes % block == 0;
  switch (random.below(5)) {
    case 0:
      if (whole) {
        vector(block, bytes / block, gap);
        break;
      }
      [[fallthrough]];
    case 1:
      scattered(bytes, random);
      break;
    case 2:
      if (whole) {
        spaced(block, bytes / block, gap);
        break;
      }
      [[fallthrough]];
    default:
      contiguous(bytes);
  }
  if (type_ != MPI_BYTE) MPI_Type_commit(&type_);
}

Buffer::Buffer(int most) { contiguous(most); }

Buffer::~Buffer() {
  if (type_ != MPI_BYTE) MPI_Type_free(&type_);
}

void Buffer::contiguous(int bytes) {
  count_ = bytes;
  runs_ = {{0, bytes}};
  memory_.assign(static_cast<std::size_t>(bytes) + 1, untouched);
}

// Blocks with gaps between them, as one vector.
void Buffer::vector(int block, int blocks, int gap) {
  MPI_Type_vector(blocks, block, block + gap, MPI_BYTE, &type_);
  count_ = 1;
  for (int i = 0; i < blocks; ++i) runs_.push_back({i * (block + gap), block});
  memory_.assign(static_cast<std::size_t>(blocks * (block + gap)), untouched);
}

// Blocks with gaps between them, as many elements of a type whose extent is larger than its size.
void Buffer::spaced(int block, int blocks, int gap) {
  MPI_Datatype inner;
  MPI_Type_contiguous(block, MPI_BYTE, &inner);
  MPI_Type_create_resized(inner, 0, block + gap, &type_);
  MPI_Type_free(&inner);
  count_ = blocks;
  for (int i = 0; i < blocks; ++i) runs_.push_back({i * (block + gap), block});
  memory_.assign(static_cast<std::size_t>(blocks * (block + gap)), untouched);
}

// Blocks of several lengths whose order in memory is not that of the message: the second half lies before the first.
void Buffer::scattered(int bytes, Random& random) {
  std::vector<int> lengths;
  for (int left = bytes; left > 0; left -= lengths.back())
    lengths.push_back(std::min(left, 1 + random.below(bytes / 8 + 2)));
  const std::size_t half = lengths.size() / 2;
  runs_.resize(lengths.size());
  int at = random.below(5);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const std::size_t i = (half + k) % lengths.size();
    runs_[i] = {at, lengths[i]};
    at += lengths[i] + random.below(4);
  }
  std::vector<MPI_Aint> places;
  for (const Run& run : runs_) places.push_back(run.at);
  MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_BYTE, &type_);
  count_ = 1;
  memory_.assign(static_cast<std::size_t>(at) + 4, untouched);
}

void Buffer::fill(std::uint64_t key, int bytes) {
  const std::vector<unsigned char> whole = test::message(key, bytes);
  auto from = whole.begin();
  for (const Run& run : runs_) {
    const auto length = std::min<std::ptrdiff_t>(run.length, whole.end() - from);
    std::copy_n(from, length, memory_.begin() + run.at);
    from += length;
  }
}

void Buffer::expect(std::uint64_t key, int bytes) const {
  Buffer wanted(0);
  wanted.runs_ = runs_;
  wanted.memory_.assign(memory_.size(), untouched);
  wanted.fill(key, bytes);
  const auto [got, expected] = std::mismatch(memory_.begin(), memory_.end(), wanted.memory_.begin());
  if (got == memory_.end()) return;
  failed("byte " + std::to_string(got - memory_.begin()) + " of a buffer for a message of " + std::to_string(bytes) +
         " bytes is " + std::to_string(*got) + ", not " + std::to_string(*expected));
}

}  // namespace random_program
