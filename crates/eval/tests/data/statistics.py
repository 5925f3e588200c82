"""Writes statistics.csv: values that scipy and statsmodels give for fixed samples.

    python3 statistics.py > statistics.csv      (scipy 1.17, statsmodels 0.15, numpy 2.4)

Bootstraps draw from the stream of `prng.rs`, so that intervals can be compared to the last digit and not to within
chance: scipy gets a random state whose `randint` is that stream.
"""


import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

MASK = (1 << 64) - 1
BOOTSTRAP_SEED = 20_260_816


class SplitMix(np.random.RandomState):
    """SplitMix64 with the rule for ranges of `prng.rs`."""

    def __init__(self, seed):
        super().__init__(0)
        self.at = seed

    def bits(self):
        self.at = (self.at + 0x9E3779B97F4A7C15) & MASK
        value = ((self.at ^ (self.at >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
        return value ^ (value >> 31)

    def below(self, end):
        limit = MASK - MASK % end
        while True:
            bits = self.bits()
            if bits < limit:
                return bits % end

    def randint(self, low, high=None, size=None, dtype=int):
        count = int(np.prod(size))
        return np.array([self.below(high - low) + low for _ in range(count)], dtype=dtype).reshape(size)


def samples():
    numbers = SplitMix(42)
    yield [3, 5, 1, 8, 2, 9, 4, 7, 6, 10]
    yield [0, 0, 1, -2, 2, 3, 3, -1, 5, 8]
    yield [12.5, -3.25, 7.75, 0.0, 20.5, 31.0, -1.5]
    for size in (5, 10, 10, 20, 37, 100):
        yield [numbers.below(41) - 12 for _ in range(size)]


def line(*cells):
    print(",".join(str(cell) for cell in cells))


def spaced(values):
    return " ".join(repr(float(value)) for value in values)


def signed_rank(values):
    """Exact two-sided p: scipy's enumeration while it is possible, its convolution without ties beyond."""
    kept = [value for value in values if value != 0]
    if len(kept) <= 13:
        method = stats.PermutationMethod(n_resamples=np.inf)
        return stats.wilcoxon(kept, method=method).pvalue
    # Convolution over doubled middle ranks, in whole numbers.
    ranks = [round(2 * rank) for rank in stats.rankdata([abs(value) for value in kept])]
    ways = {0: 1}
    for rank in ranks:
        now = dict(ways)
        for total, count in ways.items():
            now[total + rank] = now.get(total + rank, 0) + count
        ways = now
    positive = sum(rank for rank, value in zip(ranks, kept) if value > 0)
    low = min(positive, sum(ranks) - positive)
    tail = sum(count for total, count in ways.items() if total <= low)
    return min(1.0, 2 * tail / 2 ** len(kept))


def main():
    line("what", "input", "value")
    for values in samples():
        line("wilcoxon_p", spaced(values), repr(float(signed_rank(values))))
        array = np.array(values, dtype=float)
        line("cohen_d", spaced(values), repr(float(array.mean() / array.std(ddof=1))))
        for name, method in (("bca", "BCa"), ("percentile", "percentile")):
            found = stats.bootstrap(
                (array,), np.mean, n_resamples=10_000, method=method, batch=10_000, random_state=SplitMix(BOOTSTRAP_SEED)
            ).confidence_interval
            line(name, spaced(values), spaced([found.low, found.high]))
    families = [[0.002, 0.002, 0.002, 0.004, 0.023, 0.088], [0.5, 0.01, 0.04, 0.03], [0.9, 0.8], [0.2]]
    for family in families:
        line("holm", spaced(family), spaced(multipletests(family, method="holm")[1]))
    pairs = [([3, 4, 4, 9], [1, 3, 4]), ([1, 2, 3], [4, 5, 6]), ([2, 2], [2, 2])]
    for a, b in pairs:
        # Cliff's delta from Mann and Whitney's U.
        u = stats.mannwhitneyu(a, b).statistic
        line("cliff_delta", spaced(a) + ";" + spaced(b), repr(float(2 * u / (len(a) * len(b)) - 1)))


main()
