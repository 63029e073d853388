"""`heddle bench`: run the benchmark programs, peers beside Heddle, and say what came out."""
