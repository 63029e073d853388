// The calls that block.
#include <array>

#include "base/progress/matrix/cell.hpp"
#include "mpi/check.hpp"

namespace matrix {

namespace {

using test::check;

constexpr int tag = 1;

class OnComm : public Blocking {
 public:
  explicit OnComm(const char* name) : name_(name) { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~OnComm() override { MPI_Comm_free(&comm_); }
  const char* name() const override { return name_; }
  void release() override { MPI_Send(&sent_, 1, MPI_INT, rank_that_blocks, tag, comm_); }

 protected:
  void receive() { MPI_Recv(&received_, 1, MPI_INT, partner, tag, comm_, MPI_STATUS_IGNORE); }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int sent_ = 1;
  int received_ = 0;

 private:
  const char* name_;
};

struct Recv final : OnComm {
  Recv() : OnComm("Recv") {}
  void block() override { receive(); }
};

struct Sendrecv final : OnComm {
  Sendrecv() : OnComm("Sendrecv") {}
  void block() override {
    MPI_Sendrecv(&sent_, 1, MPI_INT, partner, tag, &received_, 1, MPI_INT, partner, tag, comm_, MPI_STATUS_IGNORE);
  }
  void release() override {
    MPI_Recv(&received_, 1, MPI_INT, rank_that_blocks, tag, comm_, MPI_STATUS_IGNORE);
    OnComm::release();
  }
};

struct Ssend final : OnComm {
  Ssend() : OnComm("Ssend") {}
  void block() override { MPI_Ssend(&sent_, 1, MPI_INT, partner, tag, comm_); }
  void release() override { MPI_Recv(&received_, 1, MPI_INT, rank_that_blocks, tag, comm_, MPI_STATUS_IGNORE); }
};

enum class Completion { wait, waitall, waitany, waitsome };

// The second of two receives completes first, but for a wait for all.
struct Complete final : OnComm {
  Complete(const char* name, Completion how) : OnComm(name), how_(how) {}
  void prepare(int rank) override {
    if (rank != rank_that_blocks) return;
    MPI_Irecv(&other_, 1, MPI_INT, partner, tag + 1, comm_, &requests_[0]);
    MPI_Irecv(&received_, 1, MPI_INT, partner, tag, comm_, &requests_[1]);
  }
  void block() override {
    int n = 0;
    std::array<int, 2> which{};
    switch (how_) {
      case Completion::wait:
        MPI_Wait(&requests_[1], MPI_STATUS_IGNORE);
        break;
      case Completion::waitall:
        MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE);
        break;
      case Completion::waitany:
        MPI_Waitany(2, requests_.data(), which.data(), MPI_STATUS_IGNORE);
        break;
      case Completion::waitsome:
        MPI_Waitsome(2, requests_.data(), &n, which.data(), MPI_STATUSES_IGNORE);
        break;
    }
    MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE);
  }
  void release() override {
    OnComm::release();
    MPI_Send(&sent_, 1, MPI_INT, rank_that_blocks, tag + 1, comm_);
  }

