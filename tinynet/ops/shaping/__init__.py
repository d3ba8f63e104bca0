"""Views, reshaping, joining, splitting, flipping."""
