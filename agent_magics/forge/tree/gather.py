"""Makes ``exports.txt``: ``python -m agent_magics.forge.tree.gather``, with every library installed.

A name of a module goes onto the list if the module declares it as its own, it is no module itself, and it is
not left out below: what reads or writes files, evaluates text, takes attributes by name, changes the state of
its library, or hands out memory that it doesn't own.
"""

from __future__ import annotations

import importlib
import types
from pathlib import Path

ONLY: dict[str, str] = {
    "ast": "parse literal_eval walk Expression BinOp UnaryOp Constant Name Load Call Compare BoolOp "
    "IfExp Add Sub Mult "
    "Div FloorDiv Mod Pow USub UAdd Not And Or Eq NotEq Lt LtE Gt GtE AST expr Tuple List Dict",
    "abc": "ABC abstractmethod",
    "base64": "b16decode b16encode b32decode b32encode b64decode b64encode b85decode b85encode a85decode "
    "a85encode "
    "urlsafe_b64decode urlsafe_b64encode standard_b64encode standard_b64decode",
    "binascii": "Error a2b_hex b2a_hex crc32 hexlify unhexlify crc_hqx",
    "calendar": "Calendar IllegalMonthError IllegalWeekdayError TextCalendar day_abbr day_name isleap "
    "leapdays month "
    "month_abbr month_name monthcalendar monthrange timegm weekday weekheader",
    "contextlib": "ExitStack closing contextmanager nullcontext suppress",
    "csv": "DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Sniffer "
    "excel excel_tab "
    "reader writer",
    "dataclasses": "FrozenInstanceError InitVar KW_ONLY asdict astuple dataclass field fields "
    "is_dataclass replace",
    "datetime": "MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo",
    "email.utils": "formataddr format_datetime parseaddr parsedate_to_datetime",
    "enum": "Enum Flag IntEnum IntFlag StrEnum auto unique",
    "functools": "cache cached_property cmp_to_key lru_cache partial reduce total_ordering wraps",
    "hashlib": "blake2b blake2s md5 sha1 sha224 sha256 sha384 sha512 sha3_256 sha3_512",
    "html.parser": "HTMLParser",
    "io": "BytesIO StringIO",
    "json": "JSONDecodeError JSONEncoder dumps loads",
    "pathlib": "PurePath PurePosixPath PureWindowsPath",
    "pprint": "pformat",
    "shlex": "join quote split",
    "time": "asctime ctime gmtime localtime mktime strftime strptime struct_time time time_ns monotonic "
    "monotonic_ns "
    "perf_counter perf_counter_ns sleep",
    "uuid": "NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL UUID uuid3 uuid4 uuid5",
    "warnings": "warn",
    "xml.etree.ElementTree": "Element ParseError SubElement fromstring indent iselement tostring",
    "zlib": "adler32 compress crc32 decompress error",
    "pandas": "BooleanDtype Categorical CategoricalDtype CategoricalIndex DataFrame DateOffset DatetimeIndex "
    "DatetimeTZDtype Float32Dtype Float64Dtype Grouper Index IndexSlice Int16Dtype Int32Dtype Int64Dtype "
    "Int8Dtype "
    "Interval IntervalDtype IntervalIndex MultiIndex NA NaT NamedAgg Period PeriodDtype PeriodIndex "
    "RangeIndex Series "
    "StringDtype Timedelta TimedeltaIndex Timestamp array bdate_range concat crosstab cut date_range "
    "factorize "
    "from_dummies get_dummies infer_freq interval_range isna isnull json_normalize lreshape melt merge "
    "merge_asof "
    "merge_ordered notna notnull period_range pivot pivot_table qcut read_csv read_fwf read_json "
    "timedelta_range "
    "to_datetime to_numeric to_timedelta unique wide_to_long",
    "scipy": "",
    "numpy.lib": "",
    "numpy.lib.stride_tricks": "sliding_window_view",
    "hmac": "HMAC compare_digest digest new",
    "html": "escape unescape",
    "pandas.api": "",
    "pandas.tseries": "",
    "scipy.cluster": "",
    "email": "",
    "urllib": "",
    "xml": "",
    "xml.etree": "",
}
"""Modules of which only these names are listed."""