 private:
  Completion how_;
  int other_ = 0;
  std::array<MPI_Request, 2> requests_{};
};

struct Probe final : OnComm {
  Probe() : OnComm("Probe") {}
  void block() override {
    MPI_Probe(partner, tag, comm_, MPI_STATUS_IGNORE);
    receive();
  }
};

struct Mprobe final : OnComm {
  Mprobe() : OnComm("Mprobe") {}
  void block() override {
    MPI_Message message;
    MPI_Mprobe(partner, tag, comm_, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&received_, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
};

// Both ranks call the same.
template <class Call>
struct Together final : OnComm {
  Together(const char* name, Call call) : OnComm(name), call_(call) {}
  void block() override { call_(comm_); }
  void release() override { call_(comm_); }

 private:
  Call call_;
};
template <class Call>
std::unique_ptr<Blocking> together(const char* name, Call call) {
  return std::make_unique<Together<Call>>(name, call);
}

struct PartitionedReceive final : OnComm {
  PartitionedReceive() : OnComm("Wait of a partitioned receive") {
    if (test::rank() == rank_that_blocks) {
      MPI_Precv_init(in_.data(), parts, 1, MPI_INT, partner, tag, comm_, MPI_INFO_NULL, &request_);
    } else {
      MPI_Psend_init(out_.data(), parts, 1, MPI_INT, rank_that_blocks, tag, comm_, MPI_INFO_NULL, &request_);
    }
  }
  ~PartitionedReceive() override { MPI_Request_free(&request_); }
  void prepare(int /*rank*/) override { MPI_Start(&request_); }
  void block() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  void release() override {
    for (int part = 0; part < parts; ++part) MPI_Pready(part, request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

 private:
  static constexpr int parts = 4;
  std::array<int, parts> in_{}, out_{};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class OnWindow : public OnComm {
 public:
  explicit OnWindow(const char* name) : OnComm(name) {
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm_, &memory_, &win_);
    MPI_Comm_group(comm_, &all_);
    const int other = 1 - test::rank();
    MPI_Group_incl(all_, 1, &other, &other_);
  }
  ~OnWindow() override {
    MPI_Group_free(&other_);
    MPI_Group_free(&all_);
    MPI_Win_free(&win_);
  }

 protected:
  MPI_Win win_ = MPI_WIN_NULL;
  MPI_Group other_ = MPI_GROUP_NULL;

 private:
  int* memory_ = nullptr;
  MPI_Group all_ = MPI_GROUP_NULL;
};

struct WinLock final : OnWindow {
  WinLock() : OnWindow("Win_lock") {}
  void prepare(int rank) override {
    if (rank == partner) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, partner, 0, win_);
  }
  void block() override {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, partner, 0, win_);
    MPI_Win_unlock(partner, win_);
  }
  void release() override { MPI_Win_unlock(partner, win_); }
};

struct WinWait final : OnWindow {
  WinWait() : OnWindow("Win_wait") {}
  void prepare(int rank) override {
    if (rank == rank_that_blocks) {
      MPI_Win_post(other_, 0, win_);
    } else {
      MPI_Win_start(other_, 0, win_);
    }
  }
  void block() override { MPI_Win_wait(win_); }
  void release() override { MPI_Win_complete(win_); }
};

struct WinFence final : OnWindow {
  WinFence() : OnWindow("Win_fence") {}
  void block() override { MPI_Win_fence(0, win_); }
  void release() override { MPI_Win_fence(0, win_); }
};

}  // namespace

std::vector<std::unique_ptr<Blocking>> all_blocking() {
  std::vector<std::unique_ptr<Blocking>> all;
  all.push_back(std::make_unique<Recv>());
  all.push_back(std::make_unique<Sendrecv>());
  all.push_back(std::make_unique<Ssend>());
  all.push_back(std::make_unique<Complete>("Wait", Completion::wait));
  all.push_back(std::make_unique<Complete>("Waitall", Completion::waitall));
  all.push_back(std::make_unique<Complete>("Waitany", Completion::waitany));
  all.push_back(std::make_unique<Complete>("Waitsome", Completion::waitsome));
  all.push_back(std::make_unique<Probe>());
  all.push_back(std::make_unique<Mprobe>());
  all.push_back(together("Barrier", [](MPI_Comm comm) { MPI_Barrier(comm); }));
  all.push_back(together("Allreduce", [](MPI_Comm comm) {
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    test::equal(sum, 2, "sum");
  }));
  all.push_back(together("Allreduce, long", [](MPI_Comm comm) {
    std::vector<int> sum(100'000);
    const std::vector<int> ones(sum.size(), 1);
    MPI_Allreduce(ones.data(), sum.data(), static_cast<int>(sum.size()), MPI_INT, MPI_SUM, comm);
    test::equal(sum.back(), 2, "sum");
  }));
  all.push_back(together("Comm_dup", [](MPI_Comm comm) {
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&copy);
  }));
  all.push_back(std::make_unique<PartitionedReceive>());
  all.push_back(std::make_unique<WinLock>());
  all.push_back(std::make_unique<WinWait>());
  all.push_back(std::make_unique<WinFence>());
  return all;
}

}  // namespace matrix
