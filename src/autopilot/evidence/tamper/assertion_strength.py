"""How much an assertion pins down: an exact value, a part of one, or merely that something is there."""

import re

from autopilot.evidence.tamper.case_values import EXACT, PARTIAL, SOMETHING, closing

_WEAK = re.compile(
    r"\.(?:toBeDefined|toBeTruthy|toBeFalsy|toBeInstanceOf|toHaveBeenCalled|exist|ok|isNotNull|isNotEmpty|isPresent"
    r"|isInstanceOf|isNotNil|NotNil|NotEmpty|True|NoError|doesNotThrow|toBeNonNull)\b(?:\(|$|\s)"
    r"|\.not\.(?:toBe(?:Null|Undefined|NaN)?|toThrow|toEqual)\b"
    r"|(?:^|\.)(?:assertTrue|assertNotNull|assertNotEmpty|assertDoesNotThrow|assertNotSame)\b"
    r"|^assert!\(|^assert\(|^assert\.(?:ok|isOk|exists|isDefined|isTrue|notEqual)\b"
    r"|\.to\.(?:be\.(?:ok|an?|true)|exist)\b"
    r"|^if [^{]*(?:== nil|!= nil|len\([^()]*\) == 0)\s*\{"
)
_PART = re.compile(
    r"\.(?:toContain|toMatch|toBeGreaterThan|toBeLessThan|toHaveProperty|toBeCloseTo|contains|startsWith|endsWith"
    r"|matches|hasSize|Contains|Regexp|Greater|Less|InDelta|InEpsilon|ElementsMatch|Len|includes?|toMatchObject)\w*\("
    r"|expect\.(?:any|anything|objectContaining|stringContaining|arrayContaining)\b"
    r"|strings\.(?:Contains|HasPrefix|HasSuffix)\(|\.contains\(|\.starts_with\(|\.ends_with\(|matches!\("
)
_COMPARES = re.compile(r"===?|!=|\.equals\(|\.eq\(")
_ALWAYS = re.compile(
    r"^(?:expect|assertThat)\(\s*(?:true|1|!0|!!1)\s*\)\s*\.(?:toBe\(\s*(?:true|1)\s*\)"
    r"|toEqual\(\s*(?:true|1)\s*\)|toBeTruthy\(\)"
    r"|isTrue\(\)|to\.be\.(?:true|ok)|toBeDefined\(\)|to\.equal\(true\))"
    r"|(?:^|\.)(?:assert(?:True|\.ok|\.isTrue|\.True)?|require\.True)!?\(\s*(?:t\s*,\s*)?(?:true|1|!false)\s*(?:,|\))"
    r"|\|\|\s*true\b|^if false\b"
)
_PAIR = re.compile(
    r"(?:^|\.)(?:assert(?:_eq!|Equals?|Same|StrictEqual|That|\.equal|\.strictEqual|\.deepEqual"
    r"|\.Equal|ArrayEquals)|require\.Equal)\("
)
_MATCHER = re.compile(r"\s*\.(?:to\.)?(?:toBe|toEqual|toStrictEqual|isEqualTo|isSameAs|equals?|eql)\(")
_PLAIN_COMPARISON = re.compile(
    r"^assert!?\(\s*(?P<left>[\w.()\[\]\"']+)\s*(?:===?|>=|<=)\s*(?P<right>[\w.()\[\]\"']+)\s*\)$"
)


def call_strength(text: str) -> int:
    if _PART.search(text):
        return PARTIAL
    if re.match(r"assert!?\(", text) and _COMPARES.search(text):
        return EXACT
    return SOMETHING if _WEAK.search(text) else EXACT


def shell_strength(text: str) -> int:
    if re.search(r"\s(?:=|==|-eq)\s|^diff\s|^cmp\s|^assert_(?:equal|output|line)\b(?!.*--(?:partial|regexp))", text):
        return EXACT
    exists = r"^\[\[?\s+(?:!\s+)?-[defnzrwxs]\s|^test\s+-[defnzrwxs]\s|^assert_success\b|^assert\s+\["
    return SOMETHING if re.search(exists, text) else PARTIAL


def is_tautology(text: str) -> bool:
    """Whether it holds whatever the code does."""
    if _ALWAYS.search(text):
        return True
    plain = _PLAIN_COMPARISON.match(text)
    if plain:
        return plain["left"] == plain["right"]
    return _compares_with_itself(text)


def _compares_with_itself(text: str) -> bool:
    head = re.match(r"(?:expect|assertThat)\(", text)
    if head:
        end = closing(text, head.end() - 1)
        matcher = _MATCHER.match(text, end)
        if not matcher:
            return False
        wanted = text[matcher.end() : closing(text, matcher.end() - 1) - 1]
        return bool(wanted.strip()) and text[head.end() : end - 1].strip() == wanted.strip()
    pair = _PAIR.search(text)
    if not pair:
        return False
    values = arguments(text[pair.end() : closing(text, pair.end() - 1) - 1])
    values = values[1:] if values[:1] in (["t"], ["s.T()"]) else values
    return len(values) > 1 and values[0] == values[1] and bool(values[0])


def arguments(text: str) -> list[str]:
    """What stands between the commas outside all brackets and strings."""
    found, depth, start = [], 0, 0
    for letter in re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[()\[\]{},]").finditer(text):
        if letter[0] in "([{":
            depth += 1
        elif letter[0] in ")]}":
            depth -= 1
        elif letter[0] == "," and depth == 0:
            found.append(text[start : letter.start()].strip())
            start = letter.end()
    return [*found, text[start:].strip()]
