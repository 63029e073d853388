// The deferred work.
#include <cstddef>

#include "base/progress/matrix/cell.hpp"
#include "mpi/check.hpp"

namespace matrix {

namespace {

constexpr int tag = 1;
// More messages than any channel has room for, and than there is credit for between nodes.
constexpr int many = 5000;
constexpr int many_long = 24;
constexpr std::size_t eager_bytes = 16 * 1024;  // that a message has at most which is sent eagerly

class OnComm : public Work {
 public:
  explicit OnComm(const char* name) : name_(name) { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~OnComm() override { MPI_Comm_free(&comm_); }
  const char* name() const override { return name_; }
  void finish() override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

 protected:
  MPI_Request* next_request() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;

 private:
  const char* name_;
};

using Send = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// Sends that rank 1 receives when they have been left.
struct Sends final : OnComm {
  Sends(const char* name, Send send, int messages, int bytes)
      : OnComm(name), send_(send), messages_(messages), data_(static_cast<std::size_t>(bytes), 'a') {}
  void leave() override {
    for (int i = 0; i < messages_; ++i) {
      MPI_Request* const request = next_request();
      send_(data_.data(), static_cast<int>(data_.size()), MPI_CHAR, partner, tag, comm_, request);
    }
  }
  void effect() override {
    for (int i = 0; i < messages_; ++i)
      MPI_Recv(data_.data(), static_cast<int>(data_.size()), MPI_CHAR, rank_that_blocks, tag, comm_, MPI_STATUS_IGNORE);
  }

 private:
  Send send_;
  int messages_;
  std::vector<char> data_;
};

class BufferedSends final : public OnComm {
 public:
  BufferedSends() : OnComm("Ibsend") {
    if (test::rank() == rank_that_blocks)
      MPI_Comm_attach_buffer(comm_, buffer_.data(), static_cast<int>(buffer_.size()));
  }
  ~BufferedSends() override {
    void* buffer;
    int size;
    if (test::rank() == rank_that_blocks) MPI_Comm_detach_buffer(comm_, &buffer, &size);
  }
  void leave() override {
    for (int i = 0; i < many; ++i) MPI_Bsend(&data_, 1, MPI_LONG, partner, tag, comm_);
  }
  void effect() override {
    for (int i = 0; i < many; ++i) MPI_Recv(&data_, 1, MPI_LONG, rank_that_blocks, tag, comm_, MPI_STATUS_IGNORE);
  }

 private:
  std::vector<char> buffer_ = std::vector<char>(many * (sizeof(long) + MPI_BSEND_OVERHEAD));
  long data_ = 0;
};

// The messages of both ranks: `count` of a type.
struct Message {
  int count;
  MPI_Datatype type;
  std::size_t extent;  // bytes, of all
};

Message contiguous(int bytes) { return {bytes, MPI_CHAR, static_cast<std::size_t>(bytes)}; }
Message strided(int doubles) {
  Message message{1, MPI_DATATYPE_NULL, 2 * sizeof(double) * static_cast<std::size_t>(doubles)};
  MPI_Type_vector(doubles, 1, 2, MPI_DOUBLE, &message.type);
  MPI_Type_commit(&message.type);
  return message;
}

class OfMessage : public OnComm {
 public:
  OfMessage(const char* name, const Message& message) : OnComm(name), message_(message), data_(message.extent, 'a') {}
  ~OfMessage() override {
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(message_.type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&message_.type);
  }

