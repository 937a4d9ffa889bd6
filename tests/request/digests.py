"""Writes digests.json: JSON texts, and the SHA-256 of each as Python writes it with sorted keys. Run: python3 digests.py"""

import hashlib
import json
import random
import struct

NUMBERS = """
0 -0 0.0 -0.0 0e0 -0e5 1 -1 1.0 -1.0 10 1e0 1E0 1e+0 1e-0 1.5 1e1 12e-1 0.1 0.10 0.30000000000000004 1e15 1e16 1E+16 1e17
123456789012345.6 1234567890123456.7 12345678901234567.8 999999999999999.9 9999999999999998.0 9999999999999999.0
9007199254740991 9007199254740992 9007199254740993 9007199254740993.0 -9007199254740993 18446744073709551615 1e21 1e22 1e23
100000000000000000000 100000000000000000000.0 123456789012345678901234567890 0.0001 0.00001 0.000012345 1e-4 1e-5 1e-6 1e-7
0.00012345678901234567 5e-324 4e-324 2e-324 1e-400 2.2250738585072014e-308 1.7976931348623157e308 1e308 1e309 -1e309 1e400
3.141592653589793 2.718281828459045e-10 6.02214076e23 1.00000000000000000001 4.35 0.5e-3 1e-10 -1e-10 9.5367431640625e-07
""".split()

TEXTS = [
    r'""', r'" "', r'"a\"b\\c\/d"', r'"\b\f\n\r\t"', r'"\u0000\u0001\u001f\u007f\u0080"', r'"\u2028\u2029\u0085"', r'"\u00e9é"',
    r'"\ud83d\ude00😀"', '"\ue000\uffff\U00010000"', '"\u007f\u0080\ufeff"', r'"<>&\u003c"', r'"e\u0301"', r'"1.0 -0 1e5"',
    r'"1234567890123456789"', r'"\\u0041"', r'"\\\\\""', '"中文 日本語 português"',
]

SHAPES = [
    "{}", "[]", "[[]]", "[{}]", '{"":{}}', " \t\n\r[ 1 , 2 ] \n", '{"a":1,"a":2}', '{"a":{"x":1},"a":{"y":2}}', "[null,true,false]",
    '{"b":1,"a":2,"B":3,"A":4,"aa":5,"":6," ":7}', '{"10":1,"9":2,"1":3,"01":4,"-1":5,"1.5":6}',
    '{"__proto__":1,"constructor":2,"toString":3,"hasOwnProperty":4}', '{"__proto__":{"__proto__":1.0}}', '{"__proto__":[-0]}',
    '{"\uffff":1,"\U00010000":2,"\ue000":3,"\ud7ff":4,"\U0010ffff":5,"z":6}', r'{"\ud83d\ude00":1,"\uff5e":2,"\ufffd":3,"\u00e9":4}',
    '{"a\uffff":1,"a\U00010000":2,"a":3,"a\ue000b":4}', '{"\U0001f600":{"\uffee":1.0,"\U0001f601":-0}}', r'{"\u0000":1,"\u0001":2,"\n":3}',
    '{"é":1,"e":2,"e\u0301":3,"f":4}', "[1,1.0,1e0,true]", "[" * 150 + "1.0" + "]" * 150, "[%s]" % ",".join(NUMBERS),
]


def number(chance: random.Random) -> str:
    kind = chance.randrange(6)
    if kind == 0:
        return str(chance.randrange(-1000, 1000))
    if kind == 1:
        return str(chance.randrange(-(10**40), 10**40))
    if kind == 2:
        value = struct.unpack(">d", chance.randbytes(8))[0]
        return repr(value) if abs(value) < float("inf") else "1e999"
    if kind == 3:
        return f"{chance.randrange(-99, 99)}.{chance.randrange(10**chance.randrange(1, 20))}"
    if kind == 4:
        return f"{chance.randrange(1, 10**6)}{chance.choice('eE')}{chance.choice(['', '+', '-'])}{chance.randrange(330)}"
    return chance.choice(NUMBERS)


def text(chance: random.Random) -> str:
    alphabet = "aAzZ09 _\"\\/\b\f\n\r\t\u0000\u001f\u007fé\u2028\ud7ff\ue000\uff5e\uffff\U00010000\U0001f600\U0010ffff"
    value = "".join(chance.choice(alphabet) for _ in range(chance.randrange(6)))
    return json.dumps(value, ensure_ascii=chance.random() < 0.5)


def value(chance: random.Random, depth: int) -> str:
    kind = chance.randrange(8 if depth > 0 else 5)
    space = chance.choice(["", "", " ", "\n\t"])
    if kind < 2:
        return number(chance)
    if kind == 2:
        return text(chance)
    if kind < 5:
        return chance.choice(["null", "true", "false", "{}", "[]"])
    items = [value(chance, depth - 1) for _ in range(chance.randrange(5))]
    if kind == 5:
        return f"[{space}{f'{space},'.join(items)}]"
    return "{" + f",{space}".join(f"{text(chance)}{space}:{item}" for item in items) + f"{space}}}"


def main() -> None:
    chance = random.Random(42)
    texts = [*NUMBERS, *TEXTS, *SHAPES, *(f"[{value(chance, 4)},{value(chance, 3)}]" for _ in range(450))]
    pairs = []
    for source in dict.fromkeys(texts):
        written = json.dumps(json.loads(source), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        pairs.append([source, hashlib.sha256(written.encode("utf-8")).hexdigest()])
    with open("digests.json", "w", encoding="utf-8") as file:
        json.dump(pairs, file, ensure_ascii=True, indent=1)
        file.write("\n")


main()
