#!/usr/bin/env python3
"""Recomputes fingerprints from crates/definition/FINGERPRINT.md alone, sharing no code with the product.

    fingerprint.py VECTORS.json [CORPUS.jsonl ...]

Every vector must give the canonical text and fingerprint, or the refusal, that it states. A line of a corpus is a JSON
object whose last member is "tool"; the exact text of that member is taken, must be accepted, and its canonical text must
be its own canonical text. For each corpus one digest over all its fingerprints is printed, to compare with the product's.

Exit status: 0 when everything agrees, 1 on any mismatch, 2 on wrong usage.
"""

import hashlib
import json
import re
import sys

MAX_BYTES = 256 * 1024
MAX_DEPTH = 128
MAX_EXPONENT_DIGITS = 18

SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?")
SURROGATE = re.compile("[\ud800-\udfff]")


class Refused(Exception):
    """The text has no fingerprint; the argument is the reason's code."""


class Number(str):
    """A number as it is written."""


def read(text):
    """The value of a JSON text: dict, list, str, Number, True, False or None."""
    if len(text.encode("utf-8")) > MAX_BYTES:
        raise Refused("TOO_LARGE")
    try:
        value = json.loads(
            text,
            parse_int=read_number,
            parse_float=read_number,
            parse_constant=refuse_constant,
            object_pairs_hook=read_object,
        )
    except json.JSONDecodeError as error:
        raise Refused("MALFORMED") from error
    except RecursionError as error:
        raise Refused("TOO_DEEP") from error
    check(value, 1)
    return value


def read_number(text):
    written = NUMBER.fullmatch(text)[5] or ""
    if len(written) > MAX_EXPONENT_DIGITS:
        raise Refused("EXPONENT_TOO_LONG")
    exponent = canonical_number(text).partition("e")[2]
    if len(exponent.lstrip("+-")) > MAX_EXPONENT_DIGITS:
        raise Refused("EXPONENT_TOO_LONG")
    return Number(text)


def refuse_constant(_name):
    raise Refused("MALFORMED")


def read_object(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        raise Refused("DUPLICATE_KEY")
    return members


def check(value, depth):
    """Refuses what the json module lets through: lone surrogates and deep nesting."""
    if isinstance(value, (dict, list)) and depth > MAX_DEPTH:
        raise Refused("TOO_DEEP")
    if isinstance(value, str) and SURROGATE.search(value):
        raise Refused("LONE_SURROGATE")
    if isinstance(value, dict):
        for name in value:
            check(name, depth)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        check(inner, depth + 1)


def canonical(value):
    if isinstance(value, Number):
        return canonical_number(value)
    if isinstance(value, str):
        return canonical_string(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical_string(name) + ":" + canonical(value[name]) for name in names) + "}"
    return {None: "null", True: "true", False: "false"}[value]


def canonical_string(text):
    escaped = (SHORT_ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text)
    return '"' + "".join(escaped) + '"'


def canonical_number(text):
    """The number is 0.DIGITS times ten to the power of POINT, in the layout of ECMAScript's Number::toString."""
    sign, whole, fraction, exponent_sign, exponent = NUMBER.fullmatch(text).groups(default="")
    digits = whole + fraction
    point = len(whole) + int(exponent_sign + (exponent or "0"))
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    count = len(digits)
    if count == 0:
        return "0"
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    mantissa = digits if count == 1 else digits[0] + "." + digits[1:]
    return f"{sign}{mantissa}e{point - 1:+d}"


def fingerprint(canonical_text):
    return "sha256:" + hashlib.sha256(canonical_text.encode("utf-8")).hexdigest()


def check_vectors(path):
    """The mismatches of a vectors file, and how many vectors it holds."""
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    mismatches = []
    for vector in vectors["accepted"]:
        try:
            found = canonical(read(vector["text"]))
        except Refused as refusal:
            mismatches.append(f"{vector['about']}: refused as {refusal}")
            continue
        if canonical(read(found)) != found:
            mismatches.append(f"{vector['about']}: its canonical text is not its own")
        if (found, fingerprint(found)) != (vector["canonical"], vector["fingerprint"]):
            mismatches.append(f"{vector['about']}: {found} {fingerprint(found)}")
    for vector in vectors["refused"]:
        try:
            mismatches.append(f"{vector['about']}: accepted as {canonical(read(vector['text']))}")
        except Refused as refusal:
            if str(refusal) != vector["code"]:
                mismatches.append(f"{vector['about']}: refused as {refusal}")
    return mismatches, len(vectors["accepted"]), len(vectors["refused"])


def check_corpus(path):
    """The mismatches of a corpus, how many definitions it holds, and the digest of their fingerprints."""
    mismatches, count, digest = [], 0, hashlib.sha256()
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            count += 1
            start = line.index('"tool":') + len('"tool":')
            start += len(line[start:]) - len(line[start:].lstrip(" "))
            _, end = json.JSONDecoder().raw_decode(line, start)
            try:
                found = canonical(read(line[start:end]))
                again = canonical(read(found))
            except Refused as refusal:
                mismatches.append(f"line {count}: refused as {refusal}")
                continue
            if found != again:
                mismatches.append(f"line {count}: its canonical text is not its own")
            digest.update(f"{fingerprint(found)}\n".encode())
    return mismatches, count, digest.hexdigest()


def main(paths):
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    mismatches, accepted, refused = check_vectors(paths[0])
    print(f"vectors: {accepted} accepted, {refused} refused, {len(mismatches)} mismatches")
    for path in paths[1:]:
        found, count, digest = check_corpus(path)
        print(f"corpus {path}: {count} definitions, {len(found)} mismatches, digest {digest}")
        mismatches += found
    for mismatch in mismatches:
        print(f"mismatch: {mismatch}", file=sys.stderr)
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
