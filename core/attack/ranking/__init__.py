"""Ranking a secret among all candidates, by likelihoods that are read along shared beginnings."""
