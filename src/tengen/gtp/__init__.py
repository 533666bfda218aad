"""The Go Text Protocol, version 2: `server` for Tengen as an engine, `client` and `process` for other programs."""
