// Every algorithm for every number of members up to 17, on one node and on several, without MPI: schedules of all members are carried
// out by the simulator, against a sequential oracle.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "mpi/coll/nodes.hpp"
#include "mpi/coll/plans.hpp"
#include "objects/object/attribute.hpp"
#include "objects/object/errhandler.hpp"
#include "simulator.hpp"

namespace heddle {

// Communicators here have nothing to give back, and the library does not carry out schedules.
Comm::~Comm() = default;
AttributeSet::~AttributeSet() = default;
ErrhandlerSlot::~ErrhandlerSlot() = default;

namespace p2p {
Error send(Comm&, Plane, const void*, MPI_Count, const Datatype&, int, int, message::Mode) { std::abort(); }
Request& isend(Comm&, Plane, const void*, MPI_Count, const Datatype&, int, int, message::Mode) { std::abort(); }
Request& irecv(Comm&, Plane, void*, MPI_Count, const Datatype&, int, int) { std::abort(); }
Error wait_all(Request* const*, std::size_t) { std::abort(); }
void poll_once(Rank&) { std::abort(); }
void give_back(Request&) { std::abort(); }
Error explain(const Request&) { std::abort(); }
Request& begun(Request&) { std::abort(); }
Request& take_request(const RequestType&) { std::abort(); }
void complete(Request&) { std::abort(); }
void start_polling(Rank&, progress::Pollable&) { std::abort(); }
}  // namespace p2p

namespace coll {
namespace {

constexpr int largest = 17;

// How the members of an intracommunicator are spread over nodes.
enum class Spread { one_node, blocks, scattered };
Spread spread = Spread::one_node;

int node_of(int rank) {
  if (spread == Spread::blocks) return rank / 3;  // of three members each, but for the last
  return spread == Spread::scattered ? rank * 5 % 7 % 3 : 0;
}

// Members 0 .. size - 1 of an intracommunicator, or two groups that follow each other in the numbering of processes.
class World {
 public:
  explicit World(int size) { make_group(0, size, nullptr, 0, 100); }
  World(int first_size, int second_size) {
    make_group(0, first_size, nullptr, 0, 200);
    make_group(first_size, second_size, nullptr, 0, 300);
    locals_.swap(comms_);
    make_group(0, first_size, locals_.data(), second_size, 100);
    make_group(first_size, second_size, locals_.data() + first_size, first_size, 100);
  }
  int processes() const { return static_cast<int>(comms_.size()); }
  Comm& comm(int process) { return *comms_[static_cast<std::size_t>(process)]; }

  // Plans every process's part by `plan(process, comm, schedule)` and carries all out.
  template <class Plan>
  std::string run(unsigned seed, Plan&& plan) {
    Simulator simulator(seed);
    std::vector<Schedule*> schedules;
    for (int p = 0; p < processes(); ++p) {
      Schedule& schedule = Schedule::take(comm(p), Manner::blocking);
      schedules.push_back(&schedule);
      if (Error e = plan(p, comm(p), schedule)) return "planning failed: class " + std::to_string(e.code());
      simulator.add(p, schedule);
    }
    std::string problem = simulator.run();
    for (Schedule* schedule : schedules) Schedule::give_back(*schedule);
    return problem;
  }

 private:
  void make_group(int first, int size, const std::unique_ptr<Comm>* locals, int remote_size, Context context) {
    auto peers = std::make_unique<std::vector<int>>(static_cast<std::size_t>(locals ? remote_size : size));
    std::iota(peers->begin(), peers->end(), locals ? (first == 0 ? size : 0) : first);
    for (int r = 0; r < size; ++r) {
      auto comm = std::make_unique<Comm>();
      comm->context = context;
      comm->rank = r;
      comm->size = size;
      comm->remote_size = locals ? remote_size : size;
      comm->inter = locals != nullptr;
      comm->local_comm = locals ? locals[r].get() : nullptr;
      comm->peer_world = peers->data();
      comms_.push_back(std::move(comm));
    }
    peers_.push_back(std::move(peers));
  }

