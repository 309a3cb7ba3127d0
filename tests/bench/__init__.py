"""Benchmarks: each figure beside a floor measured in the same run. `make bench`; see docs/contributing/performance.md."""
