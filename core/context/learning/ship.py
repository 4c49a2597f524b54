"""Making what ships: the head, the features that teaching needs, and the centres of the families."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.context.card import Result, read_result
from core.context.encoder import load_encoder
from core.context.learning.build import Built, join, train_head
from core.context.learning.families import load_families
from core.context.learning.paraphrase import Paraphraser
from core.context.learning.teach import save_features
from core.context.learning.train import TrainingPlan
from core.context.nearest import centres, save_centres
from core.context.reader import Reader
from core.context.saved import HEAD
from core.settings import EMBEDDED, Settings

if TYPE_CHECKING:
    from core.context.second import SecondLook

CROSS_VALIDATION = "cross_validation.json"
# Teaching holds the head to so many of its training sentences: enough to stay itself, few enough to ship.
FEATURES_KEPT = 3_000


def rebuild(
    settings: Settings,
    folder: Path = HEAD,
    *,
    plan: TrainingPlan | None = None,
    folds: int = 5,
    paraphraser: Paraphraser | None = None,
    second: "SecondLook | None" = None,
    said: Callable[[str], None] | None = None,
) -> Built:
    """Train on the training families and write everything that a detector needs into a folder.

    With a second look it is also learned how the two go together.
    """
    families = [family for family in load_families() if family.split == "train"]
    encoder = load_encoder(EMBEDDED, settings)
    built = train_head(
        families,
        encoder,
        encoder_name=EMBEDDED,
        plan=plan,
        folds=folds,
        paraphraser=paraphraser,
        said=said,
    )
    if second is not None:
        if said:
            said("how the second look goes with it")
        built = join(built, second, families)
    built.head.save(folder)
    examples = [example for family in families for example in family.examples()]
    features = Reader(encoder, built.head).features(
        [each.text for each in examples], [each.before for each in examples]
    )
    kept = np.random.default_rng(0).permutation(len(examples))[:FEATURES_KEPT]
    save_features(folder, features[kept])
    save_centres(folder, families, centres(encoder, families))
    (folder / CROSS_VALIDATION).write_text(
        json.dumps(asdict(built.cross_validated), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return built


def cross_validated(folder: Path = HEAD) -> Result | None:
    """How the head did in cross-validation when it was built, if that lies beside it."""
    path = folder / CROSS_VALIDATION
    return read_result(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None
