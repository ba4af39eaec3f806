# tests/expr/operations/make_reference.py: writes reference_values.inc, what pointwise functions of floats give.
# By mpmath (1.3 or newer) with enough bits, rounded once to double:  python3 make_reference.py > reference_values.inc
# SPDX-License-Identifier: Apache-2.0
"""A row is {name, bound of float, bound of double, measure, numbers}: x and f(x) in turn, or x, y and f(x, y).

Bounds are units in the last place of the result (0.5: rounded correctly); of the greater of it and the least normal
number, of 1, of 1 and a logarithm, or of the operand, as `measure` says. What 0, infinities, NaN and poles give is
said here and nowhere else: by the dictionaries of `edges`, and of two operands by the C library.
"""
import math
import struct
from fractions import Fraction

from mpmath import mp, mpf

mp.prec = 2400  # x - tanh(x) of the least x loses two thirds of the digits
inf, nan = math.inf, math.nan


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def rounded(value):
    """An mpf, integer or fraction as the nearest double."""
    if isinstance(value, float):
        return value
    if isinstance(value, Fraction):
        above, below = value.numerator, value.denominator
    else:
        value = mp.mpf(value)
        if not mp.isfinite(value):
            return float(value)
        sign, mantissa, exponent, bits = value._mpf_
        if exponent + bits > 1100:
            return -inf if sign else inf
        if exponent + bits < -1100:
            return -0.0 if sign else 0.0
        mantissa = -int(mantissa) if sign else int(mantissa)
        above, below = mantissa << max(exponent, 0), 1 << max(-exponent, 0)
    try:
        result = above / below
    except OverflowError:
        return inf if above > 0 else -inf
    return -0.0 if result == 0 and above < 0 else result


# Points -----------------------------------------------------------------------------------------------------------

least, least_normal, greatest = 2.0**-149, 2.0**-126, single(3.4028234e38)
magnitudes = [least, 2.0**-140, least_normal, 2.0**-60, 1e-20, 1e-7, 2.0**-13, 1e-3, 0.01, 0.1, 0.25, 0.4, 0.5, 0.7,
              0.75, 0.9, 1 - 2.0**-24, 1, 1 + 2.0**-23, 1.1, 1.5, 1.6, 2, 2.5, 3, 3.2, 4, 5.5, 7, 10, 16, 20.3, 33, 50,
              88, 100, 700, 3217, 12345.67, 1e7, 1e10, 1e20, 1e30, greatest]
of_double = [2.0**-1074, 1e-310, 2.0**-1022, 1e-300, 1e-17, 0.1, 0.3, 1.0471975511965976, math.pi / 2, math.pi, 2.7,
             9.99, 37.7, 709.7, 745.1, 1e15 + 0.3, 1e300, 1.7976931348623157e308]
everywhere = [single(m) for m in magnitudes] + of_double
specials = [0.0, -0.0, inf, -inf, nan]
both = specials + [s * m for m in everywhere for s in (1, -1)]
positive = specials + everywhere + [-1.0, -2.0**-149]
near_ends = [s * (1 - d) for d in (2.0**-24, 2.0**-20, 0.0078125, 2.0**-53, 1e-13, 1e-7) for s in (1, -1)]
near_poles = [single(n + d) for n in (-1, -2, -7) for d in (0, 2.0**-20, -2.0**-20, 0.03, 0.5)] + [-1 - 1e-12, -3 + 1e-9]
half_way = [-1.5, -6.5, -50.5, -2.5 + 2.0**-40, -20.0625]
zeros_of_gammas = [1.4616321449683623, single(1.4616321), -0.504083008264455, single(-2.4570247), 1.0000001]
gammas = both + near_poles + half_way + zeros_of_gammas + [single(x) for x in (34.9, 35.1, 170.6, 171.7, -33.3, -40.2, -170.3)]
beside_zeros = [float.fromhex(x) for x in ("-0x1.f55f972dfa9f5p+33", "-0x1.cf3cdfef33fb5p+11", "-0x1.2407bb1f430b3p+18",
                                           "-0x1.1dad2081b1f7fp+7", "0x1.13b809fd5fd7bp-1")]  # of digamma
