"""Policy-gradient training (REINFORCE) by self-play against a pool of checkpoints."""
