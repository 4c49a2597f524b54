"""One group of adapters that train in the same matrix products."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from core.lm.checkpoint import Checkpoint, StateCache, read_checkpoint, write_checkpoint
from core.lm.head_loss import head_losses
from core.lm.sequences import Sequences
from core.lm.stack import AdapterStack, Lora, fresh_stack
from core.lm.training import (
    AdapterData,
    AdapterReport,
    Clock,
    TrainingCancelled,
    TrainingSettings,
    step_work,
    work_of,
)
from core.lm.training_row import TrainingRow
from core.lm.transformer import Transformer


class TrainingGroup:
    """`size` places in one batch, the first of them taken by `data`."""

    def __init__(
        self,
        number: int,
        data: Sequence[AdapterData],
        size: int,
        transformer: Transformer,
        settings: TrainingSettings,
        separator: int,
        accelerator: Any,
    ) -> None:
        self.number, self.size, self.settings = number, size, settings
        self.transformer, self.accelerator = transformer, accelerator
        self.rows = [TrainingRow(entry, settings, separator) for entry in data]
        self.places = sorted(transformer.places(settings.shape).items())
        self._shared = len(transformer.blocks) - settings.shape.layers
        self._state_cost, self._step_cost = float(self._shared), step_work(settings.shape.layers)
        layers = settings.shape.layers, self._shared
        self.work = sum(work_of(len(row.learn), row.passes, *layers) for row in self.rows) or 1.0

    def train(self, clock: Clock, folder: Path | None) -> tuple[torch.Tensor, list[AdapterReport]]:
        """Trained weights (rows, P) and what became of each row."""
        point, end = self._resume(folder), clock.reached + self.work
        clock.curves |= {row.data.name: point.losses[i] for i, row in enumerate(self.rows)}
        if not point.finished:
            done = sum(row.read_after(len(point.losses[i])) for i, row in enumerate(self.rows))
            clock.skip(self._step_cost * done)
            states = [self._states(row.learn, folder, f"learn-{i}", clock) for i, row in enumerate(self.rows)]
            checks = [self._states(row.check, folder, f"check-{i}", None) for i, row in enumerate(self.rows)]
            point = self._run(point, states, checks, clock, folder)
            for cache in (*states, *checks):
                cache.close()
        clock.skip(end - clock.reached)
        kept = torch.where(point.best_known[:, None], point.best, point.weights)[: len(self.rows)]
        return kept, [self._report(i, row, point) for i, row in enumerate(self.rows)]

    def _run(
        self,
        point: Checkpoint,
        states: list[StateCache],
        checks: list[StateCache],
        clock: Clock,
        folder: Path | None,
    ) -> Checkpoint:
        weights = point.weights.to(self.accelerator.device).requires_grad_()
        optimizers = self._optimizers(weights, point)
        longest = max((row.steps for row in self.rows), default=0)
        for step in range(point.step, longest):
            active = [i for i, row in enumerate(self.rows) if step < row.steps and not point.stopped[i]]
            if not active:
                break
            losses = self._step(weights, optimizers, states, step, active)
            for i in active:
                point.losses[i].append(losses[i])
                if (step + 1) % self.rows[i].steps_a_pass == 0:
                    self._end_of_pass(i, weights, checks[i], point)
            work = self._step_cost * sum(len(self.rows[i].batch(step)) for i in active)
            clock.did(work, self.rows[active[0]].data.name, losses[active[0]])
            stop = clock.cancelled()
            if folder is not None and (stop or (step + 1) % self.settings.checkpoint_steps == 0):
                self._keep(point, weights, optimizers, step + 1, folder)
            if stop:
                raise TrainingCancelled("Training was stopped. Start it again to go on from here.")
        point.finished = True
        return self._keep(point, weights, optimizers, longest, folder)

    def _step(
        self,
        weights: torch.Tensor,
        optimizers: list[torch.optim.AdamW],
        states: list[StateCache],
        step: int,
        active: list[int],
    ) -> list[float]:
        """One step of every active row on its own batch; returns the mean loss of each row."""
        picked = {i: self.rows[i].batch(step) for i in active}
        x, targets, mask = self._gather([row.learn for row in self.rows], states, picked)
        counts = mask.sum(dim=(1, 2)).clamp_min(1.0)  # (size,)
        losses = (self._losses(weights, x, targets) * mask).sum(dim=(1, 2)) / counts
        (gradient,) = torch.autograd.grad(losses.sum(), weights)
        for i in active:
            optimizer = optimizers[i]
            (parameter,) = optimizer.param_groups[0]["params"]
            parameter.grad = gradient[i].clone()
            torch.nn.utils.clip_grad_norm_([parameter], self.settings.clip)
            optimizer.param_groups[0]["lr"] = self.rows[i].rate(step)
            optimizer.step()
        return losses.detach().tolist()

    def _losses(self, weights: torch.Tensor, x: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Next-token losses (size, b, T) of states x (size, b, T, H) under adapters `weights` (size, P)."""
        size, count, length, width = x.shape
        stack = self.unflatten(weights, [str(row) for row in range(size)])
        with self.accelerator.autocast():
            x = x.reshape(size * count, length, width)
            positions = torch.arange(length, device=x.device)
            rotation = self.transformer.rotation(x, positions)
            for block in self.transformer.blocks[self._shared :]:
                x = block(x, rotation, None, stack.layer(block.number))
            x = self.transformer.final_norm(x)
            losses = head_losses(self.transformer.head, x.reshape(-1, width), targets.reshape(-1))
        return losses.view(size, count, length)

    def _gather(
        self, sequences: list[Sequences], states: list[StateCache], picked: dict[int, list[int]]
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """States, targets and weights of the picked sequences in the group's fixed shape, zero elsewhere."""
        length, device = self.settings.length, self.accelerator.device
        shape = (self.size, self.settings.batch, length)
        x = torch.zeros(*shape, self.transformer.width)
        targets, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape)
        for i, chosen in picked.items():
            x[i, : len(chosen)] = states[i].read(chosen)
            targets[i, : len(chosen)] = sequences[i].targets[chosen]
            mask[i, : len(chosen)] = sequences[i].weights[chosen]
        return x.to(device), targets.to(device), mask.to(device)

    @torch.no_grad()
    def _states(
        self, sequences: Sequences, folder: Path | None, name: str, clock: Clock | None
    ) -> StateCache:
        """What the shared layers hand up for every sequence, computed in batches of one shape."""
        batch, length, device = self.settings.batch, self.settings.length, self.accelerator.device
        cache = StateCache((len(sequences), length, self.transformer.width), folder, f"{self.number}-{name}")
        positions = torch.arange(length, device=device)
        for start in range(0, len(sequences), batch):
            part = sequences.tokens[start : start + batch]
            tokens = torch.zeros(batch, length, dtype=torch.long)
            tokens[: len(part)] = part
            x = self.transformer.embed(tokens.to(device), positions)
            rotation = self.transformer.rotation(x, positions)
            with self.accelerator.autocast():
                for block in self.transformer.blocks[: self._shared]:
                    x = block(x, rotation, None)
            cache.write(start, x[: len(part)].float().cpu())
            if clock is not None:
                clock.did(self._state_cost * len(part), "reading the corpus", float("nan"))
                if clock.cancelled():
                    raise TrainingCancelled("Training was stopped. Start it again to go on from here.")
        return cache

    @torch.no_grad()
    def _end_of_pass(self, i: int, weights: torch.Tensor, check: StateCache, point: Checkpoint) -> None:
        """Validate row i on its own held-out documents; keep its best weights, stop it when it got worse."""
        row, batch = self.rows[i], self.settings.batch
        if not len(row.check):
            return
        total = 0.0
        for start in range(0, len(row.check), batch):
            chosen = list(range(start, min(start + batch, len(row.check))))
            caches = [check] * len(self.rows)  # only the one of row i is read
            x, targets, mask = self._gather([r.check for r in self.rows], caches, {i: chosen})
            total += float((self._losses(weights, x, targets) * mask)[i].sum())
        loss = total / row.check.count
        history = point.validation[i]
        if not history or loss < min(history):
            point.best[i], point.best_known[i] = weights[i].detach().cpu(), True
        history.append(loss)
        since_best = len(history) - 1 - history.index(min(history))
        point.stopped[i] = since_best > self.settings.patience

    def _optimizers(self, weights: torch.Tensor, point: Checkpoint) -> list[torch.optim.AdamW]:
        optimizers = []
        for i in range(len(self.rows)):
            parameter = torch.nn.Parameter(weights.detach()[i])  # shares memory with the stacked weights
            optimizer = torch.optim.AdamW([parameter], weight_decay=self.settings.weight_decay)
            if point.step:
                steps = torch.tensor(float(min(point.step, len(point.losses[i]))))
                first, second = point.moments[:, i].to(weights.device).clone()
                optimizer.state[parameter] = {"step": steps, "exp_avg": first, "exp_avg_sq": second}
            optimizers.append(optimizer)
        return optimizers

    def _keep(
        self,
        point: Checkpoint,
        weights: torch.Tensor,
        optimizers: list[torch.optim.AdamW],
        step: int,
        folder: Path | None,
    ) -> Checkpoint:
        point.weights, point.step = weights.detach().cpu().clone(), step
        for i, optimizer in enumerate(optimizers):
            for state in optimizer.state.values():
                point.moments[0, i], point.moments[1, i] = state["exp_avg"].cpu(), state["exp_avg_sq"].cpu()
        if folder is not None:
            write_checkpoint(folder / f"group-{self.number}", point)
        return point

    def _resume(self, folder: Path | None) -> Checkpoint:
        names = [row.data.name for row in self.rows]
        spare = [f"-{place}" for place in range(len(names), self.size)]
        seeds = [*(row.seed for row in self.rows), *(0 for _ in spare)]
        fresh = fresh_stack(dict(self.places), self.settings.shape, [*names, *spare], seeds)
        flat = torch.cat(
            [t.flatten(1) for place, _ in self.places for t in _pair(fresh.places[place])], dim=1
        )
        start = Checkpoint.fresh(flat, self._fingerprint())
        found = read_checkpoint(folder / f"group-{self.number}") if folder is not None else None
        return found if found is not None and found.fingerprint == start.fingerprint else start

    def _fingerprint(self) -> str:
        """What training depends on: a checkpoint of anything else is not gone on from."""
        total = sha256(repr((asdict(self.settings), self.size)).encode())
        for row in self.rows:
            total.update(repr((row.data.name, row.passes)).encode())
            for part in (row.learn, row.check):
                total.update(part.tokens.numpy().tobytes())
        return total.hexdigest()

    def unflatten(self, rows: torch.Tensor, names: Sequence[str]) -> AdapterStack:
        """Flat weights (m, P) as a stack whose tensors are views of them."""
        shape, places, at = self.settings.shape, {}, 0
        for place, (width, out) in self.places:
            middle, end = at + width * shape.rank, at + (width + out) * shape.rank
            a = rows[:, at:middle].unflatten(1, (width, shape.rank))
            b = rows[:, middle:end].unflatten(1, (shape.rank, out))
            places[place], at = Lora(a, b, shape.scale), end
        return AdapterStack(replace(shape), tuple(names), places)

    def _report(self, i: int, row: TrainingRow, point: Checkpoint) -> AdapterReport:
        losses, each = point.losses[i], max(1, row.steps_a_pass)
        by_pass = [losses[start : start + each] for start in range(0, len(losses), each)]
        checks = point.validation[i]
        return AdapterReport(
            name=row.data.name,
            documents=len(row.data.documents),
            tokens=row.learn.count,
            steps=len(losses),
            training=tuple(sum(part) / len(part) for part in by_pass),
            validation=tuple(checks),
            kept=checks.index(min(checks)) + 1 if checks else len(by_pass),
        )


def _pair(lora: Lora) -> tuple[torch.Tensor, torch.Tensor]:
    return lora.a, lora.b
