"""Define the recipe language and its engine. Nothing here touches the machine."""