WHOLE = [
    "bisect",
    "cmath",
    "collections",
    "collections.abc",
    "colorsys",
    "copy",
    "decimal",
    "difflib",
    "fractions",
    "graphlib",
    "heapq",
    "ipaddress",
    "itertools",
    "keyword",
    "math",
    "numbers",
    "operator",
    "random",
    "re",
    "secrets",
    "statistics",
    "string",
    "struct",
    "textwrap",
    "typing",
    "unicodedata",
    "urllib.parse",
    "zoneinfo",
    "numpy",
    "numpy.char",
    "numpy.fft",
    "numpy.linalg",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.random",
    "numpy.strings",
    "numpy.typing",
    "pandas.api.types",
    "pandas.errors",
    "pandas.tseries.offsets",
    "dateutil",
    "dateutil.parser",
    "dateutil.relativedelta",
    "dateutil.rrule",
    "dateutil.easter",
    "scipy.cluster.hierarchy",
    "scipy.constants",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.spatial",
    "scipy.spatial.distance",
    "scipy.special",
    "scipy.stats",
]

LEFT_OUT: dict[str, str] = {
    "collections": "abc",
    "decimal": "DefaultContext setcontext",
    "operator": "attrgetter methodcaller call",
    "random": "getstate setstate",
    "re": "template purge",
    "string": "Formatter",
    "urllib.parse": "clear_cache",
    "zoneinfo": "reset_tzpath TZPATH available_timezones",
    # files, text that is run, state, memory
    "numpy": "DataSource asfarray bmat byteorder core ctypeslib f2py fromfile fromregex genfromtxt "
    "get_include getbufsize "
    "geterrcall info lib load loadtxt memmap ndenumerate nested_iters nditer rec safe_eval save savetxt "
    "savez "
    "savez_compressed set_printoptions setbufsize seterr seterrcall show_config show_runtime test testing "
    "get_printoptions printoptions recarray record emath exceptions dtypes",
    "numpy.ma": "core extras mrecords testutils",
    "numpy.random": "BitGenerator get_bit_generator set_bit_generator get_state set_state bit_generator "
    "mtrand test",
    "numpy.char": "chararray array asarray",
    "dateutil.parser": "UnknownTimezoneWarning",
    "numpy.polynomial": "set_default_printstyle",
    "scipy.fft": "register_backend set_backend set_global_backend set_workers skip_backend get_workers",
    "scipy.stats": "rv_continuous rv_discrete",  # they build source from the names of their shapes
    "scipy.integrate": "test",
    "scipy.linalg": "blas lapack cython_blas cython_lapack find_best_blas_type get_blas_funcs "
    "get_lapack_funcs test",
    "scipy.special": "test",
    "scipy.spatial": "convex_hull_plot_2d delaunay_plot_2d voronoi_plot_2d",
    "typing": "ForwardRef get_type_hints evaluate_forward_ref BinaryIO IO TextIO clear_overloads "
    "get_overloads",
}
"""Names of the modules above that are not listed."""

_UNDECLARED = {"pandas.api.types"}
"""Modules whose ``__all__`` leaves out most of what they document."""


def gather() -> str:
    """The text of ``exports.txt``."""
    rows = {module: sorted(names.split()) for module, names in ONLY.items()}
    rows |= {module: _names(module) for module in WHOLE}
    head = (
        "# What tools may import, and the names that they may take. Made by forge/tree/gather.py; don't edit."
    )
    return (
        "\n".join([head, *(f"{module}: {' '.join(rows[module])}".rstrip() for module in sorted(rows))]) + "\n"
    )


def _names(path: str) -> list[str]:
    module = importlib.import_module(path)
    declared = None if path in _UNDECLARED else getattr(module, "__all__", None)
    public = declared if declared is not None else [name for name in dir(module) if _own(module, name)]
    left_out = set(LEFT_OUT.get(path, "").split())
    return sorted({name for name in public if name not in left_out and _listed(module, name)})


def _listed(module: types.ModuleType, name: str) -> bool:
    return not name.startswith("_") and not isinstance(getattr(module, name, None), types.ModuleType)


def _own(module: types.ModuleType, name: str) -> bool:
    """Without ``__all__``: what the module defined itself, and plain values; not what it only imported."""
    home = getattr(getattr(module, name), "__module__", module.__name__)
    return home is None or home.partition(".")[0].lstrip("_") == module.__name__.partition(".")[0].lstrip("_")


if __name__ == "__main__":
    (Path(__file__).parent / "exports.txt").write_text(gather(), "utf-8")
