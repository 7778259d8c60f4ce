"""Answer what users ask about runs that are kept."""
