// tests/python/module.cpp: a Python module that hands a tensor to NumPy and PyTorch, and takes theirs.
// Written against Python's C interface alone, as the shortest example of a DLPack producer and consumer.
// SPDX-License-Identifier: Apache-2.0
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <tenon/expressions.hpp>
#include <tenon/io/dlpack.hpp>

namespace tn = tenon;
namespace io = tenon::io;

namespace {

using matrix = tn::tensor<float, tn::rank<2>>;

std::shared_ptr<matrix> shared;  // what is exported; consumers have a share

template <class Managed>
constexpr const char* capsule_name = "dltensor";
template <>
constexpr const char* capsule_name<io::dlpack::managed_tensor_versioned> = "dltensor_versioned";

/// A capsule that releases the tensor unless a consumer has taken it, and renamed the capsule.
template <class Managed>
PyObject* capsule_of(io::dlpack::handle<Managed> handle) {
  PyObject* const capsule = PyCapsule_New(handle.get(), capsule_name<Managed>, [](PyObject* self) {
    if (PyCapsule_IsValid(self, capsule_name<Managed>) == 0) return;
    io::dlpack::release{}(static_cast<Managed*>(PyCapsule_GetPointer(self, capsule_name<Managed>)));
  });
  if (capsule != nullptr) handle.release();
  return capsule;
}

/// Runs `body` and makes a Python error of what it throws.
template <class Body>
PyObject* guarded(Body&& body) {
  try {
    return body();
  } catch (const std::exception& failure) {
    PyErr_SetString(PyExc_ValueError, failure.what());
    return nullptr;
  }
}

/// Imports what a capsule holds and calls `use` with its view.
template <class T, class Managed, class Use>
PyObject* with_view_of(PyObject* capsule, Use&& use) {
  const auto taken =
      io::from_dlpack<T, tn::rank<2>>(static_cast<Managed*>(PyCapsule_GetPointer(capsule, capsule_name<Managed>)));
  const std::string used = std::string("used_") + capsule_name<Managed>;
  PyCapsule_SetName(capsule, used == "used_dltensor" ? "used_dltensor" : "used_dltensor_versioned");
  return use(taken.view());
}
template <class T, class Use>
PyObject* with_view(PyObject* capsule, Use&& use) {
  return guarded([&]() -> PyObject* {
    using io::dlpack::managed_tensor;
    using io::dlpack::managed_tensor_versioned;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned") != 0) {
      return with_view_of<T, managed_tensor_versioned>(capsule, use);
    }
    if (PyCapsule_IsValid(capsule, "dltensor") != 0) return with_view_of<T, managed_tensor>(capsule, use);
    throw tn::file_error("from_dlpack: no capsule of a tensor, expected one that nobody has used");
  });
}

PyObject* make(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    shared = std::make_shared<matrix>(matrix{{0, 1, 2}, {3, 4, 5}});
    Py_RETURN_NONE;
  });
}
PyObject* drop(PyObject*, PyObject*) {
  shared.reset();
  Py_RETURN_NONE;
}
PyObject* owners(PyObject*, PyObject*) { return PyLong_FromLong(shared.use_count()); }
PyObject* address(PyObject*, PyObject*) { return PyLong_FromVoidPtr(shared->data()); }
PyObject* to_capsule(PyObject*, PyObject*) {
  return guarded([] { return capsule_of(io::to_dlpack(shared)); });
}
PyObject* to_old_capsule(PyObject*, PyObject*) {
  return guarded([] { return capsule_of(io::to_dlpack<io::dlpack::managed_tensor>(shared)); });
}
PyObject* to_read_only_capsule(PyObject*, PyObject*) {
  return guarded([] { return capsule_of(io::to_dlpack(std::shared_ptr<const matrix>(shared))); });
}

PyObject* address_of(PyObject*, PyObject* capsule) {
  return with_view<const float>(capsule,
                                [](const auto& x) { return PyLong_FromVoidPtr(const_cast<float*>(x.data())); });
}
PyObject* sum_of(PyObject*, PyObject* capsule) {
  return with_view<const float>(capsule, [](const auto& x) {
    const float total = tn::sum(x);
    return PyFloat_FromDouble(static_cast<double>(total));
  });
}
PyObject* double_elements(PyObject*, PyObject* capsule) {
  return with_view<float>(capsule, [](const auto& x) -> PyObject* {
    x = x * 2.0f;
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {{"make", make, METH_NOARGS, "makes the tensor [[0, 1, 2], [3, 4, 5]]"},
                           {"drop", drop, METH_NOARGS, "gives up this module's share of the tensor"},
                           {"owners", owners, METH_NOARGS, "how many shares there are"},
                           {"address", address, METH_NOARGS, "where its elements lie"},
                           {"to_capsule", to_capsule, METH_NOARGS, "exports it as DLPack 1"},
                           {"to_old_capsule", to_old_capsule, METH_NOARGS, "exports it as before DLPack 1"},
                           {"to_read_only_capsule", to_read_only_capsule, METH_NOARGS, "exports it as read only"},
                           {"address_of", address_of, METH_O, "where the elements of a capsule lie"},
                           {"sum_of", sum_of, METH_O, "the sum of a capsule's elements"},
                           {"double_elements", double_elements, METH_O, "doubles a capsule's elements in place"},
                           {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "tenon_across", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_tenon_across() { return PyModule_Create(&definition); }
