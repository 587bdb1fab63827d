"""Texts that tokenizers find hard."""

import random
import unicodedata

WORDS = ("the of and a in is it you that he was for on are with as his they be at one have this from or had by hot word "
         "but what some we can out other were all there when up use your how said an each she which do their time if "
         "will way about many then them write would like so these her long make thing see him two has look more day "
         "could go come did number sound no most people my over know water than call first who may down side been now "
         "find I'll don't it's WE'RE they'Ve I'M he'd ain't 'S 's 'ſ naïve Straße ÀÉÎ e\u0301a\u0316\u0301 İstanbul "
         "ΑΣΟΣ Привет мир שלום مرحبا 你好世界 こんにちは 안녕하세요 नमस्ते ไทย ﬁne ½ ² Ⅷ ①").split()
SPACES = [" ", " ", " ", "  ", "   ", "\n", "\r\n", "\t", "\n\n", " \n ", "\u00a0", "\u3000", "\u2028", "\x0b", "\x85"]
SIGNS = list(".,;:!?-_'\"()[]{}<>/\\|@#$%^&*+=~`") + ["...", "--", "://", "’s", "“", "”", "—", "€", "▁", "Ġ", "<0x41>"]
EMOJI = ["😀", "👨‍👩‍👧", "🏳️‍🌈", "👍🏽", "🇩🇪", "\u200b", "\ufeff", "\ufffd"]


def assigned():
    """Characters by how they are used; what surrogates and private use have is left out."""
    pools = {}
    for c in range(0x110000):
        category = unicodedata.category(chr(c))
        if category not in ("Cs", "Co"):
            pools.setdefault(category, []).append(chr(c))
    return list(pools.values())


class Texts:
    def __init__(self, seed, specials=(), newer=True):
        self.random = random.Random(seed)
        self.pools = [p for p in assigned() if newer or unicodedata.category(p[0]) != "Cn"]
        self.specials = list(specials)

    def part(self):
        r = self.random
        kind = r.randrange(20)
        if kind < 8:
            word = r.choice(WORDS)
            return word if r.random() < 0.7 else r.choice([word.upper(), word.capitalize(), word[::-1]])
        if kind < 11:
            return str(r.randrange(10 ** r.randrange(1, 8)))
        if kind < 14:
            return r.choice(SIGNS) * r.choice([1, 1, 1, 2, 3])
        if kind < 15:
            return r.choice(EMOJI)
        if kind < 16 and self.specials:
            return r.choice(self.specials)
        return "".join(r.choice(r.choice(self.pools)) for _ in range(r.randrange(1, 5)))

    def text(self):
        r = self.random
        out = []
        for _ in range(r.randrange(0, r.choice([2, 4, 12, 20]))):
            out.append(self.part())
            if r.random() < 0.6:
                out.append(r.choice(SPACES))
        return "".join(out)
