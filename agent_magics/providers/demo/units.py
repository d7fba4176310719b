"""Units: a table, and the one formula that converts between any two of a kind.

Every unit says what one of it is in the base unit of its kind, as an exact fraction; temperatures also say
where their zero is. So each conversion is ``value * ratio + shift``, and the same two numbers serve to
compute an answer and to write the source of a tool.

>>> celsius, fahrenheit = UNITS["celsius"], UNITS["fahrenheit"]
>>> convert(30, celsius, fahrenheit)
86.0

Sources: BIPM, *The International System of Units* (9th edition); NIST SP 811, appendix B.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True, slots=True)
class Unit:
    """One unit.

    Parameters
    ----------
    name, one : str
        Its name in the plural and in the singular, in words.
    symbol : str
        How it stands behind a figure.
    kind : str
        What it measures; units of one kind convert into each other.
    factor, zero : Fraction
        ``base = value * factor + zero``.
    aliases : tuple of str
        Other spellings. Those with a capital letter or with one letter are read as they are written.
    origin : str
        For a unit that somebody made up: its definition, in words.
    """

    name: str
    one: str
    symbol: str
    kind: str
    factor: Fraction
    zero: Fraction = Fraction(0)
    aliases: tuple[str, ...] = ()
    origin: str = ""


_KINDS: dict[str, str] = {
    "length": """
        metres|metre|m|1|meter meters
        kilometres|kilometre|km|1000|kilometer kilometers
        decimetres|decimetre|dm|1/10|decimeter decimeters
        centimetres|centimetre|cm|1/100|centimeter centimeters
        millimetres|millimetre|mm|1/1000|millimeter millimeters
        micrometres|micrometre|µm|1/1000000|micrometer micrometers micron microns um
        nanometres|nanometre|nm|1/1000000000|nanometer nanometers
        inches|inch|in|0.0254|
        feet|foot|ft|0.3048|
        yards|yard|yd|0.9144|
        miles|mile|mi|1609.344|
        nautical miles|nautical mile|nmi|1852|
        furlongs|furlong|fur|201.168|
        fathoms|fathom|ftm|1.8288|
        light years|light year|ly|9460730472580800|lightyear lightyears light-year light-years
        astronomical units|astronomical unit|au|149597870700|AU
    """,
    "mass": """
        kilograms|kilogram|kg|1|kilo kilos kilogramme kilogrammes
        grams|gram|g|1/1000|gramme grammes
        milligrams|milligram|mg|1/1000000|
        micrograms|microgram|µg|1/1000000000|ug
        tonnes|tonne|t|1000|ton tons
        pounds|pound|lb|0.45359237|lbs
        ounces|ounce|oz|0.028349523125|
        stones|stone|st|6.35029318|
        carats|carat|ct|0.0002|
    """,
    "time": """
        seconds|second|s|1|sec secs
        milliseconds|millisecond|ms|1/1000|
        microseconds|microsecond|µs|1/1000000|us
        minutes|minute|min|60|mins
        hours|hour|h|3600|hr hrs
        days|day|d|86400|
        weeks|week|wk|604800|
        fortnights|fortnight|fortnight|1209600|
        years|year|yr|31557600|
        centuries|century|century|3155760000|
    """,
    "temperature": """
        celsius|celsius|°C|1|C centigrade|273.15
        fahrenheit|fahrenheit|°F|5/9|F|45967/180
        kelvin|kelvin|K|1|kelvins k
        rankine|rankine|°R|5/9|
    """,
    "area": """
        square metres|square metre|m²|1|
        hectares|hectare|ha|10000|
        acres|acre|ac|4046.8564224|
    """,
    "volume": """
        litres|litre|l|1/1000|liter liters L
        millilitres|millilitre|ml|1/1000000|milliliter milliliters mL
        centilitres|centilitre|cl|1/100000|centiliter centiliters cL
        cubic metres|cubic metre|m³|1|
        gallons|gallon|gal|0.003785411784|us gallon, us gallons
        imperial gallons|imperial gallon|imp gal|0.00454609|uk gallon, uk gallons
        quarts|quart|qt|0.000946352946|
        pints|pint|pt|0.000473176473|
        cups|cup|cup|0.0002365882365|
        fluid ounces|fluid ounce|fl oz|0.0000295735295625|
        tablespoons|tablespoon|tbsp|0.00001478676478125|
        teaspoons|teaspoon|tsp|0.00000492892159375|
    """,
    "speed": """
        metres per second|metre per second|m/s|1|mps
        kilometres per hour|kilometre per hour|km/h|5/18|kmh kph
        miles per hour|mile per hour|mph|0.44704|
        knots|knot|kn|463/900|kt kts
    """,
    "data": """
        bits|bit|bit|1/8|
        bytes|byte|B|1|
        kilobytes|kilobyte|kB|1000|KB
        megabytes|megabyte|MB|1000000|mb
        gigabytes|gigabyte|GB|1000000000|gb
        terabytes|terabyte|TB|1000000000000|tb
        petabytes|petabyte|PB|1000000000000000|
        kibibytes|kibibyte|KiB|1024|
        mebibytes|mebibyte|MiB|1048576|
        gibibytes|gibibyte|GiB|1073741824|
        tebibytes|tebibyte|TiB|1099511627776|
        kilobits|kilobit|kbit|125|kb Kb
        megabits|megabit|Mbit|125000|Mb
        gigabits|gigabit|Gbit|125000000|Gb
    """,
    "energy": """
        joules|joule|J|1|
        kilojoules|kilojoule|kJ|1000|kj
        calories|calorie|cal|4.184|
        kilocalories|kilocalorie|kcal|4184|
        watt hours|watt hour|Wh|3600|
        kilowatt hours|kilowatt hour|kWh|3600000|kwh
    """,
    "pressure": """
        pascals|pascal|Pa|1|
        hectopascals|hectopascal|hPa|100|hpa
        kilopascals|kilopascal|kPa|1000|kpa
        bars|bar|bar|100000|
        millibars|millibar|mbar|100|
        atmospheres|atmosphere|atm|101325|
        pounds per square inch|pound per square inch|psi|8896443230521/1290320000|
    """,
}


def _units(kind: str, rows: str) -> dict[str, Unit]:
    table: dict[str, Unit] = {}
    for row in filter(None, map(str.strip, rows.splitlines())):
        name, one, symbol, factor, more, zero = (*row.split("|"), "0")[:6]
        aliases = more.split(", ") if "," in more else more.split()
        table[name] = Unit(
            name=name,
            one=one,
            symbol=symbol,
            kind=kind,
            factor=Fraction(factor),
            zero=Fraction(zero),
            aliases=tuple(aliases),
        )
    return table


UNITS: dict[str, Unit] = {
    name: unit for kind, rows in _KINDS.items() for name, unit in _units(kind, rows).items()
}
"""Every unit of the table by its name."""


def line(source: Unit, target: Unit) -> tuple[Fraction, Fraction]:
    """``ratio`` and ``shift`` so that ``value * ratio + shift`` converts from ``source`` to ``target``."""
    return source.factor / target.factor, (source.zero - target.zero) / target.factor


def convert(value: float, source: Unit, target: Unit) -> float:
    """``value`` of ``source`` in ``target``, computed exactly and rounded once.

    Raises
    ------
    ValueError
        If the two measure different things, or the value is no number.
    OverflowError
        If the result is too large for a float.
    """
    if source.kind != target.kind:
        raise ValueError(f"{source.name} measure {source.kind}, {target.name} measure {target.kind}")
    ratio, shift = line(source, target)
    return float(Fraction(value) * ratio + shift)
