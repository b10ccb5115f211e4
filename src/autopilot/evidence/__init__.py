"""Facts: criteria and gates run by us on a checkout of our own, each with the tree it was made on."""