far = [1.37e154, 1.74e154, 3e158]  # whose square is infinite, and its reciprocal is not 0
multiples = [single(k * math.pi / 2) for k in (1, 2, 3, 5, 100, 2047)] + [k * math.pi / 2 for k in (3, 7, 1000, 1000001)]
circular = both + multiples + [-x for x in multiples]
limits = [-88.5, -87.4, -103.5, -104.5, -17.5, -37.0, -708.5, -709.0, -745.5, 88.5, 89.5, 127.5, 128.5, -149.5, 1024.5]
share_vanishes = [single(x) for x in (-64.5, -88.8, -90.0, -91.5, -91.8, -95.0)] + [-711.04, -713.0, -714.5]


# Functions of one operand -----------------------------------------------------------------------------------------

def odd(at_infinity):
    return {"inf": at_infinity, "-inf": -at_infinity, "0": 0.0, "-0": -0.0}


def at(above, below, zero=None, minus_zero=None):
    rest = {} if zero is None else {"0": zero, "-0": zero if minus_zero is None else minus_zero}
    return {"inf": above, "-inf": below} | rest


def within(low, high, function):
    return lambda x: function(x) if low <= x <= high else nan


def unless_pole(at_pole, function):
    return lambda x: at_pole if x <= 0 and x == mp.floor(x) else function(x)


def gamma(x):
    return inf if x > 200 else 0.0 * (-1) ** (int(mp.floor(x)) % 2) if x < -200 else mp.gamma(x)


def erfinv(x):
    """By Newton's steps on log(erfc), with the digits that doubles beside 1 take; x itself may be too small for them."""
    if abs(x) == 1:
        return float(x) * inf
    if abs(x) < 1e-60:
        return x * mp.sqrt(mp.pi) / 2
    with mp.workprec(400):
        y = mp.sqrt(-mp.log(1 - abs(x)))
        for _ in range(60):
            here = mp.erfc(y)
            y += mp.log(here / (1 - abs(x))) * here * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        return mp.sign(x) * y


def lgamma(x):
    if x > 1e6:
        return x * (mp.log(x) - 1) - mp.log(x / (2 * mp.pi)) / 2 + 1 / (12 * x) - 1 / (360 * x**3)
    if x >= -200:
        return mp.log(abs(mp.gamma(x)))
    return mp.log(mp.pi / abs(mp.sin(mp.pi * x) * x)) - lgamma(-x)


def polygamma(order, x):
    """By the recurrence up to 400 and the asymptotic series, negative x by reflection: as fast far away as near."""
    if x < 0:
        cotangent = mp.taylor(lambda t: mp.pi * mp.cot(mp.pi * t), x, order)[order] * mp.factorial(order)
        return (-1) ** order * polygamma(order, 1 - x) - cotangent
    if x > 1e6:
        return mp.log(x) - 1 / (2 * x) - 1 / (12 * x * x) if order == 0 else \
            (-1) ** (order + 1) * (mp.factorial(order - 1) / x**order + mp.factorial(order) / (2 * x ** (order + 1))
                                   + mp.factorial(order + 1) / (12 * x ** (order + 2)))
    return mp.polygamma(order, x)


def half_even(x):
    return Fraction(round(Fraction(float(x))))


def signed_whole(function):
    return lambda x: math.copysign(float(function(Fraction(float(x)))), float(x))


def share(x):
    return 1 / (1 + mp.exp(-x)) if x > -5000 else mp.mpf(0)


def mish(x):
    return x * mp.tanh(mp.log1p(mp.exp(x))) if x < 5000 else x


def unless_great(function, below, above):
    return lambda x: below(x) if x < -5000 else above(x) if x > 5000 else function(x)


