-- Houses and what is near them: six relations on a postcode, 27 attributes (F-IVM 2018, 7).
CREATE STREAM House (
    postcode INT NOT NULL, h2 INT NOT NULL, h3 INT NOT NULL, h4 INT NOT NULL, h5 INT NOT NULL,
    h6 INT NOT NULL, h7 INT NOT NULL, h8 INT NOT NULL, h9 INT NOT NULL, h10 INT NOT NULL,
    h11 INT NOT NULL
) FROM FILE 'house.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Shop (
    postcode INT NOT NULL, s2 INT NOT NULL, s3 INT NOT NULL, s4 INT NOT NULL, s5 INT NOT NULL,
    s6 INT NOT NULL
) FROM FILE 'shop.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Institution (
    postcode INT NOT NULL, i2 INT NOT NULL, i3 INT NOT NULL
) FROM FILE 'institution.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Restaurant (
    postcode INT NOT NULL, r2 INT NOT NULL, r3 INT NOT NULL
) FROM FILE 'restaurant.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Demographics (
    postcode INT NOT NULL, d2 INT NOT NULL, d3 INT NOT NULL, d4 INT NOT NULL, d5 INT NOT NULL
) FROM FILE 'demographics.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE STREAM Transport (
    postcode INT NOT NULL, t2 INT NOT NULL, t3 INT NOT NULL, t4 INT NOT NULL
) FROM FILE 'transport.csv' LINE DELIMITED CSV (delimiter := ',');
