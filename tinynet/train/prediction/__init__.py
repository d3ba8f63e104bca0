"""What the model of a run takes for predictions: one class for each kind of inputs."""