  std::vector<std::unique_ptr<Comm>> comms_, locals_;
  std::vector<std::unique_ptr<std::vector<int>>> peers_;
};

const Datatype& int_type() { return *predefined_datatype(MPI_INT); }
using Ints = std::vector<int>;

int value(int from, int to, int i) { return (from + 1) * 100000 + (to + 1) * 1000 + i; }

// The composition of x -> a x + b; a pair of ints is one element.
void compose(void* in, void* inout, int* n, MPI_Datatype*) {
  auto* x = static_cast<unsigned*>(in);
  auto* y = static_cast<unsigned*>(inout);
  for (int i = 0; i < *n; ++i, x += 2, y += 2) {
    y[1] = x[0] * y[1] + x[1];
    y[0] = x[0] * y[0];
  }
}

struct Operation {
  const char* name;
  const Op* op;
  const Datatype* type;
  int width;  // ints an element
};

std::vector<Operation> operations() {
  static Op composition;
  composition.commutative = false;
  composition.function = compose;
  return {{"sum", predefined_op(MPI_SUM), &int_type(), 1},
          {"composition", &composition, predefined_datatype(MPI_2INT), 2}};
}

Ints operand(const Operation& o, int process, int count) {
  Ints out;
  for (int i = 0; i < count * o.width; ++i) out.push_back((process + 2) * 7919 + i * 17 + 1);
  return out;
}
// The reduction of processes [first, last) in order.
Ints reduced(const Operation& o, int first, int last, int count) {
  Ints sum = operand(o, last - 1, count);
  for (int p = last - 2; p >= first; --p) reduce_local(*o.op, operand(o, p, count).data(), sum.data(), count, *o.type);
  return sum;
}

class Sizes : public testing::TestWithParam<std::tuple<Spread, int>> {
 protected:
  void SetUp() override { spread = std::get<0>(GetParam()); }
  void TearDown() override { spread = Spread::one_node; }
  int size() const { return std::get<1>(GetParam()); }
  static constexpr int counts[] = {0, 1, 5, 64, 1000};
};
INSTANTIATE_TEST_SUITE_P(Members, Sizes,
                         testing::Combine(testing::Values(Spread::one_node), testing::Range(1, largest + 1)));
INSTANTIATE_TEST_SUITE_P(MembersOnNodes, Sizes,
                         testing::Combine(testing::Values(Spread::blocks, Spread::scattered),
                                          testing::Range(3, largest + 1)));

TEST_P(Sizes, Barrier) {
  World world(size());
  EXPECT_EQ(world.run(1, [](int, Comm&, Schedule& s) { return plan::Barrier{}(s); }), "");
}

TEST_P(Sizes, Bcast) {
  World world(size());
  for (int count : {0, 1, 1000, 150000}) {
    for (int root = 0; root<size(); root += count> 1000 ? 5 : 1) {
      std::vector<Ints> buffers(static_cast<std::size_t>(size()), Ints(static_cast<std::size_t>(count), -1));
      auto& source = buffers[static_cast<std::size_t>(root)];
      std::iota(source.begin(), source.end(), root);
      const Ints expected = source;
      EXPECT_EQ(world.run(static_cast<unsigned>(root),
                          [&](int p, Comm&, Schedule& s) {
                            return plan::Bcast{buffers[static_cast<std::size_t>(p)].data(), count, int_type(), root}(s);
                          }),
                "");
      for (const Ints& b : buffers) ASSERT_EQ(b, expected) << "count " << count << ", root " << root;
    }
  }
}

TEST_P(Sizes, GatherAndScatter) {
  World world(size());
  const int n = size();
  for (int count : counts) {
    for (int root = 0; root < n; ++root) {
      Ints all(static_cast<std::size_t>(n * count)), gathered(all.size(), -1);
      for (int r = 0; r < n; ++r) {
        for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(r * count + i)] = value(r, 0, i);
      }
      std::vector<Ints> parts(static_cast<std::size_t>(n), Ints(static_cast<std::size_t>(count), -1));
      EXPECT_EQ(world.run(7,
                          [&](int p, Comm&, Schedule& s) {
                            return plan::Scatter{Blocks::regular(all.data(), count, &int_type()),
                                                 parts[static_cast<std::size_t>(p)].data(), count, &int_type(),
                                                 root}(s);
                          }),
                "");
      EXPECT_EQ(world.run(8,
                          [&](int p, Comm&, Schedule& s) {
                            return plan::Gather{parts[static_cast<std::size_t>(p)].data(), count, &int_type(),
                                                Blocks::regular(gathered.data(), count, &int_type()), root}(s);
                          }),
                "");
      ASSERT_EQ(gathered, all) << "count " << count << ", root " << root;
    }
  }
}

TEST_P(Sizes, Allgather) {
  World world(size());
  const int n = size();
  for (int count : counts) {
    for (bool vector : {false, true}) {
      Ints block_counts, displs, expected;
      for (int r = 0; r < n; ++r) {
        block_counts.push_back(vector ? (r % 3) * count : count);
        displs.push_back(static_cast<int>(expected.size()));
        for (int i = 0; i < block_counts.back(); ++i) expected.push_back(value(r, 0, i));
      }
      std::vector<Ints> all(static_cast<std::size_t>(n), Ints(expected.size(), -1)), mine = all;
      EXPECT_EQ(world.run(3,
                          [&](int p, Comm&, Schedule& s) {
                            const auto at = static_cast<std::size_t>(p);
                            mine[at] =
                                Ints(expected.begin() + displs[at], expected.begin() + displs[at] + block_counts[at]);
                            return plan::Allgather{
                                mine[at].data(), block_counts[at], &int_type(),
                                vector ? Blocks::vector(all[at].data(), block_counts.data(), displs.data(), &int_type())
                                       : Blocks::regular(all[at].data(), count, &int_type())}(s);
                          }),
                "");
      for (const Ints& a : all) ASSERT_EQ(a, expected) << "count " << count;
    }
  }
}

TEST_P(Sizes, Alltoall) {
  World world(size());
  const int n = size();
  for (int count : counts) {
    for (bool in_place : {false, true}) {
      const auto make = [&](bool received, int p) {
        Ints out;
        for (int r = 0; r < n; ++r) {
          for (int i = 0; i < count; ++i) out.push_back(received ? value(r, p, i) : value(p, r, i));
        }
        return out;
      };
      std::vector<Ints> from, to;
      for (int p = 0; p < n; ++p) {
        from.push_back(make(false, p));
        to.push_back(in_place ? from.back() : Ints(from.back().size(), -1));
      }
      EXPECT_EQ(world.run(5,
                          [&](int p, Comm&, Schedule& s) {
                            const auto at = static_cast<std::size_t>(p);
                            const void* source = in_place ? MPI_IN_PLACE : from[at].data();
                            return plan::Alltoall{Blocks::regular(source, count, &int_type()),
                                                  Blocks::regular(to[at].data(), count, &int_type())}(s);
                          }),
                "");
      for (int p = 0; p < n; ++p) ASSERT_EQ(to[static_cast<std::size_t>(p)], make(true, p)) << "count " << count;
    }
  }
}

// Runs `plan(process, send buffer, receive buffer)` where everyone's operand has `count` elements.
template <class Plan>
std::vector<Ints> run_reduction(World& world, const Operation& o, int count, bool in_place, Plan&& plan) {
  std::vector<Ints> mine, result;
  for (int p = 0; p < world.processes(); ++p) {
    mine.push_back(operand(o, p, count));
    result.push_back(in_place ? mine.back() : Ints(mine.back().size(), -1));
  }
  EXPECT_EQ(world.run(static_cast<unsigned>(count),
                      [&](int p, Comm&, Schedule& s) {
                        const auto at = static_cast<std::size_t>(p);
                        return plan(p, in_place ? MPI_IN_PLACE : mine[at].data(), mine[at].data(), result[at].data(),
                                    s);
                      }),
            "");
  return result;
}

constexpr int reduction_counts[] = {0, 1, 5, 300, 20000};

TEST_P(Sizes, Reduce) {
  World world(size());
  for (const Operation& o : operations()) {
    for (int count : reduction_counts) {
      for (bool in_place : {false, true}) {
        for (int root = 0; root<size(); root += count> 1000 ? 7 : 1) {
          const auto result = run_reduction(
              world, o, count, in_place, [&](int p, const void* send, const void* own, void* recv, Schedule& s) {
                return plan::Reduce{p == root ? send : own, recv, count, *o.type, *o.op, root}(s);
              });
          ASSERT_EQ(result[static_cast<std::size_t>(root)], reduced(o, 0, size(), count))
              << o.name << ", count " << count << ", root " << root;
        }
      }
    }
  }
}

TEST_P(Sizes, Allreduce) {
  World world(size());
  for (const Operation& o : operations()) {
    for (int count : reduction_counts) {
      for (bool in_place : {false, true}) {
        const auto result =
            run_reduction(world, o, count, in_place, [&](int, const void* send, const void*, void* recv, Schedule& s) {
              return plan::Allreduce{send, recv, count, *o.type, *o.op}(s);
            });
        for (const Ints& r : result) ASSERT_EQ(r, reduced(o, 0, size(), count)) << o.name << ", count " << count;
      }
    }
  }
}

TEST_P(Sizes, Scan) {
  World world(size());
  for (const Operation& o : operations()) {
    for (bool inclusive : {false, true}) {
      for (int count : reduction_counts) {
        const auto result = run_reduction(world, o, count, count == 5,
                                          [&](int, const void* send, const void*, void* recv, Schedule& s) {
                                            return plan::Scan{send, recv, count, *o.type, *o.op, inclusive}(s);
                                          });
        for (int p = inclusive ? 0 : 1; p < size(); ++p) {
          ASSERT_EQ(result[static_cast<std::size_t>(p)], reduced(o, 0, p + inclusive, count)) << o.name;
        }
      }
    }
  }
}

TEST_P(Sizes, ReduceScatter) {
  World world(size());
  for (const Operation& o : operations()) {
    for (int each : {1, 10, 500}) {
      for (bool in_place : {false, true}) {
        Ints slice_counts;
        for (int r = 0; r < size(); ++r) slice_counts.push_back(r % 4 == 1 ? 0 : each + r % 3);
        const int total = std::accumulate(slice_counts.begin(), slice_counts.end(), 0);
        const auto result =
            run_reduction(world, o, total, in_place, [&](int, const void* send, const void*, void* recv, Schedule& s) {
              return plan::ReduceScatter{send, recv, Slices::of(slice_counts.data()), *o.type, *o.op}(s);
            });
        const Ints expected = reduced(o, 0, size(), total);
        auto at = expected.begin();
        for (int p = 0; p < size(); ++p) {
          const Ints& r = result[static_cast<std::size_t>(p)];
          const int n = slice_counts[static_cast<std::size_t>(p)] * o.width;
          ASSERT_EQ(Ints(r.begin(), r.begin() + n), Ints(at, at + n)) << o.name << ", rank " << p;
          at += n;
        }
      }
    }
  }
}

struct Groups {
  int first, second;
};
class Inter : public testing::TestWithParam<Groups> {
 protected:
  int first() const { return GetParam().first; }
  int second() const { return GetParam().second; }
  // The root argument of process p, if the root is process `root`.
  int root_argument(int p, int root) const {
    const bool same = (p < first()) == (root < first());
    if (same) return p == root ? MPI_ROOT : MPI_PROC_NULL;
    return root < first() ? root : root - first();
  }
};
INSTANTIATE_TEST_SUITE_P(Groups, Inter,
                         testing::Values(Groups{1, 1}, Groups{1, 4}, Groups{3, 2}, Groups{5, 7}, Groups{9, 8}));

TEST_P(Inter, BarrierAndBcast) {
  World world(first(), second());
  EXPECT_EQ(world.run(1, [](int, Comm&, Schedule& s) { return plan::Barrier{}(s); }), "");
  for (int root = 0; root < world.processes(); ++root) {
    Ints source(1000, root);
    std::vector<Ints> buffers(static_cast<std::size_t>(world.processes()), Ints(1000, -1));
    EXPECT_EQ(world.run(2,
                        [&](int p, Comm&, Schedule& s) {
                          void* buffer = p == root ? source.data() : buffers[static_cast<std::size_t>(p)].data();
                          return plan::Bcast{buffer, 1000, int_type(), root_argument(p, root)}(s);
                        }),
              "");
    for (int p = 0; p < world.processes(); ++p) {
      const bool other = (p < first()) != (root < first());
      ASSERT_EQ(buffers[static_cast<std::size_t>(p)], Ints(1000, other ? root : -1));
    }
  }
}

TEST_P(Inter, Reductions) {
  World world(first(), second());
  for (const Operation& o : operations()) {
    // A number of elements that both groups can share out evenly.
    const int count = first() * second();
    const auto of_other = [&](int p) {
      return p < first() ? reduced(o, first(), world.processes(), count) : reduced(o, 0, first(), count);
    };
    auto result =
        run_reduction(world, o, count, false, [&](int, const void* send, const void*, void* recv, Schedule& s) {
          return plan::Allreduce{send, recv, count, *o.type, *o.op}(s);
        });
    for (int p = 0; p < world.processes(); ++p) ASSERT_EQ(result[static_cast<std::size_t>(p)], of_other(p)) << o.name;
    result = run_reduction(world, o, count, false, [&](int p, const void* send, const void*, void* recv, Schedule& s) {
      const int each = p < first() ? second() : first();
      return plan::ReduceScatter{send, recv, Slices::even(each), *o.type, *o.op}(s);
    });
    for (int p = 0; p < world.processes(); ++p) {
      const int n = (p < first() ? second() : first()) * o.width;
      const Ints all = of_other(p);
      const auto begin = all.begin() + (p < first() ? p : p - first()) * n;
      const Ints& r = result[static_cast<std::size_t>(p)];
      ASSERT_EQ(Ints(r.begin(), r.begin() + n), Ints(begin, begin + n)) << o.name;
    }
    for (int root = 0; root < world.processes(); ++root) {
      result =
          run_reduction(world, o, count, false, [&](int p, const void* send, const void*, void* recv, Schedule& s) {
            return plan::Reduce{send, recv, count, *o.type, *o.op, root_argument(p, root)}(s);
          });
      ASSERT_EQ(result[static_cast<std::size_t>(root)], of_other(root)) << o.name;
    }
  }
}

TEST_P(Inter, Blocks) {
  World world(first(), second());
  const int count = 3;
  const auto others = [&](int p) { return p < first() ? second() : first(); };
  const auto first_other = [&](int p) { return p < first() ? first() : 0; };
  std::vector<Ints> out, in;
  const auto reset = [&](bool one_block) {
    out.clear();
    in.clear();
    for (int p = 0; p < world.processes(); ++p) {
      Ints blocks;
      for (int r = 0; r < (one_block ? 1 : others(p)); ++r) {
        for (int i = 0; i < count; ++i) blocks.push_back(value(p, one_block ? 0 : first_other(p) + r, i));
      }
      out.push_back(blocks);
      in.push_back(Ints(static_cast<std::size_t>(others(p) * count), -1));
    }
  };
  const auto expect_in = [&](int p, bool to_me) {
    Ints expected;
    for (int r = 0; r < others(p); ++r) {
      for (int i = 0; i < count; ++i) expected.push_back(value(first_other(p) + r, to_me ? p : 0, i));
    }
    ASSERT_EQ(in[static_cast<std::size_t>(p)], expected);
  };
  reset(false);
  EXPECT_EQ(world.run(1,
                      [&](int p, Comm&, Schedule& s) {
                        const auto at = static_cast<std::size_t>(p);
                        return plan::Alltoall{Blocks::regular(out[at].data(), count, &int_type()),
                                              Blocks::regular(in[at].data(), count, &int_type())}(s);
                      }),
            "");
  for (int p = 0; p < world.processes(); ++p) expect_in(p, true);
  for (bool vector : {false, true}) {
    reset(true);
    Ints counts(static_cast<std::size_t>(world.processes()), count), displs;
    for (int p = 0; p < world.processes(); ++p) displs.push_back(p * count);
    EXPECT_EQ(world.run(2,
                        [&](int p, Comm&, Schedule& s) {
                          const auto at = static_cast<std::size_t>(p);
                          return plan::Allgather{
                              out[at].data(), count, &int_type(),
                              vector ? Blocks::vector(in[at].data(), counts.data(), displs.data(), &int_type())
                                     : Blocks::regular(in[at].data(), count, &int_type())}(s);
                        }),
              "");
    for (int p = 0; p < world.processes(); ++p) expect_in(p, false);
  }
  for (int root = 0; root < world.processes(); ++root) {
    reset(true);
    EXPECT_EQ(world.run(3,
                        [&](int p, Comm&, Schedule& s) {
                          const auto at = static_cast<std::size_t>(p);
                          return plan::Gather{out[at].data(), count, &int_type(),
                                              Blocks::regular(in[at].data(), count, &int_type()),
                                              root_argument(p, root)}(s);
                        }),
              "");
    expect_in(root, false);
    reset(false);
    EXPECT_EQ(world.run(4,
                        [&](int p, Comm&, Schedule& s) {
                          const auto at = static_cast<std::size_t>(p);
                          return plan::Scatter{Blocks::regular(out[at].data(), count, &int_type()), in[at].data(),
                                               count, &int_type(), root_argument(p, root)}(s);
                        }),
              "");
    for (int r = 0; r < others(root); ++r) {
      const int p = first_other(root) + r;
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(in[static_cast<std::size_t>(p)][static_cast<std::size_t>(i)], value(root, p, i));
      }
    }
  }
}

}  // namespace

const Nodes* nodes_of(Comm& comm) {
  static std::vector<std::unique_ptr<const Nodes>> all;
  if (comm.inter || spread == Spread::one_node) return nullptr;
  all.push_back(std::make_unique<const Nodes>(comm.rank, comm.size, node_of));
  return all.back()->are_worth_leaders() ? all.back().get() : nullptr;
}

}  // namespace coll
}  // namespace heddle
