"""Programs on simulated machines: platforms for SimGrid, and runs on them."""
