"""Tengen: from game records, or nothing but the rules, to a strong Go engine."""
