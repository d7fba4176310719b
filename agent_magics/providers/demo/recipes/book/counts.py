"""Recipes that count something in a text."""

import re


def count_words(text: str) -> int:
    """Count the words of a text.

    Parameters
    ----------
    text : str
        Any text. An apostrophe or a hyphen inside a word does not end it.

    Returns
    -------
    int
        How many words there are.

    Examples
    --------
    >>> count_words("The well-known cat's whiskers")
    4
    """
    return len(re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text))


def count_unique_words(text: str) -> int:
    """Count the different words of a text, whatever their capitals.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    int
        How many different words there are.

    Examples
    --------
    >>> count_unique_words("No, no and no")
    2
    """
    return len(set(re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.casefold())))


def count_characters(text: str) -> int:
    """Count the characters of a text, blanks and punctuation included.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    int
        How many characters there are.

    Examples
    --------
    >>> count_characters("a b")
    3
    """
    return len(text)


def count_letters(text: str) -> int:
    """Count the letters of a text, of any alphabet.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    int
        How many letters there are; digits, blanks and punctuation are none.

    Examples
    --------
    >>> count_letters("naïve 123!")
    5
    """
    return sum(character.isalpha() for character in text)


def count_vowels(text: str) -> int:
    """Count the vowels a, e, i, o and u of a text.

    Parameters
    ----------
    text : str
        Any text; capitals count too, y does not.

    Returns
    -------
    int
        How many vowels there are.

    Examples
    --------
    >>> count_vowels("Banana")
    3
    """
    return sum(character in "aeiou" for character in text.lower())


def count_consonants(text: str) -> int:
    """Count the consonants of a text: the letters b to z that are no vowels.

    Parameters
    ----------
    text : str
        Any text; capitals count too, y counts as a consonant.

    Returns
    -------
    int
        How many consonants there are.

    Examples
    --------
    >>> count_consonants("Banana")
    3
    """
    return sum(character in "bcdfghjklmnpqrstvwxyz" for character in text.lower())


def count_digits(text: str) -> int:
    """Count the digits of a text.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    int
        How many digits there are.

    Examples
    --------
    >>> count_digits("12 monkeys, 1995")
    6
    """
    return sum(character.isdigit() for character in text)


def count_lines(text: str) -> int:
    """Count the lines of a text, empty ones included.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    int
        How many lines there are.

    Examples
    --------
    >>> count_lines("one\\n\\nthree")
    3
    """
    return len(text.splitlines())


def count_sentences(text: str) -> int:
    """Count the sentences of a text by the marks that end them.

    Parameters
    ----------
    text : str
        Any text; what follows the last full stop counts as a sentence if it has a letter or a digit.

    Returns
    -------
    int
        How many sentences there are.

    Examples
    --------
    >>> count_sentences("Stop! Who goes there? A friend")
    3
    """
    return sum(bool(re.search(r"\w", part)) for part in re.split(r"[.!?…]+(?:\s|$)", text))


def count_occurrences(text: str, part: str) -> int:
    """Count how often a letter, a word or a phrase occurs in a text, whatever its capitals.

    Parameters
    ----------
    text : str
        Any text.
    part : str
        What is looked for; it must not be empty.

    Returns
    -------
    int
        How often it occurs, without overlaps.

    Raises
    ------
    ValueError
        If ``part`` is empty.

    Examples
    --------
    >>> count_occurrences("Seventeen", "e")
    4
    """
    if not part:
        raise ValueError("part must not be empty")
    return text.casefold().count(part.casefold())
