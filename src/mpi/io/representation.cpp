#include "mpi/io/representation.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mpi/io/of_rank.hpp"
#include "objects/binding/impl.hpp"
#include "objects/datatype/elements.hpp"
#include "objects/datatype/external.hpp"
#include "objects/datatype/make.hpp"
#include "objects/datatype/name.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::io {

namespace {

class Native final : public Representation {
 public:
  using Representation::Representation;
  bool is_native() const override { return true; }
  Error size(const Datatype& predefined, std::int64_t& bytes) const override {
    bytes = predefined.size;
    return success;
  }
  Error encode(const Datatype&, const void*, MPI_Count, void*) const override { return success; }
  Error decode(const Datatype&, void*, MPI_Count, void*) const override { return success; }
};

class External32 final : public Representation {
 public:
  External32() : Representation("external32") {}
  Error size(const Datatype& predefined, std::int64_t& bytes) const override {
    bytes = datatype::external_size(predefined);
    return success;
  }
  Error encode(const Datatype& type, const void* buf, MPI_Count count, void* out) const override {
    return datatype::encode_external(type, buf, count, out);
  }
  Error decode(const Datatype& type, void* buf, MPI_Count count, void* in) const override {
    return datatype::decode_external(type, buf, count, in);
  }
};

// Signatures of the program's functions. Counts are int in those of MPI_Register_datarep.
template <class Convert>
class Registered final : public Representation {
 public:
  Registered(std::string name, Convert* read, Convert* write, MPI_Datarep_extent_function* extent, void* extra_state)
      : Representation(std::move(name)), read_(read), write_(write), extent_(extent), extra_state_(extra_state) {}

  bool calls_program() const override { return true; }

  Error size(const Datatype& predefined, std::int64_t& bytes) const override {
    MPI_Aint extent = 0;
    const int code = extent_(handle_of<MPI_Datatype>(predefined), &extent, extra_state_);
    bytes = extent;
    if (code != MPI_SUCCESS) return told("extent", code);
    if (extent >= 0) return success;
    return fail(MPI_ERR_CONVERSION, "the extent function of \"%s\" returned %lld bytes for %s", name().c_str(),
                static_cast<long long>(extent), datatype::label(predefined));
  }
  Error encode(const Datatype& type, const void* buf, MPI_Count count, void* out) const override {
    if (write_ == nullptr) return pack(type, buf, count, 0, out, packed_size(type, count)), success;
    return convert("write conversion", write_, type, const_cast<void*>(buf), count, out);
  }
  Error decode(const Datatype& type, void* buf, MPI_Count count, void* in) const override {
    if (read_ == nullptr) return unpack(type, buf, count, 0, in, packed_size(type, count)), success;
    return convert("read conversion", read_, type, buf, count, in);
  }

 private:
  using Number = std::conditional_t<std::is_same_v<Convert, MPI_Datarep_conversion_function>, int, MPI_Count>;

  // The functions find their place in the buffer by the number of elements before it.
  Error convert(const char* what, Convert* function, const Datatype& type, void* buf, MPI_Count count,
                void* file) const {
    std::int64_t each = 0;
    if (Error e = file_size(*this, type, each)) return e;
    const LentHandle lent(const_cast<Datatype&>(type));
    auto* at = static_cast<char*>(file);
    for (MPI_Count position = 0; position < count;) {
      const MPI_Count n = std::min(count - position, MPI_Count{std::numeric_limits<Number>::max()});
      const int code = function(buf, reinterpret_cast<MPI_Datatype>(lent.value()), static_cast<Number>(n), at, position,
                                extra_state_);
      if (code != MPI_SUCCESS) return told(what, code);
      position += n;
      at += n * each;
    }
    return success;
  }

  Error told(const char* function, int code) const {
    if (code == MPI_SUCCESS) return success;
    return fail(code, "the %s function of the data representation \"%s\" returned error code %d", function,
                name().c_str(), code);
  }

