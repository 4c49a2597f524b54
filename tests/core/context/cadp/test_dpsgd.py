"""The private gradient is what the accounting takes it to be: clipped one by one, noisy, divided, counted."""

import pytest
import torch

from core.context.cadp.accounting import PrivacyAccount
from core.context.cadp.dpsgd import plain_gradient, private_gradient, private_optimizer
from core.context.cadp.randomness import OsRandomness, SeededRandomness
from tests.core.context.cadp.learners import FixedGradients
from tests.core.context.cadp.test_randomness import looks_standard_normal


def gradients(count: int = 7, size: int = 10) -> torch.Tensor:
    """Some below and some far above a norm of 1."""
    generator = torch.Generator().manual_seed(0)
    directions = torch.nn.functional.normalize(torch.randn(count, size, generator=generator), dim=1)
    return directions * torch.logspace(-1.0, 2.0, count)[:, None]


def private(learner, chosen, *, noise=0.0, clip=1.0, batch=1.0, rate=0.1, source=None):
    """The private gradient as one vector, and the account."""
    account = PrivacyAccount()
    optimizer = private_optimizer(
        torch.optim.SGD(learner.parameters, lr=1.0),
        noise=noise,
        clip=clip,
        batch=batch,
        rate=rate,
        source=source or SeededRandomness(0),
        account=account,
    )
    private_gradient(learner, chosen, optimizer)
    return torch.cat([p.grad.flatten() for p in learner.parameters]), account


def test_every_sequence_is_clipped_by_itself():
    given = gradients()
    wanted = sum(g * min(1.0, 2.0 / float(g.norm())) for g in given) / 4.0
    got, _ = private(FixedGradients(given), torch.arange(7), clip=2.0, batch=4.0)
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-6)


def test_no_sequence_moves_the_sum_by_more_than_the_clipping_bound():
    given = gradients()
    everything, _ = private(FixedGradients(given), torch.arange(7), clip=0.5)
    for left_out in range(7):
        others = torch.tensor([i for i in range(7) if i != left_out])
        without, _ = private(FixedGradients(given), others, clip=0.5)
        assert float((everything - without).norm()) <= 0.5 * (1.0 + 1e-5)


def test_the_noise_is_scaled_by_the_clipping_bound_and_by_the_batch():
    nothing = FixedGradients(torch.zeros(2, 100_000))
    for noise, clip, batch in [(1.0, 1.0, 1.0), (0.5, 4.0, 32.0), (2.0, 0.1, 8.0)]:
        got, _ = private(nothing, torch.arange(2), noise=noise, clip=clip, batch=batch, source=OsRandomness())
        assert looks_standard_normal(got * batch / (noise * clip))


def test_noise_is_fresh_for_every_parameter_and_every_step():
    nothing = FixedGradients(torch.zeros(2, 200))
    first, _ = private(nothing, torch.arange(2), noise=1.0, source=OsRandomness())
    second, _ = private(nothing, torch.arange(2), noise=1.0, source=OsRandomness())
    assert not torch.equal(first, second)
    assert not torch.equal(first[:100], first[100:])


def test_an_empty_batch_is_noise_alone_and_is_accounted():
    got, account = private(FixedGradients(gradients()), torch.tensor([], dtype=torch.long), noise=1.5)
    assert float(got.norm()) > 0.0
    assert account.state()["history"] == [[1.5, 0.1, 1]]


def test_a_step_is_accounted_once_however_many_portions_it_was_computed_in():
    _, account = private(FixedGradients(gradients()), torch.arange(7), noise=1.0, rate=0.3)
    assert account.state()["history"] == [[1.0, 0.3, 1]]


def test_no_gradient_of_an_earlier_step_is_left_in_the_next():
    learner = FixedGradients(gradients())
    chosen = torch.arange(4)
    first, _ = private(learner, chosen)
    again, _ = private(learner, chosen)
    assert torch.equal(first, again)


def test_the_plain_gradient_is_the_mean_over_the_expected_batch_and_is_added():
    learner = FixedGradients(gradients())
    for p in learner.parameters:
        p.grad = torch.ones_like(p)
    plain_gradient(learner, torch.arange(7), batch=4.0)
    got = torch.cat([p.grad.flatten() for p in learner.parameters])
    torch.testing.assert_close(got, 1.0 + gradients().sum(dim=0) / 4.0)


def test_the_plain_gradient_of_nothing_is_zero():
    learner = FixedGradients(gradients())
    assert not len(plain_gradient(learner, torch.tensor([], dtype=torch.long), batch=4.0))
    assert all(not p.grad.any() for p in learner.parameters)


@pytest.mark.parametrize("chosen", [[0], [6], [0, 6], list(range(7))])
def test_below_the_bound_nothing_is_clipped(chosen):
    learner = FixedGradients(gradients())
    clipped, _ = private(learner, torch.tensor(chosen), clip=1e6)
    torch.testing.assert_close(clipped, gradients()[chosen].sum(dim=0))
