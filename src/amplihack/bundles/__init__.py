"""Bundles: composable agent configuration, from text to a mount plan. Nothing here touches the machine."""
