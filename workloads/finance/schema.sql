-- Two sides of one order book; no key, as the same order may be announced twice.
CREATE STREAM Bids (
    t         DOUBLE NOT NULL,
    id        INT NOT NULL,
    broker_id INT NOT NULL,
    volume    DOUBLE NOT NULL,
    price     DOUBLE NOT NULL
) FROM FILE 'bids.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Asks (
    t         DOUBLE NOT NULL,
    id        INT NOT NULL,
    broker_id INT NOT NULL,
    volume    DOUBLE NOT NULL,
    price     DOUBLE NOT NULL
) FROM FILE 'asks.csv' LINE DELIMITED CSV (delimiter := ',');
