// The calls that wait for a message of their own rank, and every kind of request that is made of others.
#include <array>

#include "base/progress/matrix/cell.hpp"
#include "mpi/check.hpp"

namespace matrix {

namespace {

constexpr int tag = 1;
constexpr int tag_back = 2;
constexpr int few = 8;
constexpr int many = 1 << 20;  // more than is copied on the way

// The requests of rank 0, which is both ends. `bytes`: of what the blocked thread sends; what it receives is short.
class ToItself : public Blocking {
 public:
  explicit ToItself(const char* name, int bytes = few) : out_(static_cast<std::size_t>(bytes), 'a'), name_(name) {
    MPI_Comm_dup(MPI_COMM_SELF, &comm_);
  }
  ~ToItself() override { MPI_Comm_free(&comm_); }
  const char* name() const override { return name_; }

 protected:
  int size() const { return static_cast<int>(out_.size()); }
  void send() { MPI_Send(sent_.data(), few, MPI_CHAR, 0, tag, comm_); }

  // The blocked thread's message.
  void receive_back() {
    std::vector<char> in(out_.size());
    MPI_Recv(in.data(), size(), MPI_CHAR, 0, tag_back, comm_, MPI_STATUS_IGNORE);
    test::check(in == out_, name_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::array<char, few> sent_{}, in_{};
  std::vector<char> out_;

 private:
  const char* name_;
};

// block() has a fixed action, and the other thread sends.
template <class Block>
class Receiving final : public ToItself {
 public:
  Receiving(const char* name, Block block) : ToItself(name), block_(block) {}
  void block() override { block_(comm_, in_.data()); }
  void release_beside() override { send(); }

 private:
  Block block_;
};
template <class Block>
std::unique_ptr<Blocking> receiving(const char* name, Block block) {
  return std::make_unique<Receiving<Block>>(name, block);
}

// The thread beside receives.
template <class Block>
class Sending final : public ToItself {
 public:
  Sending(const char* name, int bytes, Block block) : ToItself(name, bytes), block_(block) {}
  void block() override { block_(comm_, out_.data(), size()); }
  void release_beside() override { receive_back(); }

 private:
  Block block_;
};
template <class Block>
std::unique_ptr<Blocking> sending(const char* name, int bytes, Block block) {
  return std::make_unique<Sending<Block>>(name, bytes, block);
}

// The one of the two that the blocked thread waits for comes last.
class Exchange final : public ToItself {
 public:
  Exchange(const char* name, int bytes, bool replaces) : ToItself(name, bytes), replaces_(replaces) {}
  void prepare(int rank) override {
    if (rank != rank_that_blocks) return;
    if (replaces_) {
      kept_ = out_;
      MPI_Isendrecv_replace(kept_.data(), few, MPI_CHAR, 0, tag_back, 0, tag, comm_, &request_);
    } else {
      MPI_Isendrecv(out_.data(), size(), MPI_CHAR, 0, tag_back, in_.data(), few, MPI_CHAR, 0, tag, comm_, &request_);
    }
  }
  void block() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  void release_beside() override {
    if (size() == few) {
      receive_back();
      send();
    } else {
      send();
      receive_back();
    }
  }

 private:
  bool replaces_;
  std::vector<char> kept_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// Both halves of a partitioned pair. The blocked thread waits for one, which needs what the thread beside does.
class Partitions final : public ToItself {
 public:
  Partitions(const char* name, int bytes, bool waits_for_receive)
      : ToItself(name, bytes), waits_for_receive_(waits_for_receive), received_(out_.size()) {
    if (test::rank() != rank_that_blocks) return;
    MPI_Psend_init(out_.data(), parts, size() / parts, MPI_CHAR, 0, tag, comm_, MPI_INFO_NULL, &send_);
    MPI_Precv_init(received_.data(), parts, size() / parts, MPI_CHAR, 0, tag, comm_, MPI_INFO_NULL, &receive_);
  }
  ~Partitions() override {
    if (test::rank() != rank_that_blocks) return;
    MPI_Request_free(&send_);
    MPI_Request_free(&receive_);
  }
  void prepare(int rank) override {
    if (rank != rank_that_blocks) return;
    MPI_Start(&send_);
    if (waits_for_receive_) {
      MPI_Start(&receive_);
    } else {
      MPI_Pready_range(0, parts - 1, send_);
    }
  }
  void block() override {
    MPI_Wait(waits_for_receive_ ? &receive_ : &send_, MPI_STATUS_IGNORE);
    MPI_Wait(waits_for_receive_ ? &send_ : &receive_, MPI_STATUS_IGNORE);
    test::check(received_ == out_, name());
  }
  void release_beside() override {
    if (waits_for_receive_) {
      for (int part = 0; part < parts; ++part) MPI_Pready(part, send_);
    } else {
      MPI_Start(&receive_);
    }
  }

 private:
  static constexpr int parts = 4;
  bool waits_for_receive_;
  std::vector<char> received_;
  MPI_Request send_ = MPI_REQUEST_NULL, receive_ = MPI_REQUEST_NULL;
};

class BufferFlush final : public ToItself {
 public:
  explicit BufferFlush(const char* name, bool blocks) : ToItself(name, many), blocks_(blocks) {
    MPI_Comm_attach_buffer(comm_, buffer_.data(), static_cast<int>(buffer_.size()));
  }
  ~BufferFlush() override {
    void* buffer;
    int size;
    MPI_Comm_detach_buffer(comm_, &buffer, &size);
  }
  void prepare(int rank) override {
    if (rank != rank_that_blocks) return;
    MPI_Bsend(out_.data(), size(), MPI_CHAR, 0, tag_back, comm_);
    if (!blocks_) MPI_Comm_iflush_buffer(comm_, &request_);
  }
  void block() override {
    if (blocks_) {
      MPI_Comm_flush_buffer(comm_);
    } else {
      MPI_Wait(&request_, MPI_STATUS_IGNORE);
    }
  }
  void release_beside() override { receive_back(); }

 private:
  bool blocks_;
  std::vector<char> buffer_ = std::vector<char>(many + MPI_BSEND_OVERHEAD);
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class Generalized final : public ToItself {
 public:
  Generalized() : ToItself("Wait of a generalized request") {}
  void prepare(int rank) override {
    if (rank != rank_that_blocks) return;
    const auto query = [](void*, MPI_Status* status) -> int {
      MPI_Status_set_elements(status, MPI_CHAR, 0);
      return MPI_Status_set_cancelled(status, 0);
    };
    const auto end = [](void*) -> int { return MPI_SUCCESS; };
    const auto cancel = [](void*, int) -> int { return MPI_SUCCESS; };
    MPI_Grequest_start(query, end, cancel, nullptr, &request_);
  }
  void block() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  void release_beside() override { MPI_Grequest_complete(request_); }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// The rank is origin and target.
class WinWait final : public ToItself {
 public:
  WinWait() : ToItself("Win_wait, for itself") {
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm_, &memory_, &win_);
    MPI_Comm_group(comm_, &itself_);
  }
  ~WinWait() override {
    MPI_Group_free(&itself_);
    MPI_Win_free(&win_);
  }
  void prepare(int rank) override {
    if (rank != rank_that_blocks) return;
    MPI_Win_post(itself_, 0, win_);
    MPI_Win_start(itself_, 0, win_);
  }
  void block() override { MPI_Win_wait(win_); }
  void release_beside() override { MPI_Win_complete(win_); }

 private:
  int* memory_ = nullptr;
  MPI_Win win_ = MPI_WIN_NULL;
  MPI_Group itself_ = MPI_GROUP_NULL;
};

}  // namespace

std::vector<std::unique_ptr<Blocking>> all_to_itself() {
  std::vector<std::unique_ptr<Blocking>> all;
  all.push_back(receiving("Recv from itself", [](MPI_Comm comm, char* in) {
    MPI_Recv(in, few, MPI_CHAR, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE);
  }));
  all.push_back(receiving("Waitany, from itself", [](MPI_Comm comm, char* in) {
    int which;
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(nullptr, 0, MPI_CHAR, 0, tag_back, comm, &requests[0]);
    MPI_Irecv(in, few, MPI_CHAR, 0, tag, comm, &requests[1]);
    MPI_Waitany(2, requests.data(), &which, MPI_STATUS_IGNORE);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }));
  all.push_back(receiving("Probe, of itself", [](MPI_Comm comm, char* in) {
    MPI_Probe(0, tag, comm, MPI_STATUS_IGNORE);
    MPI_Recv(in, few, MPI_CHAR, 0, tag, comm, MPI_STATUS_IGNORE);
  }));
  all.push_back(receiving("Mprobe, of itself", [](MPI_Comm comm, char* in) {
    MPI_Message message;
    MPI_Mprobe(0, tag, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, few, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  }));
  all.push_back(sending("Ssend to itself", few, [](MPI_Comm comm, const char* out, int bytes) {
    MPI_Ssend(out, bytes, MPI_CHAR, 0, tag_back, comm);
  }));
  all.push_back(sending("long Send to itself", many, [](MPI_Comm comm, const char* out, int bytes) {
    MPI_Send(out, bytes, MPI_CHAR, 0, tag_back, comm);
  }));
  all.push_back(sending("Waitall with an Isendrecv, to itself", many, [](MPI_Comm comm, const char* out, int bytes) {
    std::array<MPI_Request, 2> requests{};
    MPI_Isend(out, bytes, MPI_CHAR, MPI_PROC_NULL, tag_back, comm, &requests[0]);
    MPI_Isendrecv(out, bytes, MPI_CHAR, 0, tag_back, nullptr, 0, MPI_CHAR, MPI_PROC_NULL, tag, comm, &requests[1]);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }));
  all.push_back(std::make_unique<Exchange>("Wait of an Isendrecv with itself", few, false));
  all.push_back(std::make_unique<Exchange>("Wait of a long Isendrecv with itself", many, false));
  all.push_back(std::make_unique<Exchange>("Wait of an Isendrecv_replace with itself", few, true));
  all.push_back(std::make_unique<Partitions>("Wait of a partitioned receive from itself", few, true));
  all.push_back(std::make_unique<Partitions>("Wait of a partitioned send to itself", many, false));
  all.push_back(std::make_unique<BufferFlush>("Comm_flush_buffer, to itself", true));
  all.push_back(std::make_unique<BufferFlush>("Wait of a Comm_iflush_buffer, to itself", false));
  all.push_back(std::make_unique<Generalized>());
  all.push_back(std::make_unique<WinWait>());
  return all;
}

}  // namespace matrix
