"""One file for each command of `tutti`."""
