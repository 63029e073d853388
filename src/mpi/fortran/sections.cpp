#include "mpi/fortran/sections.hpp"

#include <cstring>

#include "mpi/fortran/handles.hpp"

namespace heddle::fortran {
namespace {

std::ptrdiff_t elements_of(const CFI_cdesc_t& section) {
  std::ptrdiff_t elements = 1;
  for (int d = 0; d < section.rank; ++d) elements *= section.dim[d].extent;
  return elements;
}

// Calls `with` for every element in array element order: the first dimension varies fastest.
template <class With>
void for_each_element(const CFI_cdesc_t& section, With with) {
  std::ptrdiff_t index[CFI_MAX_RANK] = {};
  auto* at = static_cast<char*>(section.base_addr);
  for (std::ptrdiff_t n = elements_of(section); n > 0; --n) {
    with(at);
    for (int d = 0; d < section.rank; ++d) {
      at += section.dim[d].sm;
      if (++index[d] < section.dim[d].extent) break;
      at -= section.dim[d].sm * section.dim[d].extent;
      index[d] = 0;
    }
  }
}

void release(MPI_Datatype& type) {
  if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
}

// The first `elements` of a section whose dimensions below `rank` are taken, each element being `element`; null if it fails.
MPI_Datatype describe(const CFI_cdesc_t& section, int rank, std::ptrdiff_t elements, MPI_Datatype element) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (rank == 0 || elements == 1) return MPI_Type_dup(element, &type) == MPI_SUCCESS ? type : MPI_DATATYPE_NULL;
  std::ptrdiff_t in_slab = 1;
  for (int d = 0; d + 1 < rank; ++d) in_slab *= section.dim[d].extent;
  const std::ptrdiff_t slabs = elements / in_slab, rest = elements % in_slab;
  const MPI_Aint stride = section.dim[rank - 1].sm;
  if (slabs == 0) return describe(section, rank - 1, elements, element);

  MPI_Datatype slab = describe(section, rank - 1, in_slab, element), whole = MPI_DATATYPE_NULL;
  if (slab == MPI_DATATYPE_NULL) return slab;
  const int code = MPI_Type_create_hvector_c(slabs, 1, stride, slab, &whole);
  release(slab);
  if (code != MPI_SUCCESS) return MPI_DATATYPE_NULL;
  if (rest == 0) return whole;

  MPI_Datatype last = describe(section, rank - 1, rest, element);
  if (last != MPI_DATATYPE_NULL) {
    const MPI_Count lengths[] = {1, 1}, places[] = {0, slabs * stride};
    const MPI_Datatype types[] = {whole, last};
    if (MPI_Type_create_struct_c(2, lengths, places, types, &type) != MPI_SUCCESS) type = MPI_DATATYPE_NULL;
    release(last);
  }
  release(whole);
  return type;
}

// True if elements of the type lie one after another without gaps; then `size` is theirs.
bool is_dense(MPI_Datatype type, MPI_Count& size) {
  MPI_Count lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  return MPI_Type_size_c(type, &size) == MPI_SUCCESS && MPI_Type_get_extent_c(type, &lower, &extent) == MPI_SUCCESS &&
         MPI_Type_get_true_extent_c(type, &true_lower, &true_extent) == MPI_SUCCESS && size > 0 && lower == 0 &&
         true_lower == 0 && extent == size && true_extent == size;
}

// The datatype of the first bytes of a section, as `count` of `datatype` means them; null if there is none.
MPI_Datatype datatype_for(const CFI_cdesc_t& section, MPI_Count count, MPI_Datatype datatype) {
  MPI_Count size = 0;
  const auto element_size = static_cast<MPI_Count>(section.elem_len);
  if (!is_dense(datatype, size) || element_size % size != 0 || count * size % element_size != 0)
    return MPI_DATATYPE_NULL;
  const MPI_Count elements = count * size / element_size;
  if (elements > elements_of(section)) return MPI_DATATYPE_NULL;
  MPI_Datatype element = MPI_DATATYPE_NULL;
  if (MPI_Type_contiguous_c(element_size / size, datatype, &element) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
  MPI_Datatype type = describe(section, section.rank, elements, element);
  release(element);
  if (type != MPI_DATATYPE_NULL && MPI_Type_commit(&type) != MPI_SUCCESS) release(type);
  return type;
}

}  // namespace

bool is_contiguous(const CFI_cdesc_t& section) {
  auto distance = static_cast<std::ptrdiff_t>(section.elem_len);
  for (int d = 0; d < section.rank; ++d) {
    const CFI_dim_t& dim = section.dim[d];
    if (dim.extent == 0 || dim.extent == -1) return true;  // empty; or assumed size, which always is
    if (dim.extent > 1 && dim.sm != distance) return elements_of(section) <= 1;
    distance *= dim.extent;
  }
  return true;
}

Copied::Copied(const CFI_cdesc_t* section, bool written)
    : section_(section), written_(written), base_(section->base_addr) {
  if (is_contiguous(*section)) return;
  copy_.reset(new char[static_cast<std::size_t>(elements_of(*section)) * section->elem_len]);
  base_ = copy_.get();
  char* to = copy_.get();
  for_each_element(*section, [&](char* element) {
    std::memcpy(to, element, section->elem_len);
    to += section->elem_len;
  });
}

Copied::~Copied() {
  if (!copy_ || !written_) return;
  const char* from = copy_.get();
  for_each_element(*section_, [&](char* element) {
    std::memcpy(element, from, section_->elem_len);
    from += section_->elem_len;
  });
}

Mapping::Mapping(const CFI_cdesc_t* section, MPI_Count count, const Fint* datatype)
    : base_(section->base_addr), datatype_(datatype) {
  if (count <= 0 || is_contiguous(*section)) return;
  made_ = datatype_for(*section, count, handle<MPI_Datatype>(*datatype));
  possible_ = made_ != MPI_DATATYPE_NULL;
  if (!possible_) return;
  made_number_ = number(made_);
  datatype_ = &made_number_;
}

Mapping::~Mapping() { release(made_); }

}  // namespace heddle::fortran
