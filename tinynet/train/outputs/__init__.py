"""What a model computes, for people: predictions, generated texts, pictures."""
