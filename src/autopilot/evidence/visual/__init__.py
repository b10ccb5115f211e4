"""Facts about how an app looks: our own browser, our own eyes for pixels."""
