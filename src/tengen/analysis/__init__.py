"""KataGo's JSON analysis protocol: many positions at once, one JSON object a line."""
