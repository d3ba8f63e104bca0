"""What a run says while it runs: progress, TensorBoard, summaries."""
