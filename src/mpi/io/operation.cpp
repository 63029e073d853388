#include "mpi/io/operation.hpp"

#include <utility>

#include "mpi/io/executor.hpp"
#include "mpi/io/pending.hpp"
#include "mpi/io/system_error.hpp"
#include "objects/datatype/name.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/status.hpp"

namespace heddle::io {

Operation::Operation(File& file, bool write, const Buffer& buffer)
    : file_(file),
      write_(write),
      view_(file.open->view()),
      hints_(file.open->hints()),
      type_(*buffer.type),
      buffer_(buffer),
      memory_(buffer) {
  retain(file_);
}

Operation::~Operation() { release(file_); }

Error Operation::prepare() {
  const char* const name = file_.name.c_str();
  if (write_ && (file_.amode & MPI_MODE_RDONLY))
    return fail(MPI_ERR_READ_ONLY, "%.200s was opened with MPI_MODE_RDONLY", name);
  if (!write_ && (file_.amode & MPI_MODE_WRONLY))
    return fail(MPI_ERR_ACCESS, "%.200s was opened with MPI_MODE_WRONLY", name);
  if (Error e = file_size(view_->representation(), *type_, element_size_)) return e;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(element_size_, buffer_.count, &bytes))
    return fail(MPI_ERR_COUNT, "count is %lld: so many elements of %s have more bytes than a file can",
                static_cast<long long>(buffer_.count), datatype::label(*type_));
  if (bytes % view_->etype_size() != 0)
    return fail(MPI_ERR_IO, "the buffer has %lld bytes in the file, which is not a multiple of the etype's %lld",
                static_cast<long long>(bytes), static_cast<long long>(view_->etype_size()));
  if (bytes > 0 && view_->is_empty()) return fail(MPI_ERR_IO, "the filetype of the view of %.200s has no bytes", name);
  bytes_ = static_cast<std::size_t>(bytes);
  etypes_ = bytes / view_->etype_size();
  return success;
}

Error Operation::place(std::int64_t offset) {
  std::int64_t end = 0;
  if (offset < 0)
    return fail(MPI_ERR_ARG, "offset is %lld, which is before the view's beginning", static_cast<long long>(offset));
  if (__builtin_mul_overflow(offset, view_->etype_size(), &position_) ||
      __builtin_add_overflow(position_, static_cast<std::int64_t>(bytes_), &end) || !view_->reaches(end))
    return fail(MPI_ERR_ARG, "offset is %lld etypes, which is beyond what a file can have",
                static_cast<long long>(offset));
  const Representation& representation = view_->representation();
  if (representation.is_native() || bytes_ == 0) return success;
  converted_.reset(new std::byte[bytes_]);
  memory_ = {predefined_datatype(MPI_BYTE), converted_.get(), static_cast<MPI_Count>(bytes_)};
  if (!write_) return success;
  return representation.encode(*type_, buffer_.data, buffer_.count, converted_.get());
}

void Operation::refuse(Error error) {
  refusal_ = error.code();
  refusal_text_ = error_detail().text;
  bytes_ = 0;
}

// The data of elements that are not whole in the file are left out where they have to be converted.
void Operation::finish() {
  arrived_ = moved_.bytes;
  if (converted_ == nullptr || element_size_ == 0) return;
  const auto whole = static_cast<MPI_Count>(moved_.bytes) / element_size_;
  arrived_ = packed_size(*type_, whole);
  if (write_ || whole == 0) return;
  if (Error e = view_->representation().decode(*type_, buffer_.data, whole, converted_.get())) {
    refuse(e);
    arrived_ = 0;
  }
}

Error Operation::tell(MPI_Status* status) const {
  if (status != MPI_STATUS_IGNORE) {
    set_status_bytes(*status, static_cast<MPI_Count>(arrived_));
    set_status_cancelled(*status, false);
  }
  if (refusal_ != MPI_SUCCESS) return fail(refusal_, "%s", refusal_text_.c_str());
  if (moved_.error_number == 0) return success;
  return fail_system(write_ ? "write to" : "read", file_.name.c_str(), moved_.error_number);
}

// ---- Of one process ----

Error run_alone(Operation& operation, MPI_Status* status) {
  operation.set_moved(move_alone(operation.access()));
  operation.finish();
  return operation.tell(status);
}

namespace {

class Alone final : public Pending, public Job, private Transfer {
 public:
  Alone(std::unique_ptr<Operation> operation, std::shared_ptr<Executor> executor)
      : Pending(std::move(operation)), executor_(std::move(executor)) {}

  void run() override { operation().set_moved(move_alone(operation().access())); }
  Transfer* transfer() override {
    if (!is_one_part(operation().access(), *this)) return nullptr;
    return this;
  }
  void submit() { executor_->submit(*this); }

 private:
  bool advance() override { return is_done(); }
  void end() override {
    operation().set_moved(moved);
    executor_->finish(*this);
  }

  const std::shared_ptr<Executor> executor_;
};

}  // namespace

Error start_alone(std::unique_ptr<Operation> operation, MPI_Request* request) {
  std::shared_ptr<Executor> executor = operation->file().open->executor();
  auto pending = std::make_unique<Alone>(std::move(operation), std::move(executor));
  Alone& alone = *pending;
  Pending::attach(std::move(pending), request);
  alone.submit();
  alone.launch();
  return success;
}

}  // namespace heddle::io
