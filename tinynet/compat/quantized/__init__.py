"""PyTorch's packages of quantized numbers, for programs that import them and train in float32."""
