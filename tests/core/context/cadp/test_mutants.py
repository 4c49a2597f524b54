"""Mistakes that private training is prone to, each caught by the test that is named beside it."""

import pytest
import torch
from opacus.optimizers import DPOptimizer

from core.context.cadp import dpsgd
from core.context.cadp.dpsgd import PrivateOptimizer
from core.context.cadp.lstm import Gradients
from core.context.cadp.randomness import OsRandomness, SeededRandomness
from core.context.cadp.taped_lora import TapedLora
from tests.core.predict.mutants import Mutant, survives

HERE = "tests.core.context.cadp"


def noise_without_the_clipping_bound(patch):
    def add_noise(self):
        for p in self.params:
            p.grad = p.summed_grad + self.noise_multiplier * self.source.normal(p.shape)

    patch.setattr(PrivateOptimizer, "add_noise", add_noise)


def noise_after_the_division(patch):
    original = DPOptimizer.scale_grad

    def scale_grad(self):
        original(self)
        for p in self.params:
            p.grad = p.grad + self.noise_multiplier * self.max_grad_norm * self.source.normal(p.shape)

    patch.setattr(
        PrivateOptimizer, "add_noise", lambda self: [setattr(p, "grad", p.summed_grad) for p in self.params]
    )
    patch.setattr(PrivateOptimizer, "scale_grad", scale_grad)


def one_noise_for_all_parameters(patch):
    def add_noise(self):
        shape = self.params[0].shape
        noise = self.noise_multiplier * self.max_grad_norm * self.source.normal(shape)
        for p in self.params:
            p.grad = p.summed_grad + noise

    patch.setattr(PrivateOptimizer, "add_noise", add_noise)


def clipping_per_batch(patch):
    def clip(self):
        sums = [g.sum(dim=0) for g in self.grad_samples]
        norm = torch.cat([s.flatten() for s in sums]).norm()
        for p, s in zip(self.params, sums, strict=True):
            clipped = s * (self.max_grad_norm / (norm + 1e-6)).clamp(max=1.0)
            p.summed_grad = clipped if p.summed_grad is None else p.summed_grad + clipped

    patch.setattr(PrivateOptimizer, "clip_and_accumulate", clip)


def clipping_per_parameter(patch):
    def clip(self):
        for p, g in zip(self.params, self.grad_samples, strict=True):
            factor = (self.max_grad_norm / (g.flatten(1).norm(dim=1) + 1e-6)).clamp(max=1.0)
            clipped = torch.einsum("i,i...", factor, g)
            p.summed_grad = clipped if p.summed_grad is None else p.summed_grad + clipped

    patch.setattr(PrivateOptimizer, "clip_and_accumulate", clip)


def no_clipping(patch):
    def clip(self):
        for p, g in zip(self.params, self.grad_samples, strict=True):
            p.summed_grad = g.sum(dim=0) if p.summed_grad is None else p.summed_grad + g.sum(dim=0)

    patch.setattr(PrivateOptimizer, "clip_and_accumulate", clip)


def empty_batches_are_not_accounted(patch):
    original = dpsgd.private_gradient

    def skipping(learner, chosen, optimizer):
        if not len(chosen):
            for p in learner.parameters:
                p.grad = torch.zeros_like(p)
            return torch.zeros(0)
        return original(learner, chosen, optimizer)

    patch.setattr(dpsgd, "private_gradient", skipping)
    patch.setattr("core.context.cadp.training.private_gradient", skipping)
    patch.setattr(f"{HERE}.test_dpsgd.private_gradient", skipping)


def portions_are_accounted_as_steps(patch):
    original = DPOptimizer.clip_and_accumulate

    def clip(self):
        original(self)
        self.step_hook(self)

    patch.setattr(PrivateOptimizer, "clip_and_accumulate", clip)


def batches_of_a_fixed_size(patch):
    def batch(self, count, rate):
        return torch.randperm(count)[: round(count * rate)].sort().values

    patch.setattr(SeededRandomness, "batch", batch)
    patch.setattr(OsRandomness, "batch", batch)


def noise_a_little_too_small(patch):
    original = OsRandomness.normal
    patch.setattr(OsRandomness, "normal", lambda self, shape: 0.97 * original(self, shape))


