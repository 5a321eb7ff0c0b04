"""Training and measuring of the networks; not part of the distribution."""
