"""Who is stronger, by how much, and how sure: players, matches and their statistics."""
