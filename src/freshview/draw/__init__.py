"""Drawings as SVG and PDF."""
