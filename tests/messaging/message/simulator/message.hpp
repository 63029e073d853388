// One message of a simulated job: its two requests, their buffers, and what must be true of them in the end.
#pragma once

#include <gtest/gtest.h>
#include <mpi-ext.h>
#include <mpi.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "messaging/message/simulator/job.hpp"
#include "objects/datatype/contents.hpp"
#include "objects/datatype/make.hpp"

namespace heddle::message::simulator {

// The layout of so many bytes of data: contiguous, or every other block of eight.
class Layout {
 public:
  explicit Layout(bool run) : run_(run), type_(run ? *predefined_datatype(MPI_BYTE) : strided()) {}
  const Datatype& type() const { return type_; }
  bool run() const { return run_; }
  MPI_Count count_of(std::size_t bytes) const { return static_cast<MPI_Count>(run_ ? bytes : bytes / 8); }
  std::size_t room_for(std::size_t bytes) const { return run_ ? bytes : bytes * 2; }
  std::size_t place(std::size_t byte) const { return run_ ? byte : byte / 8 * 16 + byte % 8; }

 private:
  // Eight bytes, of an extent of sixteen.
  static const Datatype& strided() {
    static const Datatype* const made = [] {
      Datatype* type = nullptr;
      const Datatype* const byte = predefined_datatype(MPI_BYTE);
      datatype::Contents contiguous{.combiner = MPI_COMBINER_CONTIGUOUS, .values = {8}, .types = {byte}};
      if (datatype::make(std::move(contiguous), type)) std::abort();
      const Datatype* const block = type;
      datatype::Contents resized{.combiner = MPI_COMBINER_RESIZED, .values = {0, 16}, .addresses = 2, .types = {block}};
      if (datatype::make(std::move(resized), type)) std::abort();
      commit(*type);
      return type;
    }();
    return *made;
  }

  bool run_;
  const Datatype& type_;
};

struct Shape {
  int from = 0, to = 1;
  std::size_t bytes = 8;
  std::size_t room = 8;  // of the receive
  Mode mode = Mode::standard;
  bool send_run = true, receive_run = true;
  bool any_source = false, any_tag = false;
  bool in_node_memory = false;  // the buffers lie where every rank of the node sees them

