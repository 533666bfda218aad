"""The command line: one small file a verb; `app.main` picks the verb and turns errors into one line."""
