"""Tests of printable documents."""
