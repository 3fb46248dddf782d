"""Python's statistics module (see routines/statistics.py). mode and multimode look numbers up in a dict."""
from ...routines import statistics
from ..override import override

for _call in (statistics.mean, statistics.fmean, statistics.geometric_mean, statistics.harmonic_mean,
              statistics.median, statistics.median_low, statistics.median_high, statistics.pvariance,
              statistics.variance, statistics.pstdev, statistics.stdev, statistics.quantiles,
              statistics.covariance, statistics.correlation, statistics.linear_regression):
    override(f"statistics.{_call.__name__}", routine=True)(_call)
