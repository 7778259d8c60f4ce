"""Touch the machine: files, processes, network. No other room does."""
