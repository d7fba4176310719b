"""Models that run on this machine: their weights, and the engines that read them."""
