"""Figures of the papers on re-evaluation, classical and higher-order maintenance, and batches.

Fig. 4.3 of M. Nikolic's thesis (2016) has view refreshes per second, one row at a time, of its own
engine by re-evaluation, first-order and higher-order deltas; Table A.1 rows per second of
higher-order code for single rows, batches of 1 and of 1,000, and the best batch size. (For Q11, Q20
and Q22 the rates of single rows in the two differ by orders of magnitude; the thesis does not say
why.) Both on other machines and data: only who wins, and where, is compared.
"""

from __future__ import annotations

from typing import NamedTuple


class Refreshes(NamedTuple):
    """Refreshes per second, row by row."""

    reeval: float
    first_order: float
    higher_order: float


class Batches(NamedTuple):
    """Rows per second of higher-order code, and the batch size of the best."""

    single: float
    batch_1: float
    batch_1000: float
    best: float
    best_size: int


REFRESHES: dict[str, Refreshes] = {
    "q01": Refreshes(13.4, 25.4, 681073.3),
    "q02": Refreshes(67.5, 150579.1, 702076.3),
    "q03": Refreshes(95.0, 576024.9, 1740859.8),
    "q04": Refreshes(50.3, 604201.5, 2005422.6),
    "q05": Refreshes(39.3, 319409.4, 10321.8),
    "q06": Refreshes(79.8, 4085311.8, 4400610.8),
    "q07": Refreshes(28.1, 307225.1, 68422.9),
    "q08": Refreshes(112.3, 74.5, 211766.7),
    "q09": Refreshes(4.4, 194584.2, 64244.4),
    "q10": Refreshes(51.9, 519102.4, 1627325.3),
    "q11": Refreshes(3.3, 3.3, 14374.5),
    "q12": Refreshes(34.1, 682959.6, 2305073.5),
    "q13": Refreshes(2.5, 109936.3, 605765.6),
    "q14": Refreshes(29.3, 29.0, 2868841.9),
    "q15": Refreshes(1.4, 1.4, 62.7),
    "q16": Refreshes(34.0, 30571.1, 209342.9),
    "q17": Refreshes(25.6, 173673.4, 773782.3),
    "q18": Refreshes(36.5, 442689.5, 951188.7),
    "q19": Refreshes(65.3, 463468.1, 1655056.2),
    "q20": Refreshes(622.0, 6124.0, 74372.9),
    "q21": Refreshes(20.6, 297190.3, 568108.7),
    "q22": Refreshes(18.2, 31.0, 135914.4),
    "axf": Refreshes(14.4, 52344.3, 160656.6),
    "bsp": Refreshes(24.1, 54920.8, 108354.0),
    "bsv": Refreshes(33.9, 201341.4, 7997516.0),
    "mst": Refreshes(7.0, 7.0, 10.3),
    "psp": Refreshes(2741.2, 2743.1, 85086.6),
    "vwap": Refreshes(18.1, 18.4, 1934.8),
}

BATCHES: dict[str, Batches] = {
    "q01": Batches(1267132, 307715, 4179921, 4372480, 100_000),
    "q02": Batches(756611, 456559, 971154, 1005175, 100),
    "q03": Batches(3736860, 1251162, 5323732, 5323732, 1000),
    "q04": Batches(10076062, 1603637, 10687864, 10790913, 10_000),
    "q05": Batches(584261, 387568, 658595, 690475, 100),
    "q06": Batches(138216710, 17017320, 98176845, 116931875, 10_000),
    "q07": Batches(650650, 397643, 775288, 775288, 1000),
    "q08": Batches(91221, 73786, 273387, 279041, 100),
    "q09": Batches(104370, 78460, 102940, 109515, 100),
    "q10": Batches(2889537, 1391237, 6354245, 7050705, 10_000),
    "q11": Batches(768, 776, 109603, 591716, 100_000),
    "q12": Batches(8675929, 1678780, 8236605, 8236605, 1000),
    "q13": Batches(779515, 444588, 701083, 758725, 100),
    "q14": Batches(33041606, 2769955, 43468480, 53436252, 100_000),
    "q15": Batches(17, 17, 109, 964, 100_000),
    "q16": Batches(123936, 115749, 108208, 131902, 10),
    "q17": Batches(379303, 210671, 279930, 279930, 1000),
    "q18": Batches(1133647, 572132, 1272541, 1278945, 100),
    "q19": Batches(1946309, 2461229, 9988084, 9988084, 1000),
    "q20": Batches(977, 950, 874469, 2191422, 10_000),
    "q21": Batches(836800, 282532, 501657, 508128, 100),
    "q22": Batches(189, 183, 54459, 815903, 100_000),
}
