"""The report of a run as one HTML file: what a person sees of its journal, without a network and without trust."""
