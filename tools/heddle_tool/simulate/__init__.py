"""`heddle simulate`: programs in virtual time, on machines that are data."""
