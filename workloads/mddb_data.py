"""A short protein in water: static atoms and dihedrals, streamed positions.

Frames (trajectory, time) are few and unevenly filled, so that some hold all four atoms of many
dihedrals while others miss some. Coordinates are eighths, exact as doubles; lengths and angles
are not, so results need a tolerance.
"""

from __future__ import annotations

from random import Random

from workloads.events import Pools, Relation, Row, Tables

_RESIDUES = ("ALA", "LYS", "GLY", "LYS", "SER", "LYS")
_BACKBONE = ("N", "CA", "C")
_SIDE_CHAIN = {"LYS": "NZ", "ALA": "CB", "SER": "OG", "GLY": "O"}
_WATER = ("OH2", "H1", "H2")
_TRAJECTORIES = 3


def tables(seed: int, scale: float) -> Tables:
    """Atoms of `6 * scale` residues and as many waters, and the chain's dihedrals."""
    meta, chain = _atoms(scale)
    quads = [tuple(chain[i : i + 4]) for i in range(len(chain) - 3)]
    rng = Random(seed)
    return {
        "AtomMeta": meta,
        "Dihedrals": [(1, *q, 0.125 * rng.randint(1, 16), 3.0, 180.0) for q in quads],
        # one quad in eight has no dimension: the join must drop it
        "Dimensions": [(*q, i) for i, q in enumerate(quads, start=1) if i % 8],
    }


def relations(seed: int, scale: float) -> tuple[Relation, ...]:
    """List the positions; their frames grow with the live rows, their atoms with the scale."""
    atoms = len(_atoms(scale)[0])
    return (Relation("AtomPositions", lambda r, p: _position(r, p, atoms), key=(0, 1, 2)),)


def _atoms(scale: float) -> tuple[list[Row], list[int]]:
    """List the atoms with their residues, and the ids of the backbone in chain order."""
    meta: list[Row] = []
    chain: list[int] = []
    count = max(2, round(len(_RESIDUES) * scale))
    for residue in range(1, count + 1):
        name = _RESIDUES[(residue - 1) % len(_RESIDUES)]
        for atom in (*_BACKBONE, _SIDE_CHAIN[name]):
            meta.append((1, len(meta) + 1, atom[0], atom, residue, name, "PROT"))
            if atom in _BACKBONE:
                chain.append(len(meta))
    for residue in range(count + 1, 2 * count + 1):
        for atom in _WATER:
            meta.append((1, len(meta) + 1, atom[0], atom, residue, "TIP3", "WAT"))
    return meta, chain


def _position(rng: Random, pools: Pools, atoms: int) -> Row:
    frames = max(1, pools["AtomPositions"].domain(2.0) // (atoms * _TRAJECTORIES))
    trajectory = 1 + int(_TRAJECTORIES * rng.random() ** 1.3)
    time = int(frames * rng.random() ** 1.7)
    x, y, z = (rng.randint(-160, 160) / 8 for _ in range(3))
    return trajectory, time, rng.randint(1, atoms), x, y, z
