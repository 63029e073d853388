// Every collective that moves data: all modes, datatypes on both sides, roots, in place, and counts that select each
// algorithm.
#include "harness.hpp"

using namespace test;

namespace {

struct Case {
  Communicator c;
  Mode mode;
  const Type& sends;
  const Type& receives;
  int count;  // pairs of ints in a block (ints, for MPI_INT)
  int root;
  bool in_place;

  // Elements of a type that hold a block.
  int elements(const Type& type, int blocks = 1) const { return blocks * count * 2 / type.ints(); }
  int ints() const { return count * 2; }
  std::string text(const char* what) const {
    return std::string(what) + " " + name_of(mode) + " on " + c.name + ", " + sends.name + " to " + receives.name +
           ", count " + std::to_string(count) + ", root " + std::to_string(root) + (in_place ? ", in place" : "");
  }
};

void test_bcast(const Case& t) {
  const Type& type = t.c.rank == t.root ? t.sends : t.receives;
  Buffer buffer(type, t.elements(type));
  const auto v = [&](MPI_Count i) { return value(t.root, 0, i); };
  exercise(
      t.mode, bcast,
      [&] {
        if (t.c.rank == t.root) buffer.fill(0, t.ints(), v);
      },
      [&] {
        buffer.verify(0, t.ints(), v, t.text("bcast"));
        buffer.verify_rest(t.text("bcast"));
      },
      buffer.data(), t.elements(type), type.handle, t.root, t.c.comm);
}

void test_gather(const Case& t) {
  const bool at_root = t.c.rank == t.root;
  Buffer mine(t.sends, t.elements(t.sends)), all(t.receives, t.elements(t.receives, t.c.size));
  const bool in_place = t.in_place && at_root;
  const auto fill = [&] {
    const auto v = [&](MPI_Count i) { return value(t.c.rank, 0, i); };
    if (in_place) {
      all.fill(static_cast<MPI_Count>(t.root) * t.ints(), t.ints(), v);
    } else {
      mine.fill(0, t.ints(), v);
    }
  };
  const auto verify = [&] {
    for (int r = 0; at_root && r < t.c.size; ++r) {
      all.verify(
          static_cast<MPI_Count>(r) * t.ints(), t.ints(), [&](MPI_Count i) { return value(r, 0, i); },
          t.text("gather"));
    }
    all.verify_rest(t.text("gather"));
  };
  exercise(t.mode, gather, fill, verify, in_place ? MPI_IN_PLACE : mine.data(), t.elements(t.sends), t.sends.handle,
           all.data(), t.elements(t.receives), t.receives.handle, t.root, t.c.comm);
}

void test_scatter(const Case& t) {
  const bool at_root = t.c.rank == t.root;
  Buffer all(t.sends, t.elements(t.sends, t.c.size)), mine(t.receives, t.elements(t.receives));
  const bool in_place = t.in_place && at_root;
  const auto fill = [&] {
    for (int r = 0; at_root && r < t.c.size; ++r) {
      all.fill(static_cast<MPI_Count>(r) * t.ints(), t.ints(), [&](MPI_Count i) { return value(t.root, r, i); });
    }
  };
  const auto verify = [&] {
    if (!in_place) {
      mine.verify(
          0, t.ints(), [&](MPI_Count i) { return value(t.root, t.c.rank, i); }, t.text("scatter"));
    }
    mine.verify_rest(t.text("scatter"));
  };
  exercise(t.mode, scatter, fill, verify, all.data(), t.elements(t.sends), t.sends.handle,
           in_place ? MPI_IN_PLACE : mine.data(), t.elements(t.receives), t.receives.handle, t.root, t.c.comm);
}

void test_allgather(const Case& t) {
  Buffer mine(t.sends, t.elements(t.sends)), all(t.receives, t.elements(t.receives, t.c.size));
  const auto fill = [&] {
    const auto v = [&](MPI_Count i) { return value(t.c.rank, 0, i); };
    if (t.in_place) {
      all.fill(static_cast<MPI_Count>(t.c.rank) * t.ints(), t.ints(), v);
    } else {
      mine.fill(0, t.ints(), v);
    }
  };
  const auto verify = [&] {
    for (int r = 0; r < t.c.size; ++r) {
      all.verify(
          static_cast<MPI_Count>(r) * t.ints(), t.ints(), [&](MPI_Count i) { return value(r, 0, i); },
          t.text("allgather"));
    }
    all.verify_rest(t.text("allgather"));
  };
  exercise(t.mode, allgather, fill, verify, t.in_place ? MPI_IN_PLACE : mine.data(), t.elements(t.sends),
           t.sends.handle, all.data(), t.elements(t.receives), t.receives.handle, t.c.comm);
}

void test_alltoall(const Case& t) {
  Buffer from(t.sends, t.elements(t.sends, t.c.size)), to(t.receives, t.elements(t.receives, t.c.size));
  Buffer& source = t.in_place ? to : from;
  const auto fill = [&] {
    for (int r = 0; r < t.c.size; ++r) {
      source.fill(static_cast<MPI_Count>(r) * t.ints(), t.ints(), [&](MPI_Count i) { return value(t.c.rank, r, i); });
    }
  };
  const auto verify = [&] {
    for (int r = 0; r < t.c.size; ++r) {
      to.verify(
          static_cast<MPI_Count>(r) * t.ints(), t.ints(), [&](MPI_Count i) { return value(r, t.c.rank, i); },
          t.text("alltoall"));
    }
    to.verify_rest(t.text("alltoall"));
  };
  exercise(t.mode, alltoall, fill, verify, t.in_place ? MPI_IN_PLACE : from.data(), t.elements(t.sends), t.sends.handle,
           to.data(), t.elements(t.receives), t.receives.handle, t.c.comm);
}

// The vector variants: rank r's block (or the one from a to b) has a count of its own, zero for some, and blocks lie
// backwards with gaps between them.
struct Layout {
  std::vector<int> counts, displs;  // in elements
  int total = 0;

