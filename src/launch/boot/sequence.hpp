// Strings, numbers and lists of them as one text, for exchange between the processes of a job: each string with a null
// at its end, a number as its digits, a list as its length and then its elements. A type of its own is read and written
// by its function for_each_field(object, f), which calls f with each of its fields in their order.
#pragma once

#include <charconv>
#include <concepts>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::boot {

class SequenceWriter {
 public:
  void operator()(const std::string& word) { text_.append(word).push_back('\0'); }
  void operator()(std::integral auto number) { (*this)(std::to_string(number)); }
  template <class T>
  void operator()(const std::vector<T>& list) {
    (*this)(list.size());
    for (const T& element : list) (*this)(element);
  }
  template <class T>
  requires std::is_class_v<T>
  void operator()(const T& object) { for_each_field(object, *this); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Throws std::runtime_error where the text ends too early or has something else for a number; `what` names the object.
class SequenceReader {
 public:
  SequenceReader(const std::string& text, const char* what) : text_(text), what_(what) {}

  void operator()(std::string& word) {
    const std::size_t end = text_.find('\0', at_);
    if (end == std::string::npos) throw std::runtime_error(std::string(what_) + " ends too early");
    word = text_.substr(at_, end - at_);
    at_ = end + 1;
  }
  void operator()(std::integral auto& number) {
    std::string word;
    (*this)(word);
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || stop != word.data() + word.size())
      throw std::runtime_error(std::string(what_) + " has '" + word + "' for a number");
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    std::size_t size = 0;
    (*this)(size);
    for (std::size_t i = 0; i < size; ++i) (*this)(list.emplace_back());
  }
  template <class T>
  requires std::is_class_v<T>
  void operator()(T& object) { for_each_field(object, *this); }

 private:
  const std::string& text_;
  const char* what_;
  std::size_t at_ = 0;
};

template <class T>
std::string to_text(const T& object) {
  SequenceWriter writer;
  writer(object);
  return writer.take();
}
template <class T>
T from_text(const std::string& text, const char* what) {
  T object;
  SequenceReader reader(text, what);
  reader(object);
  return object;
}

}  // namespace heddle::boot
