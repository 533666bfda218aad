"""Records of the tests of the page."""

BRANCHED = b"""(;GM[1]FF[4]SZ[9]KM[6.5]RU[Japanese]PB[Anna]BR[3k]PW[Bo]RE[W+R]EV[Cup]AB[gg]C[start]
;B[cc]C[first](;W[ee];B[ce]LB[cc:A])(;W[eg]C[other];B[gc];W[aa]))"""