 protected:
  Message message_;
  std::vector<char> data_;
};

// A send that needs its sender when it is received.
struct LongSend final : OfMessage {
  using OfMessage::OfMessage;
  void leave() override { MPI_Isend(data_.data(), message_.count, message_.type, partner, tag, comm_, next_request()); }
  void effect() override {
    MPI_Recv(data_.data(), message_.count, message_.type, rank_that_blocks, tag, comm_, MPI_STATUS_IGNORE);
  }
  int long_messages(int rank) const override { return rank == partner ? 1 : 0; }
};

// How a message is received that has been announced already.
enum class Receive { irecv, imrecv, start };

// A receive that matches at once. Rank 1 waits until its send is complete.
class Received final : public OfMessage {
 public:
  Received(const char* name, const Message& message, Receive how, Send send = MPI_Isend)
      : OfMessage(name, message), how_(how), send_(send) {
    if (test::rank() == rank_that_blocks && how == Receive::start)
      MPI_Recv_init(data_.data(), message_.count, message_.type, partner, tag, comm_, &persistent_);
  }
  ~Received() override {
    if (persistent_ != MPI_REQUEST_NULL) MPI_Request_free(&persistent_);
  }
  void announce(int rank) override {
    if (rank == partner)
      send_(data_.data(), message_.count, message_.type, rank_that_blocks, tag, comm_, next_request());
  }
  void accept() override {
    for (int flag = 0; !flag;) {
      if (how_ == Receive::imrecv) {
        MPI_Improbe(partner, tag, comm_, &flag, &matched_, MPI_STATUS_IGNORE);
      } else {
        MPI_Iprobe(partner, tag, comm_, &flag, MPI_STATUS_IGNORE);
      }
    }
  }
  void leave() override {
    switch (how_) {
      case Receive::irecv:
        MPI_Irecv(data_.data(), message_.count, message_.type, partner, tag, comm_, next_request());
        break;
      case Receive::imrecv:
        MPI_Imrecv(data_.data(), message_.count, message_.type, &matched_, next_request());
        break;
      case Receive::start:
        MPI_Start(&persistent_);
        break;
    }
  }
  void effect() override { OnComm::finish(); }
  int long_messages(int rank) const override {
    return rank == rank_that_blocks && message_.extent > eager_bytes ? 1 : 0;
  }
  void finish() override {
    if (persistent_ != MPI_REQUEST_NULL) MPI_Wait(&persistent_, MPI_STATUS_IGNORE);
    OnComm::finish();
  }

 private:
  Receive how_;
  Send send_;
  MPI_Message matched_ = MPI_MESSAGE_NULL;
  MPI_Request persistent_ = MPI_REQUEST_NULL;
};

// Nonblocking collectives: their schedules go on.
template <class Begin>
struct Collective final : OnComm {
  Collective(const char* name, Begin begin) : OnComm(name), begin_(begin) {}
  void leave() override { begin_(comm_, in_, out_, next_request()); }
  void effect() override {
    leave();
    OnComm::finish();
  }

