"""The recipe language: text and values in, decisions out. Nothing here touches the machine."""
