"""The paper's language model: one LSTM layer, 200 by 200, with its gradients written out.

    z_t = [e_t, h_{t-1}, 1] W        i, f, o = sigmoid, g = tanh of the four quarters of z_t
    c_t = f c_{t-1} + i g            h_t = o tanh(c_t)            logits_t = [h_t, 1] U

Every weight is a matrix between inputs and outputs, so a sequence's own gradient is one product of its inputs
and of the gradients at its outputs, x^T g, and nothing has to be run sequence by sequence.
"""

from dataclasses import dataclass

import torch
from torch.nn import functional as F


@dataclass(frozen=True)
class Lstm:
    """The weights: embedding (V, E), recurrent W (E + H + 1, 4 H), head U (H + 1, V)."""

    embedding: torch.Tensor
    recurrent: torch.Tensor
    head: torch.Tensor

    @staticmethod
    def fresh(vocabulary: int, seed: int, embedding: int = 200, hidden: int = 200) -> "Lstm":
        """Uniform in +-1/sqrt(hidden), as torch starts an LSTM; biases zero, that of the forget gate one."""
        generator = torch.Generator().manual_seed(seed)

        def uniform(rows: int, columns: int) -> torch.Tensor:
            return (torch.rand(rows, columns, generator=generator) * 2.0 - 1.0) * hidden**-0.5

        recurrent, head = uniform(embedding + hidden + 1, 4 * hidden), uniform(hidden + 1, vocabulary)
        recurrent[-1], head[-1] = 0.0, 0.0
        recurrent[-1, hidden : 2 * hidden] = 1.0
        return Lstm(uniform(vocabulary, embedding), recurrent, head)

    @property
    def hidden(self) -> int:
        """H."""
        return self.recurrent.shape[1] // 4

    @property
    def tensors(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """All weights, always in this order."""
        return self.embedding, self.recurrent, self.head

    def forward(self, tokens: torch.Tensor) -> "Trace":
        """Run over tokens (b, T) from an empty state."""
        embedded = F.embedding(tokens, self.embedding)  # (b, T, E)
        width = embedded.shape[2]
        rows, length, size = *tokens.shape, self.hidden
        from_input = torch.addmm(self.recurrent[-1], embedded.flatten(0, 1), self.recurrent[:width])
        from_input = from_input.view(rows, length, 4 * size).transpose(0, 1).contiguous()  # (T, b, 4 H)
        gates, cells = torch.empty_like(from_input), embedded.new_empty(length + 1, rows, size)
        states = embedded.new_empty(length + 1, rows, size)
        cells[0], states[0] = 0.0, 0.0
        across = self.recurrent[width:-1]
        for t in range(length):
            z = torch.addmm(from_input[t], states[t], across)
            i, f, g, o = z.chunk(4, dim=1)
            torch.sigmoid(i, out=i)
            torch.sigmoid(f, out=f)
            torch.tanh(g, out=g)
            torch.sigmoid(o, out=o)
            torch.addcmul(f * cells[t], i, g, out=cells[t + 1])
            torch.mul(o, torch.tanh(cells[t + 1]), out=states[t + 1])
            gates[t] = z
        return Trace(self, tokens, embedded, gates, cells, states)

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """States (n, H) to next-token logits (n, V)."""
        return torch.addmm(self.head[-1], states, self.head[:-1])


@dataclass(frozen=True)
class Trace:
    """What a run leaves behind for its gradients; gates, cells and states go by time first."""

    model: Lstm
    tokens: torch.Tensor  # (b, T)
    embedded: torch.Tensor  # (b, T, E)
    gates: torch.Tensor  # (T, b, 4 H), after their nonlinearities
    cells: torch.Tensor  # (T + 1, b, H)
    states: torch.Tensor  # (T + 1, b, H)

    @property
    def outputs(self) -> torch.Tensor:
        """The states that predict the next tokens: (b, T, H)."""
        return self.states[1:].transpose(0, 1)

    def losses(self, targets: torch.Tensor) -> torch.Tensor:
        """Next-token losses (b, T)."""
        logits = self.model.logits(self.outputs.reshape(-1, self.model.hidden))
        return F.cross_entropy(logits, targets.reshape(-1), reduction="none").view(targets.shape)

    def backward(self, targets: torch.Tensor, weights: torch.Tensor) -> "Gradients":
        """Losses (b, T), and the gradients of sum(weights * losses) at all outputs."""
        size = self.model.hidden
        outputs = self.outputs.reshape(-1, size)
        logits = self.model.logits(outputs)  # (b T, V)
        total = logits.logsumexp(dim=1, keepdim=True)
        wanted = targets.reshape(-1, 1)
        losses = (total - logits.gather(1, wanted)).view(targets.shape)
        at_logits = logits.sub_(total).exp_()
        at_logits.scatter_add_(1, wanted, at_logits.new_full((), -1.0).expand_as(wanted))
        at_logits *= weights.reshape(-1, 1)
        at_states = (at_logits @ self.model.head[:-1].t()).view(*targets.shape, size)
        at_gates = self._through_time(at_states.transpose(0, 1).contiguous())
        return Gradients(self, losses, at_gates, at_logits.view(*targets.shape, -1))

    def _through_time(self, arriving: torch.Tensor) -> torch.Tensor:
        """From gradients at the states (T, b, H) to those at the gates before their nonlinearities."""
        width, size = self.embedded.shape[2], self.model.hidden
        back = self.model.recurrent[width:-1].t().contiguous()
        at_gates = torch.empty_like(self.gates)
        at_cell = torch.zeros_like(arriving[0])
        at_state = torch.zeros_like(arriving[0])
        for t in reversed(range(len(arriving))):
            i, f, g, o = self.gates[t].chunk(4, dim=1)
            at_state = at_state + arriving[t]
            bent = torch.tanh(self.cells[t + 1])
            at_cell = torch.addcmul(at_cell, at_state * o, 1.0 - bent * bent)
            at = at_gates[t]
            at[:, :size] = at_cell * g * i * (1.0 - i)
            at[:, size : 2 * size] = at_cell * self.cells[t] * f * (1.0 - f)
            at[:, 2 * size : 3 * size] = at_cell * i * (1.0 - g * g)
            at[:, 3 * size :] = at_state * bent * o * (1.0 - o)
            at_cell = at_cell * f
            at_state = at @ back
        return at_gates.transpose(0, 1)  # (b, T, 4 H)


@dataclass(frozen=True)
class Gradients:
    """Gradients of every sequence by itself, or of all together, for `Lstm.tensors`."""

    trace: Trace
    losses: torch.Tensor  # (b, T)
    at_gates: torch.Tensor  # (b, T, 4 H)
    at_logits: torch.Tensor  # (b, T, V)

    def per_sample(self) -> list[torch.Tensor]:
        """(b, V, E), (b, E + H + 1, 4 H) and (b, H + 1, V)."""
        rows = len(self.trace.tokens)
        vocabulary, width = self.trace.model.embedding.shape
        embedding = self.losses.new_zeros(rows * vocabulary, width)
        places = self.trace.tokens + vocabulary * torch.arange(rows, device=embedding.device)[:, None]
        embedding.index_add_(0, places.reshape(-1), self._at_embedded().view(-1, width))
        return [
            embedding.view(rows, vocabulary, width),
            torch.bmm(self._inputs().transpose(1, 2), self.at_gates),
            torch.bmm(_with_one(self.trace.outputs).transpose(1, 2), self.at_logits),
        ]

    def summed(self) -> list[torch.Tensor]:
        """(V, E), (E + H + 1, 4 H) and (H + 1, V)."""
        embedding = torch.zeros_like(self.trace.model.embedding)
        embedding.index_add_(
            0, self.trace.tokens.reshape(-1), self._at_embedded().view(-1, embedding.shape[1])
        )
        return [
            embedding,
            self._inputs().flatten(0, 1).t() @ self.at_gates.reshape(-1, self.at_gates.shape[2]),
            _with_one(self.trace.outputs).flatten(0, 1).t() @ self.at_logits.flatten(0, 1),
        ]

    def _inputs(self) -> torch.Tensor:
        """[e_t, h_{t-1}, 1]: (b, T, E + H + 1)."""
        before = self.trace.states[:-1].transpose(0, 1)
        return _with_one(torch.cat((self.trace.embedded, before), dim=2))

    def _at_embedded(self) -> torch.Tensor:
        width = self.trace.embedded.shape[2]
        return self.at_gates.reshape(-1, self.at_gates.shape[2]) @ self.trace.model.recurrent[:width].t()


def _with_one(x: torch.Tensor) -> torch.Tensor:
    return torch.cat((x, x.new_ones(*x.shape[:-1], 1)), dim=-1)
