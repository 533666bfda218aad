"""Supervised training: from a game store and a recipe to a network file, its card and a report.

`accuracy`, `config` and `report` need no PyTorch; all else needs the extra [train].
"""
