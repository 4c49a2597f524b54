"""Lower bounds on epsilon: repeated games in hard worlds, and the STOP attack."""
