"""Self-play learning: from the rules alone, or from a trained network, to a rated engine. Needs the extra [train].

Cycles and networks count from 0: cycle c turns network c into network c + 1.
"""