  std::string text() const {
    return std::to_string(from) + "->" + std::to_string(to) + " " + std::to_string(bytes) + " bytes, room for " +
           std::to_string(room) + ", mode " + std::to_string(static_cast<int>(mode)) +
           (send_run ? "" : ", strided send") + (receive_run ? "" : ", strided receive") +
           (any_source ? ", any source" : "") + (any_tag ? ", any tag" : "");
  }
};

class Message {
 public:
  Message(Job& job, const Shape& shape, int tag = 5)
      : job_(job), shape_(shape), send_layout_(shape.send_run), receive_layout_(shape.receive_run) {
    send_data_ = memory(shape.from, send_layout_.room_for(shape.bytes), own_send_);
    receive_data_ = memory(shape.to, receive_layout_.room_for(shape.room), own_receive_);
    for (std::size_t i = 0; i < shape.bytes; ++i) send_data_[send_layout_.place(i)] = value(i, tag);
    send_ = &describe(send_layout_, send_data_, shape.bytes, shape.from, tag);
    send_->peer = shape.to;
    send_->mode = static_cast<std::uint32_t>(shape.mode);
    send_->send = {};
    receive_ = &describe(receive_layout_, receive_data_, shape.room, shape.any_source ? MPI_ANY_SOURCE : shape.from,
                         shape.any_tag ? MPI_ANY_TAG : tag);
    receive_->receives = true;
    tag_ = tag;
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  // A request that has not ended stays: the job may still have it.
  ~Message() {
    for (Request* const request : {send_, receive_}) {
      if (request == nullptr || request->done.load() != 1) continue;
      (void)give_back_done(*request);
    }
    for (const auto& [rank, at, bytes] : in_heap_) job_.heap(rank).release(at, bytes);
  }

  Request& send() { return *send_; }
  Request& receive() { return *receive_; }
  bool sent() const { return send_->done.load() == 1; }
  bool received() const { return receive_->done.load() == 1; }
  bool send_began() const { return send_began_; }
  bool receive_began() const { return receive_began_; }

  void start_send() {
    send_began_ = true;
    begin(shape_.from, *send_, [](VniState& state, Request& r, Wakeups& w) { state.start_send(r, w); });
  }
  void start_isend() {
    send_began_ = true;
    begin(shape_.from, *send_, [](VniState& state, Request& r, Wakeups& w) { state.start_isend(r, w); });
  }
  void start_receive() {
    receive_began_ = true;
    begin(shape_.to, *receive_, [](VniState& state, Request& r, Wakeups& w) { state.start_recv(r, w); });
  }
  bool cancel_send() { return cancel(shape_.from, *send_); }
  bool cancel_receive() { return cancel(shape_.to, *receive_); }

  // Both have begun and nothing has failed: the message has come as the standard has it.
  void check_received() const {
    ASSERT_TRUE(sent()) << "the send has not ended";
    ASSERT_TRUE(received()) << "the receive has not ended";
    EXPECT_EQ(send_->error, MPI_SUCCESS);
    EXPECT_FALSE(send_->cancelled);
    check_content();
  }
  void check_content() const {
    const bool truncated = shape_.bytes > shape_.room;
    EXPECT_EQ(receive_->error, truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_EQ(receive_->source, shape_.from);
    EXPECT_EQ(receive_->tag, tag_);
    EXPECT_EQ(receive_->bytes, std::min(shape_.bytes, shape_.room));
    if (truncated) {
      EXPECT_EQ(receive_->receive.message_bytes, shape_.bytes);
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < receive_->bytes; ++i)
      wrong += receive_data_[receive_layout_.place(i)] != value(i, tag_);
    EXPECT_EQ(wrong, 0U) << "bytes are not those that were sent";
    // Between the blocks, and behind what has come, nothing was written.
    std::size_t written = 0;
    for (std::size_t i = receive_->bytes; i < shape_.room; ++i)
      written += receive_data_[receive_layout_.place(i)] != std::byte{0};
    if (!receive_layout_.run())
      for (std::size_t i = 8; i + 8 <= receive_layout_.room_for(shape_.room); i += 16)
        written += receive_data_[i] != std::byte{0};
    EXPECT_EQ(written, 0U) << "bytes were written beside the message";
  }

 private:
  static std::byte value(std::size_t i, int tag) {
    return static_cast<std::byte>(1 + (i * 7 + i / 251 + static_cast<std::size_t>(tag)) % 255);
  }
  std::byte* memory(int rank, std::size_t bytes, std::vector<std::byte>& own) {
    if (!shape_.in_node_memory) {
      own.resize(bytes + 16);
      return own.data();
    }
    const node::Offset at = job_.heap(rank).allocate(bytes + 16);
    if (at == node::nowhere) throw std::bad_alloc();
    in_heap_.push_back({rank, at, bytes + 16});
    auto* const start = job_.heap(rank).at<std::byte>(at);
    std::memset(start, 0, bytes + 16);
    return start;
  }
  Request& describe(const Layout& layout, std::byte* data, std::size_t bytes, int source, int tag) {
    Request& request = take_request();
    request.context = 42;
    request.buffer = data;
    request.count = layout.count_of(bytes);
    request.datatype = &layout.type();
    request.capacity = bytes;
    request.source = source;
    request.tag = tag;
    request.error = MPI_SUCCESS;
    retain(layout.type());
    return request;
  }
  template <class Start>
  void begin(int rank, Request& request, Start start) {
    Wakeups wakeups;
    try {
      start(job_[rank], request, wakeups);
    } catch (const std::bad_alloc&) {
      job_[rank].fail(request, wakeups);
    }
  }
  bool cancel(int rank, Request& request) {
    Wakeups wakeups;
    return job_[rank].cancel(request, wakeups);
  }

  struct InHeap {
    int rank;
    node::Offset at;
    std::size_t bytes;
  };
  Job& job_;
  const Shape shape_;
  const Layout send_layout_, receive_layout_;
  std::vector<std::byte> own_send_, own_receive_;
  std::vector<InHeap> in_heap_;
  std::byte* send_data_;
  std::byte* receive_data_;
  Request* send_;
  Request* receive_;
  int tag_;
  bool send_began_ = false, receive_began_ = false;
};

}  // namespace heddle::message::simulator
