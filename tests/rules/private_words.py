"""Words that this project once used in a sense of its own, and the field's word for each.

The one list for documents (tests/docs/test_words.py) and for code (words.py). A word that is also ordinary English has a
pattern that matches its private sense alone.
"""
import functools
import re

# In documents, comments and string literals: a pattern, and what to write instead.
TEXT = {
    r"\bhouse\b|\bfloors?\b": "layer",
    r"\bhelpers?\b": "progress thread, or thread of the library",
    r"\bscouts?\b": "idle-core detector",
    r"\b(?:gives?|gave|given|giving) (?:its|the|their|a|one's)? ?(?:own )?cores? away": "yield",
    r"\blost (?:its )?step\b": "partner descheduled",
    r"\bworlds? of one\b": "singleton",
    r"\bobituar": "exit report",
    r"\bledger\b": "counter registry",
    r"\bin turns\b": "interleaved",
    r"\bbest peers?\b": "reference MPI (a peer is a rank that one communicates with)",
    r"\bcontestants?\b": "candidate",
    r"\b(?:fast|slow) minutes?\b": "close, distant vCPUs",
    r"\bon the way of\b": "on the critical path of",
    r"\b(?:under|with|by) (?:the|its|their|a)(?: \w+'s)? protection\b|\bprotection of\b": "with the lock of ... held",
    r"\bunprotected\b": "lock-free",
    r"\bfirst looks?\b|\blooks (?:once|again|less|longer|from outside)\b|\bglances?\b": "poll",
    r"\bunasked\b": "eager",
    r"\bforetold\b|\bforetells?\b": "notified early",
    r"\bcrowded\b": "oversubscribed",
    r"\bleft behind\b": "deferred",
    r"\bfarewells?\b": "disconnect message",
    r"\bstrangers?\b": "foreign packet, foreign process",
    r"\basleep\b": "blocked",
    r"\bawake\b": "spinning",
    r"\bsilence\b": "timeout, no packet",
    r"\bso-manieth\b": "every Nth",
    r"\bbe heard of\b": "be acknowledged",
    r"\brous(?:e|es|ed|ing)\b": "wake",
    r"\bsettl(?:e|es|ed|ing)\b": "complete, match, merge, agree",
    r"\b(?:can't|cannot|can not|could not|couldn't|is not to) be had\b": "is not available, unsupported",
    r"\bmakes? (?:no|any) sense\b": "malformed, invalid",
    r"\bwhoever\b": "the thread, rank or process by its name",
    r"\bnobody\b|\bsomebody\b|\banybody\b|\beverybody\b": "the thread, rank or process by its name",
}
# A sentence that is no question begins with its subject, or with a short condition.
OPENING = re.compile(r"(?:^|(?<=[.!?:;] ))(What|Who|Whoever|Of|Whether)\b(?! (?:course|the above)\b)[^.?!]*(?![^.?!]*\?)(?:[.!]|$)")

# Parts of identifiers (snake_case and CamelCase, both split): a pattern for a whole part, and what to name it instead.
PARTS = {
    r"unasked": "eager",
    r"foret(?:old|ells?)": "early notification",
    r"crowded": "oversubscribed",
    r"farewells?": "disconnect",
    r"strangers?": "foreign",
    r"asleep": "blocked",
    r"awake": "spinning",
    r"silence": "timeout",
    r"rouse[ds]?": "wake",
    r"reminds?|reminders?": "wake, or notify",
    r"settle[ds]?|settling": "complete, match, merge",
    r"unprotected": "lock_free",
    r"glances?": "poll",
    r"ledger": "registry",
    r"scouts?": "detector",
    r"helpers?": "the thread by what it does",
    r"contestants?": "candidate",
    r"obituar(?:y|ies)": "exit_report",
    r"whoever|nobody|somebody|everybody|anybody": "the thread, rank or process by its name",
}
# Identifiers with a part that is ordinary in other names.
IDENTIFIERS: dict[str, str] = {}

ANY = re.compile("|".join(TEXT), re.IGNORECASE)
QUOTED = re.compile(r"\"[^\"\n]*\"")


def in_text(text: str) -> list[str]:
    """Private words of a text, names of the code in quotation marks apart."""
    plain = QUOTED.sub('""', text)
    if not ANY.search(plain):
        return []
    return [f"{match[0]!r}: write {instead}" for pattern, instead in TEXT.items()
            for match in re.finditer(pattern, plain, re.IGNORECASE)]


def openings(text: str) -> list[str]:
    """Sentences that begin with a relative clause in place of their subject."""
    return [f"{match[0][:40]!r}: begin with the subject" for match in OPENING.finditer(text)]


@functools.cache
def in_identifier(name: str) -> list[str]:
    parts = re.sub(r"([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])", r"\1\2_", name).lower().split("_")
    found = [f"{name!r}: name it {instead}" for pattern, instead in PARTS.items()
             if any(re.fullmatch(pattern, part) for part in parts)]
    return found + ([f"{name!r}: name it {IDENTIFIERS[name]}"] if name in IDENTIFIERS else [])
