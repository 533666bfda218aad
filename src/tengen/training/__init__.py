"""Training: the trainer, losses, optimizers, schedules and callbacks; supervised runs; linear playout policies.

`card`, `config`, `held_out`, `linear`, `metrics` and `report` need no PyTorch; the rest needs the extra [train].
"""

import os

# PyTorch reads it once. Its DDP warns in each process where every head of a network has a loss.
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
