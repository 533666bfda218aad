"""Ratings of players from the games of matches, records and runs."""
