-- TPC-H with the unprefixed column names of the DBToaster papers; the two small tables are static.
CREATE STREAM Lineitem (
    orderkey      INT NOT NULL,
    partkey       INT NOT NULL,
    suppkey       INT NOT NULL,
    linenumber    INT NOT NULL,
    quantity      DECIMAL(15,2) NOT NULL,
    extendedprice DECIMAL(15,2) NOT NULL,
    discount      DECIMAL(15,2) NOT NULL,
    tax           DECIMAL(15,2) NOT NULL,
    returnflag    CHAR(1) NOT NULL,
    linestatus    CHAR(1) NOT NULL,
    shipdate      DATE NOT NULL,
    commitdate    DATE NOT NULL,
    receiptdate   DATE NOT NULL,
    shipinstruct  CHAR(25) NOT NULL,
    shipmode      CHAR(10) NOT NULL,
    comment       VARCHAR(44) NOT NULL,
    PRIMARY KEY (orderkey, linenumber)
) FROM FILE 'lineitem.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE STREAM Orders (
    orderkey      INT NOT NULL,
    custkey       INT NOT NULL,
    orderstatus   CHAR(1) NOT NULL,
    totalprice    DECIMAL(15,2) NOT NULL,
    orderdate     DATE NOT NULL,
    orderpriority CHAR(15) NOT NULL,
    clerk         CHAR(15) NOT NULL,
    shippriority  INT NOT NULL,
    comment       VARCHAR(79) NOT NULL,
    PRIMARY KEY (orderkey)
) FROM FILE 'orders.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE STREAM Customer (
    custkey    INT NOT NULL,
    name       VARCHAR(25) NOT NULL,
    address    VARCHAR(40) NOT NULL,
    nationkey  INT NOT NULL,
    phone      CHAR(15) NOT NULL,
    acctbal    DECIMAL(15,2) NOT NULL,
    mktsegment CHAR(10) NOT NULL,
    comment    VARCHAR(117) NOT NULL,
    PRIMARY KEY (custkey)
) FROM FILE 'customer.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE STREAM Part (
    partkey     INT NOT NULL,
    name        VARCHAR(55) NOT NULL,
    mfgr        CHAR(25) NOT NULL,
    brand       CHAR(10) NOT NULL,
    type        VARCHAR(25) NOT NULL,
    size        INT NOT NULL,
    container   CHAR(10) NOT NULL,
    retailprice DECIMAL(15,2) NOT NULL,
    comment     VARCHAR(23) NOT NULL,
    PRIMARY KEY (partkey)
) FROM FILE 'part.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE STREAM Supplier (
    suppkey   INT NOT NULL,
    name      CHAR(25) NOT NULL,
    address   VARCHAR(40) NOT NULL,
    nationkey INT NOT NULL,
    phone     CHAR(15) NOT NULL,
    acctbal   DECIMAL(15,2) NOT NULL,
    comment   VARCHAR(101) NOT NULL,
    PRIMARY KEY (suppkey)
) FROM FILE 'supplier.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE STREAM Partsupp (
    partkey    INT NOT NULL,
    suppkey    INT NOT NULL,
    availqty   INT NOT NULL,
    supplycost DECIMAL(15,2) NOT NULL,
    comment    VARCHAR(199) NOT NULL,
    PRIMARY KEY (partkey, suppkey)
) FROM FILE 'partsupp.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE TABLE Nation (
    nationkey INT NOT NULL,
    name      CHAR(25) NOT NULL,
    regionkey INT NOT NULL,
    comment   VARCHAR(152) NOT NULL,
    PRIMARY KEY (nationkey)
) FROM FILE 'nation.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE TABLE Region (
    regionkey INT NOT NULL,
    name      CHAR(25) NOT NULL,
    comment   VARCHAR(152) NOT NULL,
    PRIMARY KEY (regionkey)
) FROM FILE 'region.csv' LINE DELIMITED CSV (delimiter := '|');
