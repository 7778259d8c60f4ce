"""Talk with a person at a terminal: keys in, an edited line out, with history and many-line input."""
