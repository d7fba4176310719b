"""Recipes that look at a text or turn it."""

import collections
import re


def letter_frequency(text: str) -> dict[str, int]:
    """Tell how often each letter occurs in a text, the commonest first.

    Parameters
    ----------
    text : str
        Any text; capitals count as small letters.

    Returns
    -------
    dict
        The letters and how often each occurs; letters of equal number in alphabetical order.

    Examples
    --------
    >>> letter_frequency("Banana")
    {'a': 3, 'n': 2, 'b': 1}
    """
    counts = collections.Counter(character for character in text.lower() if character.isalpha())
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def common_words(text: str, most: int = 5) -> dict[str, int]:
    """Tell which words occur most often in a text, and how often.

    Parameters
    ----------
    text : str
        Any text; capitals count as small letters.
    most : int
        How many words to tell, at least 1.

    Returns
    -------
    dict
        The words and how often each occurs, the commonest first.

    Raises
    ------
    ValueError
        If ``most`` is less than 1.

    Examples
    --------
    >>> common_words("to be or not to be", 2)
    {'be': 2, 'to': 2}
    """
    if most < 1:
        raise ValueError(f"most must be at least 1, not {most!r}")
    counts = collections.Counter(re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.casefold()))
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most])


def longest_word(text: str) -> str:
    """Find the longest word of a text; the first of them if there are several.

    Parameters
    ----------
    text : str
        A text with at least one word.

    Returns
    -------
    str
        The longest word.

    Raises
    ------
    ValueError
        If there is no word in the text.

    Examples
    --------
    >>> longest_word("Brevity is the soul of wit")
    'Brevity'
    """
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text)
    if not words:
        raise ValueError("there is no word in the text")
    return max(words, key=len)


def is_palindrome(text: str) -> bool:
    """Tell whether a text reads the same backwards; only letters and digits count.

    Parameters
    ----------
    text : str
        A text with at least one letter or digit.

    Returns
    -------
    bool
        Whether it is a palindrome.

    Raises
    ------
    ValueError
        If there is neither a letter nor a digit in the text.

    Examples
    --------
    >>> is_palindrome("Was it a car or a cat I saw?")
    True
    """
    signs = [character for character in text.casefold() if character.isalnum()]
    if not signs:
        raise ValueError("there is neither a letter nor a digit in the text")
    return signs == signs[::-1]


def summarise_text(text: str, most: int = 3) -> str:
    """Summarise a text by its most telling sentences, in their order.

    Parameters
    ----------
    text : str
        Any text. A sentence tells much if its longer words occur often in the text.
    most : int
        How many sentences to keep, at least 1.

    Returns
    -------
    str
        The sentences; a text that has no more is returned as it is.

    Raises
    ------
    ValueError
        If ``most`` is less than 1.

    Examples
    --------
    >>> summarise_text("Whales sing. It rains. Some whales sing for whales.", 1)
    'Some whales sing for whales.'
    """
    if most < 1:
        raise ValueError(f"most must be at least 1, not {most!r}")
    sentences = [part.strip() for part in re.split(r"(?<=[.!?…])\s+", text) if part.strip()]
    counts = collections.Counter(re.findall(r"[^\W\d_]{4,}", text.casefold()))
    worth = {
        place: sum(counts[word] for word in re.findall(r"[^\W\d_]{4,}", sentence.casefold()))
        for place, sentence in enumerate(sentences)
    }
    kept = sorted(sorted(worth, key=lambda place: (-worth[place], place))[:most])
    return " ".join(sentences[place] for place in kept)


def reverse_text(text: str) -> str:
    """Write a text backwards.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The characters from the last to the first.

    Examples
    --------
    >>> reverse_text("stressed")
    'desserts'
    """
    return text[::-1]