def expm1_below(x):
    return mp.expm1(x) if x > -5000 else mp.mpf(-1)


def gelu_tanh(x):
    return x * share(2 * mp.sqrt(2 / mp.pi) * (x + mpf(0.044715) * x**3))


scale, alpha = mpf("1.0507009873554804934193349852946"), mpf("1.6732632423543772848170429916717")
same = at(inf, -inf, 0.0, -0.0)
overflowing = {"below": lambda x: mp.mpf(0), "above": lambda x: inf}
unary = [
    # name, bounds of float and double, measure, points, function, edges
    ("negate", 0.5, 0.5, "of_result", both, lambda x: -x, at(-inf, inf, -0.0, 0.0)),
    ("abs", 0.5, 0.5, "of_result", both, abs, at(inf, inf, 0.0)),
    ("square", 0.5, 0.5, "of_result", both, lambda x: x * x, at(inf, inf, 0.0)),
    ("sign", 0.5, 0.5, "of_result", both, mp.sign, at(1.0, -1.0, 0.0)),
    ("floor", 0.5, 0.5, "of_result", both, signed_whole(math.floor), same),
    ("ceil", 0.5, 0.5, "of_result", both, signed_whole(math.ceil), same),
    ("trunc", 0.5, 0.5, "of_result", both, signed_whole(math.trunc), same),
    ("round", 0.5, 0.5, "of_result", both, signed_whole(round), same),
    ("frac", 0.5, 0.5, "of_result", both, lambda x: Fraction(float(x)) - math.trunc(Fraction(float(x))),
     at(nan, nan, 0.0)),
    ("exp", 2, 2, "of_result", both + limits, unless_great(mp.exp, **overflowing), at(inf, 0.0, 1.0)),
    ("exp2", 2, 2, "of_result", both + limits, unless_great(lambda x: mp.mpf(2) ** x, **overflowing),
     at(inf, 0.0, 1.0)),
    ("expm1", 2, 2, "of_result", both + limits, unless_great(mp.expm1, lambda x: mp.mpf(-1), lambda x: inf),
     at(inf, -1.0, 0.0, -0.0)),
    ("log", 2, 2, "of_result", positive, within(0, inf, mp.log), at(inf, nan, -inf)),
    ("log2", 2, 2, "of_result", positive, within(0, inf, lambda x: mp.log(x) / mp.log(2)), at(inf, nan, -inf)),
    ("log10", 2, 2, "of_result", positive, within(0, inf, mp.log10), at(inf, nan, -inf)),
    ("log1p", 2, 2, "of_result", both, lambda x: nan if x < -1 else -inf if x == -1 else mp.log1p(x),
     at(inf, nan, 0.0, -0.0)),
    ("sqrt", 0.5, 0.5, "of_result", positive, within(0, inf, mp.sqrt), at(inf, nan, 0.0, -0.0)),
    ("rsqrt", 1.5, 1.5, "of_result", positive, within(0, inf, lambda x: 1 / mp.sqrt(x)), at(0.0, nan, inf, -inf)),
    ("cbrt", 2, 2, "of_result", both, lambda x: mp.sign(x) * mp.cbrt(abs(x)), same),
    ("reciprocal", 0.5, 0.5, "of_result", both, lambda x: 1 / x, at(0.0, -0.0, inf, -inf)),
    ("sin", 2, 2, "of_result", circular, mp.sin, at(nan, nan, 0.0, -0.0)),
    ("cos", 2, 2, "of_result", circular, mp.cos, at(nan, nan, 1.0)),
    ("tan", 2, 2, "of_result", circular, mp.tan, at(nan, nan, 0.0, -0.0)),
    ("asin", 2, 2, "of_result", both, within(-1, 1, mp.asin), at(nan, nan, 0.0, -0.0)),
    ("acos", 2, 2, "of_result", both, within(-1, 1, mp.acos), at(nan, nan, math.pi / 2)),
    ("atan", 2, 2, "of_result", both, mp.atan, odd(math.pi / 2)),
    ("sinh", 2, 2, "of_result", both + limits, unless_great(mp.sinh, lambda x: -inf, lambda x: inf), same),
    ("cosh", 2, 2, "of_result", both + limits, unless_great(mp.cosh, lambda x: inf, lambda x: inf), at(inf, inf, 1.0)),
    ("tanh", 2, 2, "of_result", both, unless_great(mp.tanh, mp.sign, mp.sign), odd(1.0)),
    ("asinh", 2, 2, "of_result", both, lambda x: mp.sign(x) * mp.asinh(abs(x)), same),
    ("acosh", 2, 2, "of_result", positive, within(1, inf, mp.acosh), at(inf, nan, nan)),
    ("atanh", 2, 2, "of_result", both, within(-1, 1, lambda x: float(x) * inf if abs(x) == 1 else mp.atanh(x)),
     at(nan, nan, 0.0, -0.0)),
    ("erf", 2, 2, "of_result", both, unless_great(mp.erf, mp.sign, mp.sign), odd(1.0)),
    ("erfc", 2, 2, "of_result", both, unless_great(mp.erfc, lambda x: mp.mpf(2), lambda x: mp.mpf(0)),
     at(0.0, 2.0, 1.0)),
    ("erfinv", 4, 4, "of_result", both + near_ends, within(-1, 1, erfinv), at(nan, nan, 0.0, -0.0)),
    ("gamma", 2, 2, "of_result", gammas, unless_pole(nan, gamma), at(inf, nan, inf, -inf)),
    ("lgamma", 2, 2, "of_one", gammas, unless_pole(inf, lgamma), at(inf, inf, inf)),
    ("digamma", 1, 8, "of_logarithm", gammas + beside_zeros, unless_pole(nan, lambda x: polygamma(0, x)), at(inf, nan, -inf, inf)),
    ("trigamma", 1, 8, "of_result", gammas, unless_pole(inf, lambda x: polygamma(1, x)), at(0.0, nan, inf)),
    ("polygamma<2>", 1, 8, "of_result", gammas + far, unless_pole(-inf, lambda x: polygamma(2, x)), at(-0.0, nan, -inf)),
    ("relu", 0.5, 0.5, "of_result", both, lambda x: max(x, 0), at(inf, 0.0, 0.0)),
    ("relu6", 0.5, 0.5, "of_result", both, lambda x: min(max(x, 0), 6), at(6.0, 0.0, 0.0)),
    ("elu", 2, 2, "of_result", both, lambda x: x if x > 0 else expm1_below(x), at(inf, -1.0, 0.0, -0.0)),
    ("celu", 2, 2, "of_result", both, lambda x: x if x > 0 else expm1_below(x), at(inf, -1.0, 0.0, -0.0)),
    ("selu", 3, 3, "of_result", both, lambda x: scale * (x if x > 0 else alpha * expm1_below(x)),
     at(inf, rounded(-scale * alpha), 0.0, -0.0)),
    ("sigmoid", 3, 3, "of_normal", both, share, at(1.0, 0.0, 0.5)),
    ("log_sigmoid", 3, 3, "of_result", both, unless_great(lambda x: -mp.log1p(mp.exp(-x)), lambda x: x,
                                                          lambda x: mp.mpf(-0.0)), at(0.0, -inf, rounded(-mp.log(2)))),
    ("silu", 3, 3, "of_normal", both + share_vanishes, lambda x: x * share(x), at(inf, nan, 0.0, -0.0)),
    ("mish", 6, 6, "of_normal", both + share_vanishes, mish, at(inf, nan, 0.0, -0.0)),
    ("gelu", 3, 3, "of_operand", both, lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2 if abs(x) < 5000 else max(x, 0),
     at(inf, nan, 0.0, -0.0)),
    ("gelu_tanh", 3, 3, "of_operand", both, gelu_tanh, at(inf, nan, 0.0, -0.0)),
    ("softplus", 3, 3, "of_result", both, lambda x: x if x > 20 else mp.log1p(mp.exp(x)) if x > -5000 else mp.mpf(0),
     at(inf, 0.0, rounded(mp.log(2)))),
    ("softsign", 1.5, 1.5, "of_result", both, lambda x: x / (1 + abs(x)), at(nan, nan, 0.0, -0.0)),
    ("hard_sigmoid", 2, 2, "of_one", both, lambda x: min(max(x + 3, 0), 6) / 6, at(1.0, 0.0, 0.5)),
    ("hard_swish", 3, 3, "of_operand", both, lambda x: x * min(max(x + 3, 0), 6) / 6, at(inf, nan, 0.0, -0.0)),
    ("hard_tanh", 0.5, 0.5, "of_result", both, lambda x: min(max(x, -1), 1), at(1.0, -1.0, 0.0, -0.0)),
    ("hard_shrink", 0.5, 0.5, "of_result", both, lambda x: mp.mpf(0) if abs(x) <= 0.5 else x, at(inf, -inf, 0.0)),
    ("soft_shrink", 0.5, 0.5, "of_result", both, lambda x: mp.mpf(0) if abs(x) <= 0.5 else x - mp.sign(x) / 2,
     at(inf, -inf, 0.0)),
    ("tanh_shrink", 2, 2, "of_operand", both, unless_great(lambda x: x - mp.tanh(x), lambda x: x + 1, lambda x: x - 1),
     at(inf, -inf, 0.0, 0.0)),
]


