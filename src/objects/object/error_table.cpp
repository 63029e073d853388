#include "objects/object/error_table.hpp"

#include "objects/object/error_class.hpp"

namespace heddle {

int ErrorTable::add(int error_class) {
  const int code = last_used_ + 1;
  added_[code] = Entry{error_class == 0 ? code : error_class, 0, {}};
  last_used_ = code;
  return code;
}

void ErrorTable::remove(int code) {
  added_.erase(code);
  last_used_ = added_.empty() ? MPI_ERR_LASTCODE : added_.rbegin()->first;
}

Error ErrorTable::find_added(int code, const char* what, Entry*& entry) {
  const auto found = added_.find(code);
  if (found == added_.end()) return fail(MPI_ERR_ARG, "%s is %d, which the program did not add", what, code);
  entry = &found->second;
  return success;
}

int ErrorTable::add_class() {
  std::lock_guard guard(mutex_);
  return add(0);
}

Error ErrorTable::add_code(int error_class, int& code) {
  std::lock_guard guard(mutex_);
  const auto found = added_.find(error_class);
  const bool added = found != added_.end() && found->second.error_class == error_class;
  if (!added && !standard_error_class(error_class))
    return fail(MPI_ERR_ARG, "errorclass is %d, which is not an error class", error_class);
  code = add(error_class);
  if (added) ++found->second.codes;
  return success;
}

Error ErrorTable::add_string(int code, const char* text) {
  std::lock_guard guard(mutex_);
  Entry* entry = nullptr;
  if (Error e = find_added(code, "errorcode", entry)) return e;
  entry->text.assign(text, 0, MPI_MAX_ERROR_STRING - 1);
  return success;
}

Error ErrorTable::remove_class(int error_class) {
  std::lock_guard guard(mutex_);
  Entry* entry = nullptr;
  if (Error e = find_added(error_class, "errorclass", entry)) return e;
  if (entry->error_class != error_class)
    return fail(MPI_ERR_ARG, "errorclass is %d, which is an error code, not a class", error_class);
  if (entry->codes != 0)
    return fail(MPI_ERR_OTHER, "errorclass %d still has %d error codes", error_class, entry->codes);
  if (!entry->text.empty()) return fail(MPI_ERR_OTHER, "errorclass %d still has an error string", error_class);
  remove(error_class);
  return success;
}

Error ErrorTable::remove_code(int code) {
  std::lock_guard guard(mutex_);
  Entry* entry = nullptr;
  if (Error e = find_added(code, "errorcode", entry)) return e;
  if (entry->error_class == code)
    return fail(MPI_ERR_ARG, "errorcode is %d, which is an error class, not a code", code);
  if (!entry->text.empty()) return fail(MPI_ERR_OTHER, "errorcode %d still has an error string", code);
  const auto its_class = added_.find(entry->error_class);
  if (its_class != added_.end()) --its_class->second.codes;
  remove(code);
  return success;
}

Error ErrorTable::remove_string(int code) {
  std::lock_guard guard(mutex_);
  Entry* entry = nullptr;
  if (Error e = find_added(code, "errorcode", entry)) return e;
  entry->text.clear();
  return success;
}

bool ErrorTable::find_class(int code, int& error_class) const {
  if (standard_error_class(code) || code == MPI_ERR_LASTCODE) {
    error_class = code;
    return true;
  }
  std::lock_guard guard(mutex_);
  const auto found = added_.find(code);
  if (found == added_.end()) return false;
  error_class = found->second.error_class;
  return true;
}

bool ErrorTable::find_text(int code, std::string& text) const {
  if (const ErrorClass* standard = standard_error_class(code)) {
    text = std::string(standard->name) + ": " + standard->text;
    return true;
  }
  if (code == MPI_ERR_LASTCODE) {
    text = "MPI_ERR_LASTCODE: Last error code of the standard";
    return true;
  }
  std::lock_guard guard(mutex_);
  const auto found = added_.find(code);
  if (found == added_.end()) return false;
  text = found->second.text;
  return true;
}

}  // namespace heddle
