// A set of CPUs of any size for the kernel's affinity calls; the plain cpu_set_t ends at 1024.
#pragma once

#include <sched.h>

#include <algorithm>
#include <vector>

namespace heddle::boot {

class CpuMask {
 public:
  CpuMask() = default;
  explicit CpuMask(const std::vector<int>& cpus) {
    for (int cpu : cpus) {
      const auto word = static_cast<std::size_t>(cpu) / bits;
      if (word >= words_.size()) words_.resize(word + 1);
      words_[word] |= 1ul << (static_cast<std::size_t>(cpu) % bits);
    }
  }

  const cpu_set_t* set() const { return words_.empty() ? nullptr : reinterpret_cast<const cpu_set_t*>(words_.data()); }
  std::size_t bytes() const { return words_.size() * sizeof(unsigned long); }

  // The CPUs that this process may run on.
  static std::vector<int> allowed() {
    CpuMask mask;
    mask.words_.resize(1024 / bits);
    // The kernel refuses a set that is smaller than its own.
    while (sched_getaffinity(0, mask.bytes(), reinterpret_cast<cpu_set_t*>(mask.words_.data())) != 0) {
      if (mask.words_.size() > 1 << 16) return {};
      mask.words_.resize(mask.words_.size() * 2);
    }
    std::vector<int> cpus;
    for (std::size_t cpu = 0; cpu < mask.words_.size() * bits; ++cpu) {
      if ((mask.words_[cpu / bits] >> (cpu % bits) & 1) != 0) cpus.push_back(static_cast<int>(cpu));
    }
    return cpus;
  }

 private:
  static constexpr std::size_t bits = 8 * sizeof(unsigned long);
  std::vector<unsigned long> words_;
};

}  // namespace heddle::boot
