// Messages of a simulated job: their requests, their buffers, and what must be true of them in the end.
#pragma once

#include <gtest/gtest.h>
#include <mpi-ext.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
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

// How an operation is called.
enum class Sending : std::uint8_t {
  start,  // with a request from the start, as MPI_Ssend and MPI_Start do
  wait,   // at once if it can leave, as MPI_Send does
  go_on,  // the same, and the caller goes on to something else: MPI_Isend
};
enum class Receiving : std::uint8_t {
  start,
  announce,  // lock-free, if that is possible
};

struct Shape {
  int from = 0, to = 1;
  std::size_t bytes = 8;
  std::size_t room = 8;  // of the receive
  Mode mode = Mode::standard;
  bool send_run = true, receive_run = true;
  bool any_source = false, any_tag = false;
  bool in_node_memory = false;  // the buffers lie where every rank of the node sees them
  Sending sending = Sending::start;
  Receiving receiving = Receiving::start;

  std::string text() const {
    return std::to_string(from) + "->" + std::to_string(to) + " " + std::to_string(bytes) + " bytes, room for " +
           std::to_string(room) + ", mode " + std::to_string(static_cast<int>(mode)) +
           (send_run ? "" : ", strided send") + (receive_run ? "" : ", strided receive") +
           (any_source ? ", any source" : "") + (any_tag ? ", any tag" : "") + ", sending " +
           std::to_string(static_cast<int>(sending)) + (receiving == Receiving::start ? "" : ", announced");
  }
};

// A request and its buffer, at either end.
class End {
 public:
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  // A request that has not ended stays: the job may still have it.
  ~End() {
    if (request_->done.load() == 1) (void)give_back_done(*request_);
    if (in_heap_ != node::nowhere) job_.release(rank_, in_heap_, room_);
  }

  Request& request() const { return *request_; }
  bool began() const { return began_; }
  bool is_done() const { return request_->done.load() == 1; }
  bool cancel() {
    Wakeups wakeups;
    return job_[rank_].cancel(*request_, wakeups);
  }

 protected:
  End(Job& job, int rank, bool run, std::size_t bytes, bool in_node_memory, int source, int tag)
      : job_(job), rank_(rank), layout_(run), room_(layout_.room_for(bytes) + 16) {
    if (in_node_memory) {
      in_heap_ = job.allocate(rank, room_);
      if (in_heap_ == node::nowhere) throw std::bad_alloc();
      data_ = job.heap(rank).at<std::byte>(in_heap_);
      std::memset(data_, 0, room_);
    } else {
      own_.resize(room_);
      data_ = own_.data();
    }
    request_ = &take_request();
    request_->context = job.context();
    request_->buffer = data_;
    request_->count = layout_.count_of(bytes);
    request_->datatype = &layout_.type();
    request_->capacity = bytes;
    request_->source = source;
    request_->tag = tag;
    retain(layout_.type());
  }
  template <class Start>
  void begin(Start start) {
    began_ = true;
    Wakeups wakeups;
    try {
      start(job_[rank_], *request_, wakeups);
    } catch (const std::bad_alloc&) {
      job_[rank_].fail(*request_, wakeups);
    }
  }
  // The bytes of a message by its number: those of two neighbours differ.
  static const std::byte* content(int number, std::size_t bytes) {
    static std::vector<std::byte> of_number[255];
    const auto first = static_cast<std::size_t>(number) % 255;
    std::vector<std::byte>& made = of_number[first];
    for (std::size_t i = made.size(); i < bytes; ++i)
      made.push_back(static_cast<std::byte>(1 + (i * 7 + i / 251 + first) % 255));
    return made.data();
  }

  Job& job_;
  const int rank_;
  const Layout layout_;
  std::byte* data_;

 private:
  const std::size_t room_;
  std::vector<std::byte> own_;
  node::Offset in_heap_ = node::nowhere;
  Request* request_;
  bool began_ = false;
};

class Sent : public End {
 public:
  Sent(Job& job, const Shape& shape, int tag, int number)
      : End(job, shape.from, shape.send_run, shape.bytes, shape.in_node_memory, shape.from, tag),
        sending_(shape.sending),
        tag_(tag),
        number_(number) {
    const std::byte* const from = content(number, shape.bytes);
    const std::size_t step = layout_.run() ? shape.bytes : 8;
    for (std::size_t i = 0; i < shape.bytes; i += step) std::memcpy(data_ + layout_.place(i), from + i, step);
    request().peer = shape.to;
    request().mode = static_cast<std::uint32_t>(shape.mode);
    request().send = {};
  }
  void start() {
    const bool goes_on = sending_ == Sending::go_on;
    begin([&](VniState& state, Request& send, Wakeups& wakeups) {
      if (leaves_at_once(state.parts().outgoing)) return state.parts().completion.finish(send, wakeups);
      goes_on ? state.start_isend(send, wakeups) : state.start_send(send, wakeups);
    });
  }
  int source() const { return rank_; }
  int tag() const { return tag_; }
  int number() const { return number_; }

