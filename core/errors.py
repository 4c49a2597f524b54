"""The project's few exception types; each carries one sentence for the person who reads it."""


class StudioError(Exception):
    """Base of all errors that a panel or the command line may show as they are."""

    code = "refused"  # stable, for programs; the sentence may be reworded


class InputError(StudioError):
    """What was typed, uploaded or set cannot be used; the sentence says what to change."""

    code = "bad-input"


class ModelUnavailable(StudioError):
    """A model or its files cannot be had here and now."""

    code = "model-unavailable"


class LedgerUnavailable(StudioError):
    """The ledger cannot be written or cannot be trusted: answers come from the public model."""

    code = "ledger-unavailable"


class BudgetRefused(StudioError):
    """The budget does not allow this debit; nothing was charged."""

    code = "budget-refused"


class StaleBudget(BudgetRefused):
    """The budget moved on since the losses were computed; nothing was charged, compute them again."""

    code = "stale-budget"
