"""Bessel functions and Airy's function against values of 40 digits."""

import numpy as np
import pytest

import tinynet as tn

# By mpmath, with 40 digits; on both sides of each boundary between two methods.
VALUES = {
    "airy_ai": {
        -30.0: -0.08796818845684216,
        -12.0: -0.06655517505437313,
        -5.5: 0.017781541276574976,
        -2.25: 0.06159865877700528,
        -2.0: 0.22740742820168558,
        -0.5: 0.4757280916105396,
        0.001: 0.3547692345431742,
        1.75: 0.05056988080579487,
        2.25: 0.023654658557747447,
        5.5: 3.368531190859981e-05,
        12.0: 1.3931846888753607e-13,
    },
    "bessel_j0": {
        0.001: 0.9999997500000156,
        0.5: 0.9384698072408129,
        1.75: 0.36903253018515075,
        2.0: 0.22389077914123567,
        2.25: 0.08274985128873404,
        5.5: -0.006843869417819197,
        12.0: 0.047689310796833535,
        30.0: -0.08636798358104021,
        100.0: 0.019985850304223122,
    },
    "bessel_j1": {
        0.001: 0.0004999999375000026,
        0.5: 0.2422684576748739,
        1.75: 0.5801561976389925,
        2.0: 0.5767248077568734,
        2.25: 0.5483783566469601,
        5.5: -0.34143821542904335,
        12.0: -0.2234471044906276,
        30.0: -0.11875106261662294,
        100.0: -0.07714535201411216,
    },
    "bessel_y0": {
        0.001: -4.471416611375923,
        0.5: -0.44451873350670656,
        1.75: 0.46549262864690605,
        2.0: 0.5103756726497451,
        2.25: 0.5200647624572783,
        5.5: -0.339480592881911,
        12.0: -0.22523731263436145,
        30.0: -0.11729573168666403,
        100.0: -0.07724431336508315,
    },
    "bessel_y1": {
        0.001: -636.6221672311394,
        0.5: -1.471472392670243,
        1.75: -0.2539729859462457,
        2.0: -0.10703243154093754,
        2.25: 0.02719205773801714,
        5.5: -0.023758238956389618,
        12.0: -0.05709921826089652,
        30.0: 0.08442557066174723,
        100.0: -0.020372312002759792,
    },
    "modified_bessel_i0": {
        0.001: 1.0000002500000156,
        0.5: 1.0634833707413236,
        1.75: 1.9252521538585023,
        2.0: 2.2795853023360673,
        2.25: 2.7270783071907956,
        5.5: 42.69464515184779,
        12.0: 18948.925349296307,
        30.0: 781672297823.9775,
        100.0: 1.0737517071310738e42,
    },
    "modified_bessel_i1": {
        0.001: 0.0005000000625000026,
        0.5: 0.2578943053908963,
        1.75: 1.255537512240173,
        2.0: 1.590636854637329,
        2.25: 2.003967456929593,
        5.5: 38.58816461632739,
        12.0: 18141.348781638833,
        30.0: 768532038938.957,
        100.0: 1.0683693903381625e42,
    },
    "modified_bessel_k0": {
        0.001: 7.023688800562382,
        0.5: 0.9244190712276659,
        1.75: 0.1553798123866036,
        2.0: 0.11389387274953344,
        2.25: 0.08404311197465811,
        5.5: 0.0021387085659502875,
        12.0: 2.2008253973114916e-06,
        30.0: 2.1324774964630563e-14,
        100.0: 4.656628229175902e-45,
    },
    "modified_bessel_k1": {
        0.001: 999.9962381560856,
        0.5: 1.656441120003301,
        1.75: 0.19547745347439302,
        2.0: 0.13986588181652243,
        2.25: 0.10121630256832526,
        5.5: 0.0023255690088490053,
        12.0: 2.290757464767188e-06,
        30.0: 2.1677320018915495e-14,
        100.0: 4.6798537356369095e-45,
    },
    "scaled_modified_bessel_k0": {
        0.001: 7.030716002378251,
        0.5: 1.5241093857739094,
        1.75: 0.8941490841572174,
        2.0: 0.8415682150707714,
        2.25: 0.7973788452810561,
        5.5: 0.5233247315524157,
        12.0: 0.3581948784890782,
        30.0: 0.22788666561625373,
        100.0: 0.12517562165912657,
    },
    "scaled_modified_bessel_k1": {
        0.001: 1000.9967345590684,
        0.5: 2.731009708211786,
        1.75: 1.1248950768625277,
        2.0: 1.0334768470686886,
        2.25: 0.960313541101207,
        5.5: 0.5690479743890509,
        12.0: 0.37283175336970986,
        30.0: 0.2316541293777118,
        100.0: 0.12579995047957854,
    },
    "spherical_bessel_j0": {
        0.001: 0.9999998333333416,
        0.5: 0.958851077208406,
        1.75: 0.562277683927964,
        2.0: 0.45464871341284085,
        2.25: 0.345810309727965,
        5.5: -0.1282800591946167,
        12.0: -0.04471440983336958,
        30.0: -0.03293438746976206,
        100.0: -0.005063656411097588,
    },
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    x = np.array(list(VALUES[name]))
    expected = np.array(list(VALUES[name].values()))
    found = getattr(tn.special, name)(tn.tensor(x)).numpy()
    # Relative to the larger of the value and 1: zeros and small tails lose nothing that counts,
    # exponential tails round their exponent.
    bound = 64 * np.finfo(np.float64).eps * np.maximum(np.abs(x), 1)
    assert np.all(np.abs(found - expected) <= bound * np.maximum(np.abs(expected), 1))


@pytest.mark.parametrize("name", ["modified_bessel_k0", "modified_bessel_k1", "airy_ai"])
def test_what_decays_keeps_its_relative_accuracy(name):
    x, expected = 12.0, VALUES[name][12.0]
    found = getattr(tn.special, name)(tn.tensor(x, dtype=tn.float64)).item()
    assert abs(found / expected - 1) <= 64 * 30 * np.finfo(np.float64).eps  # of the exponent, 28


def test_symmetry_and_limits():
    x = tn.tensor([0.0, 0.5, 7.0, 300.0])
    for name, sign in (("bessel_j0", 1), ("bessel_j1", -1), ("modified_bessel_i1", -1)):
        function = getattr(tn.special, name)
        assert tn.equal(function(-x), sign * function(x))
    edges = tn.tensor([0.0, -1.0, float("nan")])
    for name, at_zero in (
        ("bessel_y0", "-inf"),
        ("bessel_y1", "-inf"),
        ("modified_bessel_k0", "inf"),
    ):
        found = getattr(tn.special, name)(edges)
        assert found[0].item() == float(at_zero) and found[1:].isnan().all()
    inf = tn.tensor(float("inf"))
    assert tn.special.modified_bessel_k1(inf) == tn.special.spherical_bessel_j0(inf) == 0


def test_dtypes():
    assert tn.special.bessel_j0(tn.tensor([True])).dtype is tn.float32
    with pytest.raises(NotImplementedError, match="\"airy_ai_cpu\" not implemented for 'Half'"):
        tn.special.airy_ai(tn.ones(2, dtype=tn.float16))
