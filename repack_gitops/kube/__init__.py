"""The cluster edge: the only room that imports the kubernetes client."""
