"""Self-play learning: from the rules alone, or from a trained network, to a rated engine. Needs the extra [train]."""
