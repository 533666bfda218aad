"""Review of finished games: every position searched, what each move lost, and the better moves."""
