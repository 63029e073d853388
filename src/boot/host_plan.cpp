#include "boot/host_plan.hpp"

#include <charconv>
#include <stdexcept>

namespace heddle::boot {
namespace {

// A plan is a sequence of strings, each with a null at its end; a list is its length and then its elements.
void put(std::string& text, const std::string& word) { text.append(word).push_back('\0'); }
void put(std::string& text, int number) { put(text, std::to_string(number)); }

void put(std::string& text, const HostedRank& rank);

template <class T>
void put(std::string& text, const std::vector<T>& list) {
  put(text, static_cast<int>(list.size()));
  for (const T& element : list) put(text, element);
}

void put(std::string& text, const HostedRank& rank) {
  for (int number : {rank.rank, rank.in, rank.out, rank.err}) put(text, number);
  put(text, rank.cpus);
}

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  void get(std::string& word) {
    const std::size_t end = text_.find('\0', at_);
    if (end == std::string::npos) throw std::runtime_error("the plan of the host ends too early");
    word = text_.substr(at_, end - at_);
    at_ = end + 1;
  }
  void get(int& number) {
    std::string word;
    get(word);
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || stop != word.data() + word.size())
      throw std::runtime_error("the plan of the host has '" + word + "' for a number");
  }
  void get(HostedRank& rank) {
    for (int* number : {&rank.rank, &rank.in, &rank.out, &rank.err}) get(*number);
    get(rank.cpus);
  }
  template <class T>
  void get(std::vector<T>& list) {
    int size = 0;
    get(size);
    for (int i = 0; i < size; ++i) get(list.emplace_back());
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_text(const HostPlan& plan) {
  std::string text;
  put(text, plan.program);
  put(text, plan.arguments);
  put(text, plan.environment);
  put(text, plan.private_libraries);
  put(text, plan.ranks);
  return text;
}

HostPlan plan_of_text(const std::string& text) {
  HostPlan plan;
  Reader reader(text);
  reader.get(plan.program);
  reader.get(plan.arguments);
  reader.get(plan.environment);
  reader.get(plan.private_libraries);
  reader.get(plan.ranks);
  return plan;
}

}  // namespace heddle::boot