  Convert* read_;
  Convert* write_;
  MPI_Datarep_extent_function* extent_;
  void* extra_state_;
};

// The in_file type of a predefined datatype: as many bytes.
Error bytes_in_file(const Representation& representation, const Datatype& type, datatype::Reference& made) {
  std::int64_t bytes = 0;
  if (Error e = representation.size(type, bytes)) return e;
  if (bytes == type.size && bytes == type.extent) return made = datatype::Reference(type), success;
  Datatype* contiguous = nullptr;
  datatype::Contents contents{MPI_COMBINER_CONTIGUOUS, true, {bytes}, 0, {predefined_datatype(MPI_BYTE)}};
  if (Error e = datatype::make(std::move(contents), contiguous)) return e;
  made = datatype::Reference::adopt(contiguous);
  return success;
}

// Subarrays and darrays are described by a layout, which has to be made anew.
Error lay_out(datatype::Contents& contents, datatype::Reference& held) {
  const MPI_Count* v = contents.values.data();
  Datatype* layout = nullptr;
  if (contents.combiner == MPI_COMBINER_SUBARRAY) {
    const auto dims = static_cast<int>(v[0]);
    if (Error e = datatype::make_subarray_layout(dims, v + 1, v + 1 + dims, v + 1 + 2 * dims,
                                                 static_cast<int>(v[1 + 3 * dims]), *contents.types[0], layout))
      return e;
  } else if (contents.combiner == MPI_COMBINER_DARRAY) {
    const auto dims = static_cast<int>(v[2]);
    const MPI_Count* sizes = v + 3;
    if (Error e = datatype::make_darray_layout(static_cast<int>(v[0]), static_cast<int>(v[1]), dims, sizes,
                                               sizes + dims, sizes + 2 * dims, sizes + 3 * dims,
                                               static_cast<int>(sizes[4 * dims]), *contents.types[0], layout))
      return e;
  } else {
    return success;
  }
  held = datatype::Reference::adopt(layout);
  contents.layout = layout;
  return success;
}

Error transform(const Representation& representation, const Datatype& type, datatype::Reference& made) {
  if (type.predefined) return bytes_in_file(representation, type, made);
  const datatype::Contents& old = *type.contents;
  std::vector<datatype::Reference> parts(old.types.size());
  datatype::Contents contents{old.combiner, old.large, old.values, old.addresses, {}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (Error e = transform(representation, *old.types[i], parts[i])) return e;
    contents.types.push_back(&*parts[i]);
  }
  datatype::Reference layout;
  if (Error e = lay_out(contents, layout)) return e;
  Datatype* transformed = nullptr;
  if (Error e = datatype::make(std::move(contents), transformed)) return e;
  made = datatype::Reference::adopt(transformed);
  return success;
}

template <class Convert>
Error register_representation(const char* name, Convert* read, Convert* write, MPI_Datarep_extent_function* extent,
                              void* extra_state) {
  if (std::string_view(name).size() >= MPI_MAX_DATAREP_STRING)
    return fail(MPI_ERR_ARG, "datarep has more than %d characters", MPI_MAX_DATAREP_STRING - 1);
  if (extent == nullptr) return fail(MPI_ERR_ARG, "dtype_file_extent_fn is null");
  if (find_representation(name) != nullptr)
    return fail(MPI_ERR_DUP_DATAREP, "there is a data representation \"%s\" already", name);
  of_rank().add(std::make_shared<Registered<Convert>>(name, read, write, extent, extra_state));
  return success;
}

}  // namespace

Error file_size(const Representation& representation, const Datatype& type, std::int64_t& bytes) {
  if (representation.is_native()) return bytes = type.size, success;
  bytes = 0;
  Error error = success;
  datatype::for_each_leaf(type, 0, 1, [&](const Datatype& leaf, std::uintptr_t, MPI_Count n) {
    std::int64_t each = 0;
    error = representation.size(leaf, each);
    bytes += each * n;
    return !error;
  });
  return error;
}

Error in_file(const Representation& representation, const Datatype& type, datatype::Reference& made) {
  if (representation.is_native()) return made = datatype::Reference(type), success;
  if (Error e = transform(representation, type, made)) return e;
  commit(const_cast<Datatype&>(*made));
  return success;
}

std::shared_ptr<const Representation> native() {
  static const auto made = std::make_shared<const Native>("native");
  return made;
}

std::shared_ptr<const Representation> find_representation(const std::string& name) {
  static const auto internal = std::make_shared<const Native>("internal");
  static const auto external32 = std::make_shared<const External32>();
  if (name == "native") return native();
  if (name == "internal") return internal;
  if (name == "external32") return external32;
  return of_rank().find(name);
}

}  // namespace heddle::io

namespace heddle::mpi {

Error Register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
                       MPI_Datarep_conversion_function* write_conversion_fn,
                       MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return io::register_representation(datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn,
                                     extra_state);
}

Error Register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read_conversion_fn,
                         MPI_Datarep_conversion_function_c* write_conversion_fn,
                         MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return io::register_representation(datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn,
                                     extra_state);
}

}  // namespace heddle::mpi
