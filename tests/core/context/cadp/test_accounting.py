"""The account of private updates agrees with Opacus and with Google, and errs on the safe side."""

import json
import math

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from opacus.accountants import PRVAccountant, RDPAccountant
from scipy.integrate import quad

from core.context.cadp.accounting import ORDERS, PrivacyAccount, _one_step, noise_for, spent
from core.errors import InputError

DELTA = 1e-5
HISTORIES = [
    [(1.0, 0.01, 1000)],
    [(0.7, 0.05, 40)],
    [(4.0, 1.0, 12)],
    [(1.1, 0.02, 300), (0.8, 0.1, 7), (2.0, 0.002, 5000)],
]


def google(history: list[tuple[float, float, int]], accountant: dp_accounting.PrivacyAccountant) -> float:
    for noise, rate, steps in history:
        event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
        accountant.compose(event, steps)
    return float(accountant.get_epsilon(DELTA))


@pytest.mark.parametrize("history", HISTORIES)
def test_epsilon_is_that_of_opacus_and_of_google(history):
    ours = PrivacyAccount(history).epsilon(DELTA)
    opacus = RDPAccountant()
    opacus.history = list(history)
    assert ours == pytest.approx(opacus.get_epsilon(DELTA, alphas=list(ORDERS)), rel=1e-12)
    # Google rounds fractional orders up, so it may find a little more, and no less.
    assert ours * (1.0 - 1e-9) <= google(history, RdpAccountant(list(ORDERS))) <= ours * 1.001


@pytest.mark.parametrize(("noise", "rate"), [(0.5, 0.01), (0.8, 0.1), (1.1, 0.02), (2.0, 0.002)])
def test_the_loss_of_one_step_is_google_s_at_whole_orders_and_the_integral_at_all(noise, rate):
    accountant = RdpAccountant(list(ORDERS))
    accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise)))
    for order, ours, theirs in zip(ORDERS, _one_step(noise, rate), accountant._rdp, strict=True):
        if order.is_integer():
            assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-13)
        if order in (1.5, 2.5, 3.75, 5.0):
            assert ours == pytest.approx(integral(noise, rate, order), rel=1e-6)


def integral(noise: float, rate: float, order: float) -> float:
    """Renyi divergence of (1 - q) N(0, s^2) + q N(1, s^2) from N(0, s^2), by quadrature."""

    def density(x: float) -> float:
        ratio = 1.0 - rate + rate * math.exp((2.0 * x - 1.0) / (2.0 * noise**2))
        return math.exp(-(x**2) / (2.0 * noise**2) + order * math.log(ratio)) / (
            noise * math.sqrt(2.0 * math.pi)
        )

    total, _ = quad(density, -20.0 * noise, order + 20.0 * noise, limit=500, points=[0.0, order / 2.0, order])
    return math.log(total) / (order - 1.0)


@pytest.mark.parametrize("history", HISTORIES)
def test_epsilon_is_never_below_what_numerical_composition_finds(history):
    ours = PrivacyAccount(history).epsilon(DELTA)
    tight = google(history, PLDAccountant(value_discretization_interval=1e-3))
    assert tight - 1e-3 <= ours <= 1.5 * tight
    numerical = PRVAccountant()
    numerical.history = list(history)
    assert ours >= numerical.get_epsilon(DELTA, eps_error=0.1) - 0.2


@pytest.mark.parametrize(("epsilon", "rate", "steps"), [(8.0, 0.01, 300), (1.0, 0.05, 100), (0.5, 0.2, 10)])
def test_the_noise_for_an_epsilon_keeps_to_it_and_is_hardly_more_than_needed(epsilon, rate, steps):
    noise = noise_for(epsilon, DELTA, rate, steps)
    assert spent(noise, rate, steps, DELTA) <= epsilon
    assert spent(0.99 * noise, rate, steps, DELTA) > epsilon


def test_no_step_costs_nothing_and_a_step_without_noise_everything():
    assert PrivacyAccount().epsilon(DELTA) == 0.0
    assert math.isinf(PrivacyAccount([(1.0, 0.1, 5), (0.0, 0.1, 1)]).epsilon(DELTA))


def test_the_account_goes_through_json_and_on():
    account = PrivacyAccount([(1.0, 0.01, 10)])
    again = PrivacyAccount.restore(json.loads(json.dumps(account.state())))
    assert again.epsilon(DELTA) == account.epsilon(DELTA)
    again.accountant.step(noise_multiplier=1.0, sample_rate=0.01)
    assert again.steps == 11
    assert again.state()["history"] == [[1.0, 0.01, 11]]


@pytest.mark.parametrize(
    "state", [{}, {"mechanism": "gdp", "history": []}, {"mechanism": "rdp", "history": [1]}]
)
def test_an_account_that_cannot_be_read_is_refused(state):
    with pytest.raises(InputError):
        PrivacyAccount.restore(state)


def test_impossible_wishes_are_refused():
    for wish in [(0.0, DELTA, 0.1, 5), (1.0, 0.0, 0.1, 5), (1.0, DELTA, 0.0, 5), (1.0, DELTA, 0.1, 0)]:
        with pytest.raises(InputError):
            noise_for(*wish)
    with pytest.raises(InputError, match="No amount of noise"):
        noise_for(1e-9, 1e-12, 1.0, 10)
