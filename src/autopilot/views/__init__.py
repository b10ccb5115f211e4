"""Pictures computed from the journal. They read; they never decide or write."""
