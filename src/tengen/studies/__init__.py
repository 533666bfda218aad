"""Studies: published experiments rerun from YAML files that list training runs, matches and measurements."""
