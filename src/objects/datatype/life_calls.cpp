// Commit, duplicate, free and name datatypes (MPI 5.0, sections 5.1.9, 5.1.10, 7.8).
#include "objects/binding/impl.hpp"
#include "objects/datatype/make.hpp"
#include "objects/datatype/name.hpp"
#include "objects/datatype/predefined.hpp"
#include "objects/object/attribute.hpp"
#include "objects/object/name.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tables.hpp"

namespace heddle::mpi {
namespace {

const AttributeSet* attributes_of(const Datatype& type) {
  return type.predefined ? current_rank().tables->attributes_of_predefined(type, false) : type.attributes;
}

// The copy functions that the user attached see the new datatype's attributes one by one.
Error copy_attributes(const Datatype& from, Datatype& to) {
  const AttributeSet* attributes = attributes_of(from);
  if (attributes == nullptr) return success;
  to.attributes = new AttributeSet;
  return attributes->copy_all(from.handle, *to.attributes);
}

// No message uses attributes, so they end with the handle and not with the object.
Error delete_attributes(Datatype& type) {
  if (type.attributes == nullptr) return success;
  if (Error e = type.attributes->remove_all(type.handle)) return e;
  delete std::exchange(type.attributes, nullptr);
  return success;
}

}  // namespace

Error Type_commit(MPI_Datatype* datatype) {
  commit(*object(*datatype));
  return success;
}

Error Type_dup(const Datatype& oldtype, MPI_Datatype* newtype) {
  Datatype* made;
  if (Error e = datatype::make({MPI_COMBINER_DUP, false, {}, 0, {&oldtype}}, made)) return e;
  if (Error e = copy_attributes(oldtype, *made)) {
    delete std::exchange(made->attributes, nullptr);
    retire(*made);
    return e;
  }
  if (oldtype.committed) commit(*made);
  *newtype = handle_of<MPI_Datatype>(*made);
  return success;
}

Error Type_free(MPI_Datatype* datatype) {
  Datatype& type = *object(*datatype);
  if (type.predefined) return fail(MPI_ERR_TYPE, "datatype is %s, which cannot be freed", datatype::label(type));
  if (arena::is_ended(type)) return fail(MPI_ERR_TYPE, "datatype has been freed, and is valid in this function only");
  if (Error e = delete_attributes(type)) return e;
  arena::end_handle(type);
  release(type);
  *datatype = MPI_DATATYPE_NULL;
  return success;
}

Error Type_set_name(Datatype& datatype, const char* type_name) {
  if (datatype.predefined) {
    current_rank().tables->name_predefined(datatype, stored_name(type_name));
  } else {
    datatype.contents->name = stored_name(type_name);
  }
  return success;
}

Error Type_get_name(const Datatype* datatype, char* type_name, int* resultlen) {
  if (datatype == nullptr) return copy_name("MPI_DATATYPE_NULL", type_name, resultlen);
  if (!datatype->predefined) return copy_name(datatype->contents->name, type_name, resultlen);
  if (const auto given = current_rank().tables->name_of_predefined(*datatype)) {
    return copy_name(*given, type_name, resultlen);
  }
  return copy_name(datatype::predefined_name(*datatype), type_name, resultlen);
}

}  // namespace heddle::mpi
