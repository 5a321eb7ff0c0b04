"""A house's own deck and chips: from a few pictures of them to readers that know them."""
