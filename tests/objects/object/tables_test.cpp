// Tables of a rank on their own: attribute keys and values, added error codes.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "objects/object/attribute.hpp"
#include "objects/object/error_table.hpp"
#include "objects/object/open_objects.hpp"

namespace heddle {
namespace {

int deleted = 0;
int count_delete(MPI_Comm, int, void*, void*) {
  ++deleted;
  return MPI_SUCCESS;
}

Keyval* new_keyval() {
  auto* keyval = new Keyval{.owner_kind = Kind::comm};
  keyval->remove = reinterpret_cast<void (*)()>(count_delete);
  return keyval;
}

TEST(Attributes, KeyOutlivesItsFreeWhileUsed) {
  deleted = 0;
  KeyvalTable table;
  const int number = table.add(new_keyval());
  {
    AttributeSet set;
    Keyval* keyval = table.find(number, Kind::comm);
    ASSERT_NE(keyval, nullptr);
    EXPECT_EQ(table.find(number, Kind::datatype), nullptr);
    EXPECT_FALSE(set.set(0, *keyval, nullptr));
    release(*keyval);
    EXPECT_TRUE(table.free(number, Kind::comm));
    EXPECT_FALSE(table.free(number, Kind::comm));
    void* value;
    EXPECT_TRUE(set.get(number, value));
    Keyval* freed = table.find(number, Kind::comm);
    ASSERT_NE(freed, nullptr);
    EXPECT_TRUE(freed->freed);
    release(*freed);
    EXPECT_FALSE(set.remove_all(0));
    EXPECT_EQ(deleted, 1);
    EXPECT_EQ(table.find(number, Kind::comm), nullptr);
  }
}

TEST(Attributes, ManyThreads) {
  deleted = 0;
  KeyvalTable table;
  AttributeSet set;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const int number = table.add(new_keyval());
        Keyval* keyval = table.find(number, Kind::comm);
        EXPECT_FALSE(set.set(0, *keyval, keyval));
        void* value = nullptr;
        EXPECT_TRUE(set.get(number, value));
        EXPECT_EQ(value, keyval);
        release(*keyval);
        EXPECT_TRUE(table.free(number, Kind::comm));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(set.remove_all(0));
  EXPECT_EQ(deleted, 800);
}

TEST(OpenObjects, LoseTheirHandlesAtTheEnd) {
  struct Thing {
    std::uintptr_t handle;
  };
  Thing kept{1}, freed{2}, of_another_rank{3};
  OpenObjects<Thing> open, open_of_another_rank;
  open.add(kept);
  open.add(freed);
  open_of_another_rank.add(of_another_rank);
  open.remove(freed);
  open.retire_handles();
  EXPECT_EQ(kept.handle, 0u);
  EXPECT_EQ(freed.handle, 2u);
  EXPECT_EQ(of_another_rank.handle, 3u);
}

TEST(Errors, ClassesKeepTheirCodes) {
  ErrorTable table;
  const int error_class = table.add_class();
  int code = 0;
  EXPECT_FALSE(table.add_code(error_class, code));
  EXPECT_EQ(*table.last_used(), code);
  int another = 0;
  EXPECT_TRUE(table.add_code(code, another));  // a code is no class
  EXPECT_TRUE(table.add_code(99999, another));
  EXPECT_TRUE(table.remove_class(error_class));  // it still has a code
  EXPECT_FALSE(table.add_string(code, "text"));
  EXPECT_TRUE(table.remove_code(code));  // it still has a string
  EXPECT_TRUE(table.remove_string(MPI_ERR_ARG));
  EXPECT_FALSE(table.remove_string(code));
  EXPECT_FALSE(table.remove_code(code));
  EXPECT_FALSE(table.remove_class(error_class));
  EXPECT_EQ(*table.last_used(), MPI_ERR_LASTCODE);
}

TEST(Errors, EveryClassOfTheStandardHasItsText) {
  const ErrorTable table;
  for (int code = MPI_SUCCESS; code <= MPI_ERR_ABI; ++code) {
    int error_class = -1;
    std::string text;
    EXPECT_TRUE(table.find_class(code, error_class));
    EXPECT_EQ(error_class, code);
    EXPECT_TRUE(table.find_text(code, text));
    EXPECT_LT(text.size(), std::size_t{MPI_MAX_ERROR_STRING});
  }
  int error_class = 0;
  EXPECT_FALSE(table.find_class(MPI_ERR_ABI + 1, error_class));
  EXPECT_FALSE(table.find_class(-1, error_class));
}

}  // namespace
}  // namespace heddle
