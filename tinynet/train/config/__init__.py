"""From a config file to checked sections."""