 private:
  bool leaves_at_once(Outgoing& outgoing) {
    const Request& send = request();
    if (sending_ == Sending::start || is_synchronous(send) || send.peer == rank_) return false;
    const SendArgs args{{lln::MessageKind::eager, rank_, tag_, send.context},
                        send.peer,
                        send.buffer,
                        send.count,
                        *send.datatype,
                        send.capacity};
    if (job_.claiming() == lln::Claiming::concurrent && outgoing.inject(args)) return true;
    if (job_.claiming() == lln::Claiming::by_flux && outgoing.send_by_flux(args)) return true;
    return sending_ == Sending::go_on ? outgoing.try_isend(args) : outgoing.try_send(args);
  }

  const Sending sending_;
  const int tag_;
  const int number_;
};

class Received : public End {
 public:
  Received(Job& job, const Shape& shape, int source, int tag)
      : End(job, shape.to, shape.receive_run, shape.room, shape.in_node_memory, source, tag),
        receiving_(shape.receiving),
        room_(shape.room) {
    request().receives = true;
  }
  void start() {
    begin([this](VniState& state, Request& receive, Wakeups& wakeups) {
      Matcher::Announcement said{Matcher::Announced::not_at_all, 0};
      if (receiving_ == Receiving::announce) said = state.parts().matcher.announce(receive);
      if (said.result == Matcher::Announced::at_closed_gate) state.match_announced(receive, said.hash, wakeups);
      if (said.result == Matcher::Announced::not_at_all) state.start_recv(receive, wakeups);
    });
  }
  // With a message that a matched probe has taken.
  void start(Unexpected& taken) {
    begin([&](VniState& state, Request& receive, Wakeups& wakeups) {
      state.start_matched_recv(receive, taken, wakeups);
    });
  }
  void check(const Sent& sent) const {
    const Request& receive = request();
    const std::size_t bytes = sent.request().capacity, there = std::min(bytes, room_);
    EXPECT_EQ(receive.error, bytes > room_ ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EXPECT_EQ(receive.source, sent.source());
    EXPECT_EQ(receive.tag, sent.tag());
    EXPECT_EQ(receive.bytes, there);
    if (bytes > room_) {
      EXPECT_EQ(receive.receive.message_bytes, bytes);
    }
    // Between the blocks, and behind what has come, nothing was written.
    const std::byte* const expected = content(sent.number(), there);
    const std::size_t end = layout_.room_for(room_) + 16, step = layout_.run() ? std::max<std::size_t>(there, 1) : 8;
    bool right = true, beside = false;
    std::size_t at = 0;
    for (std::size_t i = 0; i < there; i += step) {
      right &= std::memcmp(data_ + at, expected + i, step) == 0;
      at += step;
      if (!layout_.run()) beside |= is_written(at, at + 8);
      if (!layout_.run()) at += 8;
    }
    EXPECT_TRUE(right) << "bytes are not those that were sent";
    EXPECT_FALSE(beside || is_written(at, end)) << "bytes were written beside the message";
  }

 private:
  bool is_written(std::size_t from, std::size_t to) const {
    return std::any_of(data_ + from, data_ + to, [](std::byte one) { return one != std::byte{0}; });
  }

  const Receiving receiving_;
  const std::size_t room_;
};

// Its two ends, which no other message or receive comes between.
class Message {
 public:
  Message(Job& job, const Shape& shape, int tag = 5)
      : sent_(job, shape, tag, tag),
        received_(job, shape, shape.any_source ? MPI_ANY_SOURCE : shape.from, shape.any_tag ? MPI_ANY_TAG : tag) {}

  Request& send() { return sent_.request(); }
  Request& receive() { return received_.request(); }
  bool sent() const { return sent_.is_done(); }
  bool received() const { return received_.is_done(); }
  bool send_began() const { return sent_.began(); }
  bool receive_began() const { return received_.began(); }

  void start_send() { sent_.start(); }
  void start_receive() { received_.start(); }
  bool cancel_send() { return sent_.cancel(); }
  bool cancel_receive() { return received_.cancel(); }

  // Both have begun and nothing has failed: the message has come as the standard has it.
  void check_received() const {
    ASSERT_TRUE(sent()) << "the send has not ended";
    ASSERT_TRUE(received()) << "the receive has not ended";
    EXPECT_EQ(sent_.request().error, MPI_SUCCESS);
    EXPECT_FALSE(sent_.request().cancelled);
    check_content();
  }
  void check_content() const { received_.check(sent_); }

 private:
  Sent sent_;
  Received received_;
};

}  // namespace heddle::message::simulator