def unary_value(function, edges, x):
    if math.isnan(x):
        return nan
    if math.isinf(x) or x == 0:
        return edges[("-" if math.copysign(1, x) < 0 else "") + ("inf" if math.isinf(x) else "0")]
    return rounded(function(mpf(x)))


# Functions of two operands ----------------------------------------------------------------------------------------

sides = [0.0, -0.0, inf, -inf, nan, 1.0, -1.0, 2.0, -3.0, 0.5, single(1e20), -(2.0**-140)]
pairs = [(x, y) for x in sides for y in sides] + \
    [(single(x), single(y)) for x, y in [(1.1, 700.3), (0.3, 0.7), (-0.7, 5), (2.5, 33.1), (0.9999, 1e5), (1.0001, -9e4),
                                         (7.3, 2), (7.3, 3), (-2, 7), (-2, -7), (3, -2), (1e-20, 2.1), (3e18, 2),
                                         (1e-30, -1.2), (5.5, -7.25), (-7.25, 5.5), (7, 0.1), (1e20, 3), (-1e20, 7),
                                         (3, 4), (1e-38, 1e-38), (3e38, 1e38), (12.5, 1e30), (1e-10, -1), (10, 0.1)]] + \
    [(0.1, 0.3), (1e200, 3e200), (1e-200, 1e-201), (2.0**-1074, 3.0), (1e300, 1.0000001), (1.0000000001, 1e12),
     (-1e15 - 0.5, 3.7), (math.pi, 1e-3)]


