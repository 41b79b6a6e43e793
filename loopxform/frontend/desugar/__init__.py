"""C written as plainer C, before its names are resolved."""
