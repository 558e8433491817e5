"""Factorized maintenance: variable orders, view trees, delta trees, trigger programs (F-IVM)."""
