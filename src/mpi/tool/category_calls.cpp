// MPI_T_category_* (MPI 5.0, section 15.3.9). Everything is in the category heddle or in one of those that it contains.
#include <array>
#include <cstring>
#include <vector>

#include "mpi/tool/interface.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::mpi {

using tool::give;
using tool::Interface;
using tool::Pvar;

namespace {

struct Category {
  const char* name;
  const char* description;
  bool root;  // contains the control variables and the other categories
  bool of_vnis;
};
constexpr std::array categories{
    Category{"heddle", "All variables", true, false},
    Category{"heddle_vni", "Actions of the safety model: messages, polls, locks, and the time of threads", false, true},
    Category{"heddle_communicator", "Use of a communicator by threads", false, false},
};

const Category* category_at(int index) {
  return index >= 0 && index < static_cast<int>(categories.size()) ? &categories[static_cast<std::size_t>(index)]
                                                                   : nullptr;
}

std::vector<int> cvars_of(const Category& category) {
  std::vector<int> indices;
  for (int i = 0; category.root && i < static_cast<int>(tool::cvars().size()); ++i) indices.push_back(i);
  return indices;
}

std::vector<int> pvars_of(const Category& category) {
  std::vector<int> indices;
  if (category.root) return indices;
  const auto& all = tool::pvars();
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((all[i].source != Pvar::Source::comm) == category.of_vnis) indices.push_back(static_cast<int>(i));
  return indices;
}

std::vector<int> categories_of(const Category& category) {
  std::vector<int> indices;
  for (int i = 1; category.root && i < static_cast<int>(categories.size()); ++i) indices.push_back(i);
  return indices;
}

std::vector<int> events_of(const Category&) { return {}; }  // there are none

// The members of one sort, as many as there is room for.
template <class MembersOf>
Error list(int cat_index, int len, int indices[], MembersOf members_of) {
  return tool::call([&](Interface&) {
    const Category* category = category_at(cat_index);
    if (category == nullptr) return Error(MPI_T_ERR_INVALID_INDEX);
    if (len < 0 || (len > 0 && indices == nullptr)) return Error(MPI_T_ERR_INVALID);
    const std::vector<int> members = members_of(*category);
    for (std::size_t i = 0; i < members.size() && i < static_cast<std::size_t>(len); ++i) indices[i] = members[i];
    return success;
  });
}

int size(const std::vector<int>& members) { return static_cast<int>(members.size()); }

}  // namespace

Error T_category_get_num(int* num_cat) {
  return tool::call([&](Interface&) {
    if (num_cat == nullptr) return Error(MPI_T_ERR_INVALID);
    *num_cat = static_cast<int>(categories.size());
    return success;
  });
}

Error T_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len, int* num_cvars,
                          int* num_pvars, int* num_categories) {
  return tool::call([&](Interface&) {
    const Category* category = category_at(cat_index);
    if (category == nullptr) return Error(MPI_T_ERR_INVALID_INDEX);
    give(name, name_len, category->name);
    give(desc, desc_len, category->description);
    give(num_cvars, size(cvars_of(*category)));
    give(num_pvars, size(pvars_of(*category)));
    give(num_categories, size(categories_of(*category)));
    return success;
  });
}

Error T_category_get_num_events(int cat_index, int* num_events) {
  return tool::call([&](Interface&) {
    const Category* category = category_at(cat_index);
    if (category == nullptr) return Error(MPI_T_ERR_INVALID_INDEX);
    give(num_events, size(events_of(*category)));
    return success;
  });
}

Error T_category_get_index(const char* name, int* cat_index) {
  return tool::call([&](Interface&) {
    if (name == nullptr || cat_index == nullptr) return Error(MPI_T_ERR_INVALID);
    for (std::size_t i = 0; i < categories.size(); ++i) {
      if (std::strcmp(categories[i].name, name) != 0) continue;
      *cat_index = static_cast<int>(i);
      return success;
    }
    return Error(MPI_T_ERR_INVALID_NAME);
  });
}

Error T_category_get_cvars(int cat_index, int len, int indices[]) { return list(cat_index, len, indices, cvars_of); }
Error T_category_get_pvars(int cat_index, int len, int indices[]) { return list(cat_index, len, indices, pvars_of); }
Error T_category_get_events(int cat_index, int len, int indices[]) { return list(cat_index, len, indices, events_of); }
Error T_category_get_categories(int cat_index, int len, int indices[]) {
  return list(cat_index, len, indices, categories_of);
}

// Nothing is ever added: the number never changes.
Error T_category_changed(int* update_number) {
  return tool::call([&](Interface&) {
    if (update_number == nullptr) return Error(MPI_T_ERR_INVALID);
    *update_number = 0;
    return success;
  });
}

}  // namespace heddle::mpi