  void add(int elements) {
    counts.push_back(elements);
    total += elements + 1;
  }
  void finish(int unit) {
    int at = total;
    for (int n : counts) {
      at -= n + 1;
      displs.push_back(at * unit);
    }
  }
};

int pairs_of(const Case& t, int from, int to) { return (from * 7 + to * 3) % 4 == 1 ? 0 : t.count + (from + to) % 3; }

template <class F>
Layout layout(const Case& t, const Type& type, F&& pairs, int unit = 1) {
  Layout l;
  for (int r = 0; r < t.c.size; ++r) l.add(pairs(r) * 2 / type.ints());
  l.finish(unit);
  return l;
}

template <class F>
void for_blocks(const Case& t, const Layout& l, const Type& type, int unit, F&& f) {
  for (int r = 0; r < t.c.size; ++r) {
    const auto at = static_cast<std::size_t>(r);
    f(r, static_cast<MPI_Count>(l.displs[at] / unit) * type.ints(), static_cast<MPI_Count>(l.counts[at]) * type.ints());
  }
}

void test_gatherv(const Case& t, bool all_gather) {
  const char* what = all_gather ? "allgatherv" : "gatherv";
  const bool receives = all_gather || t.c.rank == t.root;
  const bool in_place = t.in_place && receives;
  const Layout l = layout(t, t.receives, [&](int r) { return pairs_of(t, r, 0); });
  const int my_ints = pairs_of(t, t.c.rank, 0) * 2;
  Buffer mine(t.sends, my_ints / t.sends.ints()), all(t.receives, l.total);
  const auto v = [&](MPI_Count i) { return value(t.c.rank, 0, i); };
  const auto fill = [&] {
    if (in_place) {
      const auto me = static_cast<std::size_t>(t.c.rank);
      all.fill(static_cast<MPI_Count>(l.displs[me]) * t.receives.ints(), my_ints, v);
    } else {
      mine.fill(0, my_ints, v);
    }
  };
  const auto verify = [&] {
    if (receives) {
      for_blocks(t, l, t.receives, 1, [&](int r, MPI_Count first, MPI_Count n) {
        all.verify(
            first, n, [&](MPI_Count i) { return value(r, 0, i); }, t.text(what));
      });
    }
    all.verify_rest(t.text(what));
  };
  const void* from = in_place ? MPI_IN_PLACE : mine.data();
  const int n = my_ints / t.sends.ints();
  if (all_gather) {
    exercise(t.mode, allgatherv, fill, verify, from, n, t.sends.handle, all.data(), l.counts.data(), l.displs.data(),
             t.receives.handle, t.c.comm);
  } else {
    exercise(t.mode, gatherv, fill, verify, from, n, t.sends.handle, all.data(), receives ? l.counts.data() : nullptr,
             receives ? l.displs.data() : nullptr, t.receives.handle, t.root, t.c.comm);
  }
}

void test_scatterv(const Case& t) {
  const bool at_root = t.c.rank == t.root;
  const bool in_place = t.in_place && at_root;
  const Layout l = layout(t, t.sends, [&](int r) { return pairs_of(t, 0, r); });
  const int my_ints = pairs_of(t, 0, t.c.rank) * 2;
  Buffer all(t.sends, l.total), mine(t.receives, my_ints / t.receives.ints());
  const auto fill = [&] {
    if (!at_root) return;
    for_blocks(t, l, t.sends, 1, [&](int r, MPI_Count first, MPI_Count n) {
      all.fill(first, n, [&](MPI_Count i) { return value(t.root, r, i); });
    });
  };
  const auto verify = [&] {
    if (!in_place) {
      mine.verify(
          0, my_ints, [&](MPI_Count i) { return value(t.root, t.c.rank, i); }, t.text("scatterv"));
    }
    mine.verify_rest(t.text("scatterv"));
  };
  exercise(t.mode, scatterv, fill, verify, all.data(), at_root ? l.counts.data() : nullptr,
           at_root ? l.displs.data() : nullptr, t.sends.handle, in_place ? MPI_IN_PLACE : mine.data(),
           my_ints / t.receives.ints(), t.receives.handle, t.root, t.c.comm);
}

void test_alltoallv(const Case& t, bool wide) {
  const char* what = wide ? "alltoallw" : "alltoallv";
  const auto me = t.c.rank;
  // In place both directions of a pair must be alike.
  const auto pairs = [&](int a, int b) { return t.in_place && a > b ? pairs_of(t, b, a) : pairs_of(t, a, b); };
  const int send_unit = wide ? t.sends.extent * static_cast<int>(sizeof(int)) : 1;
  const int recv_unit = wide ? t.receives.extent * static_cast<int>(sizeof(int)) : 1;
  Layout out = layout(
      t, t.sends, [&](int r) { return pairs(me, r); }, send_unit);
  Layout in = layout(
      t, t.receives, [&](int r) { return pairs(r, me); }, recv_unit);
  Buffer from(t.sends, out.total), to(t.receives, in.total);
  const auto fill = [&] {
    Buffer& source = t.in_place ? to : from;
    for_blocks(t, t.in_place ? in : out, source.type(), t.in_place ? recv_unit : send_unit,
               [&](int r, MPI_Count first, MPI_Count n) {
                 source.fill(first, n, [&](MPI_Count i) { return value(me, r, i); });
               });
  };
  const auto verify = [&] {
    for_blocks(t, in, t.receives, recv_unit, [&](int r, MPI_Count first, MPI_Count n) {
      to.verify(
          first, n, [&](MPI_Count i) { return value(r, me, i); }, t.text(what));
    });
    to.verify_rest(t.text(what));
  };
  const void* source = t.in_place ? MPI_IN_PLACE : from.data();
  if (wide) {
    const std::vector<MPI_Datatype> send_types(static_cast<std::size_t>(t.c.size), t.sends.handle);
    const std::vector<MPI_Datatype> recv_types(static_cast<std::size_t>(t.c.size), t.receives.handle);
    exercise(t.mode, alltoallw, fill, verify, source, out.counts.data(), out.displs.data(), send_types.data(),
             to.data(), in.counts.data(), in.displs.data(), recv_types.data(), t.c.comm);
  } else {
    exercise(t.mode, alltoallv, fill, verify, source, out.counts.data(), out.displs.data(), t.sends.handle, to.data(),
             in.counts.data(), in.displs.data(), t.receives.handle, t.c.comm);
  }
}

// No one leaves a barrier before everyone has come: the last to come is someone else each time.
void test_barrier(const Communicator& c, Mode mode) {
  for (int last = 0; last < c.size; ++last) {
    exercise(
        mode, barrier,
        [&] {
          if (c.rank == last && c.size > 1) MPI_Send(nullptr, 0, MPI_INT, (last + 1) % c.size, 5, c.comm);
        },
        [&] {
          if (c.rank != (last + 1) % c.size || c.size == 1) return;
          MPI_Recv(nullptr, 0, MPI_INT, last, 5, c.comm, MPI_STATUS_IGNORE);
          ++checks;
        },
        c.comm);
  }
}

void test_all(const Case& t) {
  test_bcast(t);
  test_gather(t);
  test_scatter(t);
  test_allgather(t);
  test_alltoall(t);
  test_gatherv(t, false);
  test_gatherv(t, true);
  test_scatterv(t);
  test_alltoallv(t, false);
  test_alltoallv(t, true);
}

}  // namespace

