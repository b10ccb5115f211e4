"""A model service on this machine that plays what a test wrote, in the formats of four vendors."""
