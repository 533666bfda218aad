"""What this machine does a second, in the figures that a user of Tengen cares about."""