equal_zeros = lambda x, y: x == y == 0 and math.copysign(1, x) != math.copysign(1, y)
of_order = [pair for pair in pairs if not equal_zeros(*pair)]  # of 0 and -0 either is right


def finite(function, at_edge):
    """`function` of finite numbers that are not 0, else what `at_edge` gives."""
    is_edge = lambda x: x == 0 or not math.isfinite(x)
    return lambda x, y: at_edge(x, y) if is_edge(x) or is_edge(y) else rounded(function(x, y))


def log_of_sum(x, y):
    if not (math.isfinite(x) and math.isfinite(y)):
        return nan if math.isnan(x) or math.isnan(y) else max(x, y) + 0.0
    return rounded(max(mpf(x), mpf(y)) + mp.log1p(mp.exp(max(-abs(mpf(x) - mpf(y)), -5000))))


def power_at_edge(x, y):
    try:
        return math.pow(x, y)
    except ValueError:  # Python refuses what C calls a pole
        return -inf if math.copysign(1, x) < 0 and y == math.floor(y) and y % 2 == 1 else inf


def power(x, y):
    if x < 0 and y != math.floor(y):
        return nan
    size = mp.exp(min(max(mpf(y) * mp.log(mpf(abs(x))), -5000), 5000))
    return -size if x < 0 and y % 2 == 1 else size


