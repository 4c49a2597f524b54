"""The project's few exception types; each carries one sentence for the person who reads it."""


class StudioError(Exception):
    """Base of all errors that a panel or the command line may show as they are."""


class InputError(StudioError):
    """What was typed, uploaded or set cannot be used; the sentence says what to change."""


class ModelUnavailable(StudioError):
    """A model or its files cannot be had here and now."""


class LedgerUnavailable(StudioError):
    """The ledger cannot be written or cannot be trusted: answers come from the public model."""


class BudgetRefused(StudioError):
    """The budget does not allow this debit; nothing was charged."""


class StaleBudget(BudgetRefused):
    """The budget moved on since the losses were computed; nothing was charged, compute them again."""
