# tests/python/check.py: a tensor goes to NumPy or PyTorch and back in one process, and nothing is copied.
# usage: check.py numpy|torch; ends with 77 where that is not installed.
# SPDX-License-Identifier: Apache-2.0
import gc
import importlib
import sys

try:
    library = importlib.import_module(sys.argv[1])
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import tenon_across as tenon


class Exported:
    """What from_dlpack asks for a tensor of Tenon."""

    def __init__(self, is_new=True):
        self.is_new = is_new

    def __dlpack_device__(self):
        return (1, 0)  # memory of the host

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        is_new = self.is_new and max_version is not None and max_version[0] >= 1
        return tenon.to_capsule() if is_new else tenon.to_old_capsule()


def new_capsule(array):
    return array.__dlpack__(max_version=(1, 0))


def old_capsule(array):
    return array.__dlpack__()


def address(array):
    return array.data_ptr() if library.__name__ == "torch" else array.ctypes.data


def refusal(function, capsule):
    try:
        function(capsule)
    except ValueError as error:
        return str(error)
    raise AssertionError("nothing was refused")


def capsules():
    """The ways in which this version of the library makes a capsule."""
    try:
        new_capsule(library.zeros((1, 1), dtype=library.float32))
        return (new_capsule, old_capsule)
    except TypeError:
        return (old_capsule,)


# Out: the same memory, which lives as long as the array does.
for is_new in (True, False):
    tenon.make()
    array = library.from_dlpack(Exported(is_new))
    assert array.shape == (2, 3), array.shape
    assert address(array) == tenon.address()
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    array = array.T
    assert tenon.owners() == 2, tenon.owners()
    tenon.drop()
    assert array.tolist() == [[0, 3], [1, 4], [2, 5]]
    tenon.make()
    del array
    gc.collect()

# A capsule that nobody takes releases its share.
tenon.make()
unused = tenon.to_capsule()
assert tenon.owners() == 2
del unused
assert tenon.owners() == 1

# In: the same memory, read and written, transposed too.
array = library.ones((4, 5), dtype=library.float32)
for capsule_of in capsules():
    assert tenon.address_of(capsule_of(array)) == address(array)
    assert tenon.sum_of(capsule_of(array.T[1:3])) == 8
tenon.double_elements(old_capsule(array.T))
assert array.tolist() == [[2] * 5] * 4

# There and back: the same memory. NumPy before 2.1 takes tensors as read only, and exports none that are.
tenon.make()
array = library.from_dlpack(Exported())
if library.__name__ != "numpy" or array.flags.writeable:
    assert tenon.address_of(old_capsule(array)) == tenon.address()
    tenon.double_elements(old_capsule(array))
    assert array.tolist() == [[0, 2, 4], [6, 8, 10]]
del array
gc.collect()
assert tenon.owners() == 1, tenon.owners()

# Misuse: the sentence names both.
wrong = library.zeros((2, 2), dtype=library.float64)
text = refusal(tenon.sum_of, old_capsule(wrong))
assert text == "from_dlpack: element type float64, expected float32", text
text = refusal(tenon.sum_of, old_capsule(library.zeros((2, 2, 1), dtype=library.float32)))
assert text == "from_dlpack: rank 3, expected 2 (extents [2, 2, 1])", text
tenon.make()
capsule = tenon.to_read_only_capsule()
text = refusal(tenon.double_elements, capsule)
assert text.endswith("the tensor is read only, expected one that may be written; ask for const float32"), text
assert tenon.sum_of(capsule) == 15  # refused, it was still the caller's
assert "expected one that nobody has used" in refusal(tenon.sum_of, capsule)
print(f"{library.__name__} {library.__version__}: there and back without a copy")
