-- The part of TPC-DS that the store-channel queries read.
-- Sales stream in, and so do the customers and addresses that come with them and change while
-- sales run; all other dimensions (calendar, items, stores, demographics, promotions) are loaded
-- once per refresh by the benchmark and are static here. Only keys are NOT NULL, as in the benchmark.
CREATE STREAM store_sales (
    ss_sold_date_sk       INT,
    ss_sold_time_sk       INT,
    ss_item_sk            INT NOT NULL,
    ss_customer_sk        INT,
    ss_cdemo_sk           INT,
    ss_hdemo_sk           INT,
    ss_addr_sk            INT,
    ss_store_sk           INT,
    ss_promo_sk           INT,
    ss_ticket_number      BIGINT NOT NULL,
    ss_quantity           INT,
    ss_wholesale_cost     DECIMAL(7,2),
    ss_list_price         DECIMAL(7,2),
    ss_sales_price        DECIMAL(7,2),
    ss_ext_discount_amt   DECIMAL(7,2),
    ss_ext_sales_price    DECIMAL(7,2),
    ss_ext_wholesale_cost DECIMAL(7,2),
    ss_ext_list_price     DECIMAL(7,2),
    ss_ext_tax            DECIMAL(7,2),
    ss_coupon_amt         DECIMAL(7,2),
    ss_net_paid           DECIMAL(7,2),
    ss_net_paid_inc_tax   DECIMAL(7,2),
    ss_net_profit         DECIMAL(7,2),
    PRIMARY KEY (ss_item_sk, ss_ticket_number)
) FROM FILE 'store_sales.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE STREAM customer (
    c_customer_sk         INT NOT NULL,
    c_customer_id         CHAR(16) NOT NULL,
    c_current_cdemo_sk    INT,
    c_current_hdemo_sk    INT,
    c_current_addr_sk     INT,
    c_salutation          CHAR(10),
    c_first_name          CHAR(20),
    c_last_name           CHAR(30),
    c_preferred_cust_flag CHAR(1),
    c_birth_country       VARCHAR(20),
    PRIMARY KEY (c_customer_sk)
) FROM FILE 'customer.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE STREAM customer_address (
    ca_address_sk INT NOT NULL,
    ca_address_id CHAR(16) NOT NULL,
    ca_city       VARCHAR(60),
    ca_county     VARCHAR(30),
    ca_state      CHAR(2),
    ca_zip        CHAR(10),
    ca_country    VARCHAR(20),
    ca_gmt_offset DECIMAL(5,2),
    PRIMARY KEY (ca_address_sk)
) FROM FILE 'customer_address.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE TABLE date_dim (
    d_date_sk   INT NOT NULL,
    d_date_id   CHAR(16) NOT NULL,
    d_date      DATE,
    d_month_seq INT,
    d_week_seq  INT,
    d_year      INT,
    d_dow       INT,
    d_moy       INT,
    d_dom       INT,
    d_qoy       INT,
    d_day_name  CHAR(9),
    PRIMARY KEY (d_date_sk)
) FROM FILE 'date_dim.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE TABLE item (
    i_item_sk       INT NOT NULL,
    i_item_id       CHAR(16) NOT NULL,
    i_current_price DECIMAL(7,2),
    i_brand_id      INT,
    i_brand         CHAR(50),
    i_category_id   INT,
    i_category      CHAR(50),
    i_manufact_id   INT,
    i_manufact      CHAR(50),
    i_manager_id    INT,
    PRIMARY KEY (i_item_sk)
) FROM FILE 'item.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE TABLE store (
    s_store_sk         INT NOT NULL,
    s_store_id         CHAR(16) NOT NULL,
    s_store_name       VARCHAR(50),
    s_number_employees INT,
    s_city             VARCHAR(60),
    s_county           VARCHAR(30),
    s_state            CHAR(2),
    s_zip              CHAR(10),
    s_gmt_offset       DECIMAL(5,2),
    PRIMARY KEY (s_store_sk)
) FROM FILE 'store.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE TABLE household_demographics (
    hd_demo_sk        INT NOT NULL,
    hd_income_band_sk INT,
    hd_buy_potential  CHAR(15),
    hd_dep_count      INT,
    hd_vehicle_count  INT,
    PRIMARY KEY (hd_demo_sk)
) FROM FILE 'household_demographics.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE TABLE customer_demographics (
    cd_demo_sk          INT NOT NULL,
    cd_gender           CHAR(1),
    cd_marital_status   CHAR(1),
    cd_education_status CHAR(20),
    cd_credit_rating    CHAR(10),
    PRIMARY KEY (cd_demo_sk)
) FROM FILE 'customer_demographics.csv' LINE DELIMITED CSV (delimiter := '|');

CREATE TABLE promotion (
    p_promo_sk      INT NOT NULL,
    p_promo_id      CHAR(16) NOT NULL,
    p_promo_name    CHAR(50),
    p_channel_email CHAR(1),
    p_channel_event CHAR(1),
    PRIMARY KEY (p_promo_sk)
) FROM FILE 'promotion.csv' LINE DELIMITED CSV (delimiter := '|');
