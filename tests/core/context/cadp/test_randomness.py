"""Noise and batches have the laws that the accounting takes them to have."""

import numpy as np
import pytest
import torch
from scipy import stats

from core.context.cadp.randomness import OsRandomness, Randomness, SeededRandomness

SOURCES: list[Randomness] = [OsRandomness(), SeededRandomness(4)]
# Chances of false alarm of one in a hundred million: fresh randomness at every run, and no flaky test.
ALARM = 1e-8


def looks_standard_normal(drawn: torch.Tensor) -> bool:
    values = drawn.double().numpy()
    spread = stats.chi2(len(values)).cdf(float((values**2).sum()))
    return bool(
        stats.kstest(values, "norm").pvalue > ALARM
        and ALARM < spread < 1.0 - ALARM
        and abs(values.mean()) * len(values) ** 0.5 < stats.norm.isf(ALARM)
        and np.abs(values).max() < 9.0
    )


def looks_poisson(sizes: list[int], count: int, rate: float) -> bool:
    """Sizes of independent Bernoulli samples: mean n q and variance n q (1 - q)."""
    mean, variance = count * rate, count * rate * (1.0 - rate)
    centre = abs(np.mean(sizes) - mean) / (variance / len(sizes)) ** 0.5
    ratio = stats.chi2(len(sizes) - 1).cdf(np.var(sizes, ddof=1) * (len(sizes) - 1) / variance)
    return bool(centre < stats.norm.isf(ALARM) and ALARM < ratio < 1.0 - ALARM)


@pytest.mark.parametrize("source", SOURCES)
def test_noise_is_standard_normal(source):
    source.start(0)
    assert looks_standard_normal(source.normal(torch.Size([100_000])))
    assert source.normal(torch.Size([3, 5])).shape == (3, 5)
    assert source.normal(torch.Size([0])).shape == (0,)


@pytest.mark.parametrize(
    "wrong", [lambda z: 1.03 * z, lambda z: z + 0.03, lambda z: z.clamp(-2.0, 2.0), torch.floor]
)
def test_wrong_noise_would_be_seen(wrong):
    assert not looks_standard_normal(wrong(torch.randn(100_000, generator=torch.Generator().manual_seed(1))))


@pytest.mark.parametrize("source", SOURCES)
def test_batches_are_poisson_samples(source):
    sizes, drawn = [], torch.zeros(50)
    for step in range(2000):
        source.start(step)
        batch = source.batch(50, 0.1)
        assert torch.equal(batch, batch.unique())
        drawn[batch] += 1
        sizes.append(len(batch))
    assert looks_poisson(sizes, 50, 0.1)
    assert stats.chisquare(drawn.numpy()).pvalue > ALARM
    assert 0 in sizes
    assert not looks_poisson([5] * 2000, 50, 0.1)  # batches of a fixed size would be seen


@pytest.mark.parametrize("source", SOURCES)
def test_the_rates_zero_and_one_take_nothing_and_everything(source):
    source.start(0)
    assert not len(source.batch(20, 0.0))
    assert source.batch(20, 1.0).tolist() == list(range(20))


def test_a_seed_repeats_each_step_by_its_number_and_the_system_repeats_nothing():
    def draw(source: Randomness, step: int) -> torch.Tensor:
        source.start(step)
        return source.normal(torch.Size([8]))

    assert torch.equal(draw(SeededRandomness(1), 5), draw(SeededRandomness(1), 5))
    assert not torch.equal(draw(SeededRandomness(1), 5), draw(SeededRandomness(1), 6))
    assert not torch.equal(draw(SeededRandomness(1), 5), draw(SeededRandomness(2), 5))
    assert not torch.equal(draw(OsRandomness(), 5), draw(OsRandomness(), 5))
