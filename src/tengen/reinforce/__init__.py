"""Learning from the results of games without search against a pool of checkpoints: policy gradients, action values."""