def flagged_sequences_are_learned_plainly_too(patch):
    def plain(learner, chosen, batch):
        return dpsgd.plain_gradient(learner, torch.arange(len(learner.records)), batch)

    patch.setattr("core.context.cadp.training.plain_gradient", plain)


def adapters_share_one_gradient(patch):
    original = TapedLora.per_sample

    def mean(self):
        return tuple(g.mean(dim=0, keepdim=True).expand_as(g) for g in original(self))

    patch.setattr(TapedLora, "per_sample", mean)


def the_embedding_s_gradient_is_left_out(patch):
    original = Gradients.per_sample
    patch.setattr(Gradients, "per_sample", lambda self: [0.0 * original(self)[0], *original(self)[1:]])


MUTANTS = [
    Mutant("noise not scaled by the clipping bound", noise_without_the_clipping_bound,
           f"{HERE}.test_dpsgd:test_the_noise_is_scaled_by_the_clipping_bound_and_by_the_batch"),
    Mutant("noise not scaled by the batch", noise_after_the_division,
           f"{HERE}.test_dpsgd:test_the_noise_is_scaled_by_the_clipping_bound_and_by_the_batch"),
    Mutant("noise 3 % too small", noise_a_little_too_small,
           f"{HERE}.test_dpsgd:test_the_noise_is_scaled_by_the_clipping_bound_and_by_the_batch"),
    Mutant("one noise for all parameters", one_noise_for_all_parameters,
           f"{HERE}.test_dpsgd:test_noise_is_fresh_for_every_parameter_and_every_step"),
    Mutant("clipping per batch", clipping_per_batch,
           f"{HERE}.test_dpsgd:test_every_sequence_is_clipped_by_itself"),
    Mutant("clipping per parameter", clipping_per_parameter,
           f"{HERE}.test_dpsgd:test_no_sequence_moves_the_sum_by_more_than_the_clipping_bound"),
    Mutant("no clipping", no_clipping,
           f"{HERE}.test_dpsgd:test_no_sequence_moves_the_sum_by_more_than_the_clipping_bound"),
    Mutant("empty batches skipped in a step", empty_batches_are_not_accounted,
           f"{HERE}.test_dpsgd:test_an_empty_batch_is_noise_alone_and_is_accounted"),
    Mutant("empty batches skipped in a training", empty_batches_are_not_accounted,
           f"{HERE}.test_training:test_every_step_is_accounted_also_with_an_empty_batch"),
    Mutant("no noise where nothing is flagged", empty_batches_are_not_accounted,
           f"{HERE}.test_training:test_a_corpus_without_a_flagged_sequence_gets_noise_all_the_same"),
    Mutant("portions accounted as steps", portions_are_accounted_as_steps,
           f"{HERE}.test_dpsgd:test_a_step_is_accounted_once_however_many_portions_it_was_computed_in"),
    Mutant("batches of a fixed size", batches_of_a_fixed_size,
           f"{HERE}.test_training:test_the_engine_draws_poisson_batches"),
    Mutant("flagged sequences learned plainly too", flagged_sequences_are_learned_plainly_too,
           f"{HERE}.test_mutants:flags_decide_who_is_learned_plainly"),
    Mutant("per-sample gradients of adapters averaged", adapters_share_one_gradient,
           f"{HERE}.test_adapter_learner:test_per_sample_gradients_are_those_of_opacus_on_the_peft_model"),
    Mutant("embedding left out of per-sample gradients", the_embedding_s_gradient_is_left_out,
           f"{HERE}.test_lstm:test_per_sample_gradients_are_those_of_autograd_one_by_one"),
]  # fmt: skip


def flags_decide_who_is_learned_plainly():
    from tests.core.context.cadp.learners import lstm
    from tests.core.context.cadp.test_training import SOME, test_training_is_algorithm_1_as_it_is_written

    test_training_is_algorithm_1_as_it_is_written(lstm, SOME)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_is_caught(mutant):
    assert not survives(mutant)


def test_the_harness_lets_the_real_code_pass():
    flags_decide_who_is_learned_plainly()
