"""Recipes: what a run is made of, as YAML files that load by name."""

from tengen.recipes.loader import load_recipe, recipe_kind, recipe_names

__all__ = ["load_recipe", "recipe_kind", "recipe_names"]