def fmod(x, y):
    return nan if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0 else math.fmod(x, y)


def remainder(x, y):
    left = fmod(x, y)
    if math.isnan(left):
        return nan
    if left == 0:
        return math.copysign(0.0, y)
    if (left < 0) == (y < 0):
        return left
    return y if math.isinf(y) else rounded(Fraction(left) + Fraction(y))


def floor_divide(x, y):
    if y == 0 and not math.isnan(x):
        return nan if x == 0 else math.copysign(inf, x) * math.copysign(1, y)
    if math.isnan(x) or math.isnan(y) or math.isinf(x):
        return nan
    if math.isinf(y):
        return -1.0 if x != 0 and (x < 0) != (y < 0) else math.copysign(0.0, x) * math.copysign(1, y)
    whole = math.floor(Fraction(x) / Fraction(y))
    return rounded(Fraction(whole)) if whole != 0 else math.copysign(0.0, x) * math.copysign(1, y)


def ordered(choose, number_wins):
    def value(x, y):
        if math.isnan(x) or math.isnan(y):
            return nan if not number_wins else y if math.isnan(x) else x
        return choose(x, y)
    return value


binary = [
    ("minimum", 0.5, 0.5, "of_result", of_order, ordered(min, False)),
    ("maximum", 0.5, 0.5, "of_result", of_order, ordered(max, False)),
    ("fmin", 0.5, 0.5, "of_result", of_order, ordered(min, True)),
    ("fmax", 0.5, 0.5, "of_result", of_order, ordered(max, True)),
    ("copysign", 0.5, 0.5, "of_result", pairs, math.copysign),
    ("fmod", 0.5, 0.5, "of_result", pairs, fmod),
    ("remainder", 0.5, 0.5, "of_result", pairs, remainder),
    ("floor_divide", 2, 2, "of_result", pairs, floor_divide),
    ("hypot", 2, 2, "of_result", pairs, finite(lambda x, y: mp.sqrt(mpf(x) ** 2 + mpf(y) ** 2), math.hypot)),
    ("logaddexp", 2, 2, "of_one", pairs, log_of_sum),
    ("pow", 2, 2, "of_result", pairs, finite(power, power_at_edge)),
    ("atan2", 2, 2, "of_result", pairs, finite(lambda y, x: mp.atan2(mpf(y), mpf(x)), math.atan2)),
]


# Text -------------------------------------------------------------------------------------------------------------

def text_of(number):
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    decimal = repr(number)
    decimal = decimal[:-2] + "." if decimal.endswith(".0") else decimal
    mantissa, _, exponent = number.hex().partition("p")
    short = (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + "p" + exponent
    return min(decimal, short, key=len)


def print_row(name, of_float, of_double, measure, numbers):
    print('{"%s", %s, %s, measure::%s, {' % (name, of_float, of_double, measure))
    line = " "
    for number in numbers:
        word = " " + text_of(number) + ","
        if len(line) + len(word) > 118:
            print(line)
            line = " "
        line += word
    print(line.rstrip(",") + "}},")


print("// tests/expr/operations/reference_values.inc: made by make_reference.py; not to be edited.")
print("// SPDX-License-Identifier: Apache-2.0")
for name, of_float, of_double, measure, points, function, edges in unary:
    print_row(name, of_float, of_double, measure, [n for x in points for n in (x, unary_value(function, edges, x))])
for name, of_float, of_double, measure, points, function in binary:
    print_row(name, of_float, of_double, measure, [n for x, y in points for n in (x, y, function(x, y))])
