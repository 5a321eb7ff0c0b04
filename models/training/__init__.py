"""Training: pictures from the simulated table, three networks, their ONNX files and the manifest."""
