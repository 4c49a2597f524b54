"""What the store's tests open and read again and again."""

from typing import Any

from core.store import Budget, Store

WARD: dict[str, Any] = {
    "parts": 3,
    "epsilon": 2.0,
    "alpha": 2.0,
    "queries": 1000,
    "protocol": "StrictSubMix",
    "synthetic": False,
}


def open_ward(store: Store, corpus: str = "ward", **changes: Any) -> Budget:
    return store.ledger.open_budget(corpus, **{**WARD, **changes})


def ward(store: Store, corpus: str = "ward") -> Budget:
    budget = store.ledger.budget(corpus)
    assert budget is not None
    return budget
