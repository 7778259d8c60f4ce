"""The sections of a bundle: `table` lists them, the other files say what is special about one of them."""
