"""The Go Text Protocol, version 2: parse a line, ask the engine, print the answer."""
