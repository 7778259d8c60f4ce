"""The only room that touches the machine. It has no opinions."""
