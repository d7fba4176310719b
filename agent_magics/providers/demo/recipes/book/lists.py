"""Recipes for lists of numbers, such as a column of a table."""

import math
import statistics


def mean_of(values: list[float]) -> float:
    """Compute the mean of numbers.

    Parameters
    ----------
    values : list of float
        At least one number.

    Returns
    -------
    float
        Their sum over how many they are.

    Raises
    ------
    ValueError
        If there are none, or one is not finite.

    Examples
    --------
    >>> mean_of([2, 4, 9])
    5.0
    """
    if not values or not all(math.isfinite(value) for value in values):
        raise ValueError("values must be at least one finite number")
    return math.fsum(values) / len(values)


def median_of(values: list[float]) -> float:
    """Compute the median of numbers.

    Parameters
    ----------
    values : list of float
        At least one number.

    Returns
    -------
    float
        The one in the middle, or the mean of the two in the middle.

    Raises
    ------
    ValueError
        If there are none, or one is not finite.

    Examples
    --------
    >>> median_of([9, 2, 4, 5])
    4.5
    """
    if not values or not all(math.isfinite(value) for value in values):
        raise ValueError("values must be at least one finite number")
    return statistics.median(values)


def standard_deviation_of(values: list[float]) -> float:
    """Compute the standard deviation of a sample of numbers.

    Parameters
    ----------
    values : list of float
        At least two numbers.

    Returns
    -------
    float
        The square root of the variance with n - 1 below the line, as pandas has it.

    Raises
    ------
    ValueError
        If there are fewer than two, or one is not finite.

    Examples
    --------
    >>> standard_deviation_of([1, 2, 3])
    1.0
    """
    if len(values) < 2 or not all(math.isfinite(value) for value in values):
        raise ValueError("values must be at least two finite numbers")
    return statistics.stdev(values)


def sum_of(values: list[float]) -> float:
    """Add numbers up.

    Parameters
    ----------
    values : list of float
        Any numbers; the sum of none is 0.

    Returns
    -------
    float
        Their sum.

    Examples
    --------
    >>> sum_of([0.1, 0.2, 0.3])
    0.6
    """
    return math.fsum(values)


def smallest_of(values: list[float]) -> float:
    """Find the smallest of numbers.

    Parameters
    ----------
    values : list of float
        At least one number.

    Returns
    -------
    float
        The smallest.

    Raises
    ------
    ValueError
        If there are none.

    Examples
    --------
    >>> smallest_of([3, -1, 2])
    -1
    """
    if not values:
        raise ValueError("values must be at least one number")
    return min(values)


def largest_of(values: list[float]) -> float:
    """Find the largest of numbers.

    Parameters
    ----------
    values : list of float
        At least one number.

    Returns
    -------
    float
        The largest.

    Raises
    ------
    ValueError
        If there are none.

    Examples
    --------
    >>> largest_of([3, -1, 2])
    3
    """
    if not values:
        raise ValueError("values must be at least one number")
    return max(values)


def mean_by_group(values: list[float], groups: list[str]) -> dict[str, float]:
    """Compute the mean of numbers for each group.

    Parameters
    ----------
    values : list of float
        The numbers.
    groups : list of str
        The group of each number, in the same order.

    Returns
    -------
    dict
        The groups in alphabetical order, and the mean of each.

    Raises
    ------
    ValueError
        If there are not as many groups as numbers.

    Examples
    --------
    >>> mean_by_group([1, 2, 6], ["a", "b", "b"])
    {'a': 1.0, 'b': 4.0}
    """
    if len(values) != len(groups):
        raise ValueError(f"{len(values)} values, but {len(groups)} groups")
    members: dict[str, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        members.setdefault(group, []).append(value)
    return {group: math.fsum(members[group]) / len(members[group]) for group in sorted(members)}


def median_by_group(values: list[float], groups: list[str]) -> dict[str, float]:
    """Compute the median of numbers for each group.

    Parameters
    ----------
    values : list of float
        The numbers.
    groups : list of str
        The group of each number, in the same order.

    Returns
    -------
    dict
        The groups in alphabetical order, and the median of each.

    Raises
    ------
    ValueError
        If there are not as many groups as numbers.

    Examples
    --------
    >>> median_by_group([1, 2, 6], ["a", "b", "b"])
    {'a': 1, 'b': 4.0}
    """
    if len(values) != len(groups):
        raise ValueError(f"{len(values)} values, but {len(groups)} groups")
    members: dict[str, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        members.setdefault(group, []).append(value)
    return {group: statistics.median(members[group]) for group in sorted(members)}