 private:
  Begin begin_;
  std::vector<int> in_ = std::vector<int>(50'000, 1), out_ = std::vector<int>(50'000);
};
template <class Begin>
std::unique_ptr<Work> collective(const char* name, Begin begin) {
  return std::make_unique<Collective<Begin>>(name, begin);
}

void add(void* in, void* inout, int* n, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

class OwnReduction final : public OnComm {
 public:
  OwnReduction() : OnComm("Iallreduce, operation of the program") { MPI_Op_create(add, 1, &op_); }
  ~OwnReduction() override { MPI_Op_free(&op_); }
  void leave() override {
    MPI_Iallreduce(in_.data(), out_.data(), static_cast<int>(in_.size()), MPI_INT, op_, comm_, next_request());
  }
  void effect() override {
    leave();
    OnComm::finish();
  }

 private:
  MPI_Op op_ = MPI_OP_NULL;
  std::vector<int> in_ = std::vector<int>(5'000, 1), out_ = std::vector<int>(5'000);
};

struct CommIdup final : OnComm {
  CommIdup() : OnComm("Comm_idup") {}
  void leave() override { MPI_Comm_idup(comm_, &copy_, next_request()); }
  void effect() override {
    leave();
    finish();
  }
  void finish() override {
    OnComm::finish();
    MPI_Comm_free(&copy_);
  }

 private:
  MPI_Comm copy_ = MPI_COMM_NULL;
};

class Partitions final : public OnComm {
 public:
  Partitions() : OnComm("partitions") {
    const int n = static_cast<int>(data_.size());
    if (test::rank() == rank_that_blocks) {
      MPI_Psend_init(data_.data(), n, 1, MPI_LONG, partner, tag, comm_, MPI_INFO_NULL, &request_);
    } else {
      MPI_Precv_init(data_.data(), n, 1, MPI_LONG, rank_that_blocks, tag, comm_, MPI_INFO_NULL, &request_);
    }
  }
  ~Partitions() override { MPI_Request_free(&request_); }
  void leave() override {
    MPI_Start(&request_);
    for (int i = 0; i < static_cast<int>(data_.size()); ++i) MPI_Pready(i, request_);
  }
  void effect() override {
    MPI_Start(&request_);
    finish();
  }
  void finish() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 private:
  std::vector<long> data_ = std::vector<long>(many);
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// Into memory that the program brought. Rank 1 sees the sum without any call.
class Accumulate final : public OnComm {
 public:
  Accumulate() : OnComm("Raccumulate") {
    MPI_Win_create(sum_.data(), static_cast<MPI_Aint>(sum_.size() * sizeof(long)), sizeof(long), MPI_INFO_NULL, comm_,
                   &win_);
    MPI_Win_lock_all(0, win_);
  }
  ~Accumulate() override {
    MPI_Win_unlock_all(win_);
    MPI_Win_free(&win_);
  }
  void leave() override {
    const int n = static_cast<int>(ones_.size());
    MPI_Raccumulate(ones_.data(), n, MPI_LONG, partner, 0, n, MPI_LONG, MPI_SUM, win_, next_request());
  }
  void effect() override {
    ++expected_;
    const volatile long* const last = &sum_.back();
    while (*last != expected_) MPI_Win_sync(win_);
  }

 private:
  long expected_ = 0;
  std::vector<long> ones_ = std::vector<long>(5'000, 1), sum_ = std::vector<long>(5'000);
  MPI_Win win_ = MPI_WIN_NULL;
};

}  // namespace

std::vector<std::unique_ptr<Work>> all_work(Copy copy) {
  std::vector<std::unique_ptr<Work>> all;
  all.push_back(std::make_unique<Sends>("Isend of 8 B", MPI_Isend, many, 8));
  all.push_back(
      std::make_unique<Sends>("Isend of 3 KiB", MPI_Isend, many_long, 3 * 1024));  // eager between threads too
  all.push_back(std::make_unique<Sends>("Isend of 16 KiB", MPI_Isend, many_long, 16 * 1024));
  all.push_back(std::make_unique<Sends>("Issend of 8 B", MPI_Issend, many, 8));
  all.push_back(std::make_unique<BufferedSends>());
  all.push_back(std::make_unique<LongSend>("Isend of 20 KiB", contiguous(20 * 1024)));
  all.push_back(std::make_unique<LongSend>("Isend of 1 MiB", contiguous(1 << 20)));
  all.push_back(std::make_unique<LongSend>("Isend, strided", strided(32 * 1024)));
  all.push_back(std::make_unique<Received>("Irecv of an Issend", contiguous(8), Receive::irecv, MPI_Issend));
  all.push_back(std::make_unique<Received>("Irecv of 20 KiB", contiguous(20 * 1024), Receive::irecv));
  all.push_back(std::make_unique<Received>("Irecv of 1 MiB", contiguous(1 << 20), Receive::irecv));
  all.push_back(std::make_unique<Received>("Irecv, strided", strided(32 * 1024), Receive::irecv));
  all.push_back(std::make_unique<Received>("Imrecv of 20 KiB", contiguous(20 * 1024), Receive::imrecv));
  all.push_back(std::make_unique<Received>("Start of 20 KiB", contiguous(20 * 1024), Receive::start));
  all.push_back(collective("Ibarrier", [](MPI_Comm comm, std::vector<int>&, std::vector<int>&, MPI_Request* request) {
    MPI_Ibarrier(comm, request);
  }));
  all.push_back(
      collective("Iallreduce", [](MPI_Comm comm, std::vector<int>& in, std::vector<int>& out, MPI_Request* request) {
        MPI_Iallreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_INT, MPI_SUM, comm, request);
      }));
  all.push_back(std::make_unique<OwnReduction>());
  all.push_back(std::make_unique<CommIdup>());
  all.push_back(std::make_unique<Partitions>());
  if (copy == Copy::by_kernel) all.push_back(std::make_unique<Accumulate>());  // else there is no such window
  return all;
}

}  // namespace matrix
