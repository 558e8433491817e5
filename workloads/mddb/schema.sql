-- Molecular dynamics: positions stream out of simulations; what is known of the atoms is static.
CREATE STREAM AtomPositions (
    trj_id  INT NOT NULL,
    t       INT NOT NULL,
    atom_id INT NOT NULL,
    x       DOUBLE NOT NULL,
    y       DOUBLE NOT NULL,
    z       DOUBLE NOT NULL,
    PRIMARY KEY (trj_id, t, atom_id)
) FROM FILE 'atompositions.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE TABLE AtomMeta (
    protein_id   INT NOT NULL,
    atom_id      INT NOT NULL,
    atom_type    VARCHAR(100) NOT NULL,
    atom_name    VARCHAR(100) NOT NULL,
    residue_id   INT NOT NULL,
    residue_name VARCHAR(100) NOT NULL,
    segment_name VARCHAR(100) NOT NULL,
    PRIMARY KEY (atom_id)
) FROM FILE 'atommeta.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE TABLE Dihedrals (
    protein_id  INT NOT NULL,
    atom_id1    INT NOT NULL,
    atom_id2    INT NOT NULL,
    atom_id3    INT NOT NULL,
    atom_id4    INT NOT NULL,
    force_const DOUBLE NOT NULL,
    n           DOUBLE NOT NULL,
    delta       DOUBLE NOT NULL,
    PRIMARY KEY (atom_id1, atom_id2, atom_id3, atom_id4)
) FROM FILE 'dihedrals.csv' LINE DELIMITED CSV (delimiter := ',');

CREATE TABLE Dimensions (
    atom_id1 INT NOT NULL,
    atom_id2 INT NOT NULL,
    atom_id3 INT NOT NULL,
    atom_id4 INT NOT NULL,
    dim_id   INT NOT NULL,
    PRIMARY KEY (dim_id)
) FROM FILE 'dimensions.csv' LINE DELIMITED CSV (delimiter := ',');
