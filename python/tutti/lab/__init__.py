"""A cluster on one machine: nodes that are network namespaces, joined by links of a given rate."""