int main(int argc, char** argv) {
  begin(argc, argv);
  Random random(seed);
  std::vector<Type> types = all_types();
  std::vector<Communicator> communicators = all_communicators();
  const auto pick = [&](const std::vector<Type>& from) -> const Type& {
    return from[static_cast<std::size_t>(random.below(static_cast<int>(from.size())))];
  };
  for (const Communicator& c : communicators) {
    for (Mode mode : all_modes) {
      test_barrier(c, mode);
      const int small[] = {0, 1, 2, 17, 300};
      for (int count : small) {
        for (int root = 0; root<c.size; root += c.size> 5 ? 3 : 1) {
          for (bool in_place : {false, true}) test_all({c, mode, pick(types), pick(types), count, root, in_place});
        }
      }
      // Long enough for rendezvous, and for slices of the whole.
      test_all({c, mode, pick(types), pick(types), 5003, random.below(1000) % c.size, false});
      test_bcast({c, mode, types[0], pick(types), 100003, random.below(1000) % c.size, false});
      test_bcast({c, mode, pick(types), pick(types), 80007, random.below(1000) % c.size, false});
    }
  }
  free_communicators(communicators);
  for (Type& type : types) {
    if (type.handle != MPI_INT) MPI_Type_free(&type.handle);
  }
  return end();
}
