# SPDX-License-Identifier: GPL-2.0
"""Kernels that are built: the cache's, or built when they are first asked for.

The cache's is taken without a look at what the suite has today.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..base import hold, locked
from . import stages
from .kernel import newest_first
from .recipe import BuiltKernel, Recipe


def built(recipes: Iterable[Recipe]) -> list[BuiltKernel]:
    """Kernels in the cache that were built by these recipes, newest first."""
    return newest_first(k for recipe in recipes if (k := recipe.built))


def names(recipes: Iterable[Recipe]) -> list[str]:
    """Names that select one of these kernels: their own, and releases that are built."""
    recipes = list(recipes)
    return [*(r.name for r in recipes), *sorted({k.release for k in built(recipes)})]


def find(recipes: Iterable[Recipe], name: str) -> BuiltKernel | None:
    """The kernel of this name or release, built if the cache has none of that name; None if it is
    neither."""
    recipes = list(recipes)
    found = next((k for k in built(recipes) if k.release == name), None)
    for recipe in recipes:
        if name == recipe.name:
            found = recipe.built or _build_once(recipe)
    if found:
        hold(found.root / "complete")
    return found


def _build_once(recipe: Recipe) -> BuiltKernel:
    waiting = f"waiting for another process, which builds a kernel in {recipe.folder} of the cache"
    with locked(recipe.folder, waiting) as lock:
        return recipe.built or stages.build(recipe, lock)
