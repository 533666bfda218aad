"""Training: the trainer, losses, optimizers, schedules and callbacks; supervised runs; linear playout policies.

`card`, `config`, `linear`, `metrics` and `report` need no PyTorch; the rest needs the extra [train].
"""
