"""Offer one function per thing a user can ask for. Only this room wires the others together."""
