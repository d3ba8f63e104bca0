"""Export of models to ONNX, under ``torch.onnx``'s names."""

from tinynet.onnx import errors as errors
from tinynet.onnx.errors import OnnxExporterError as OnnxExporterError
from tinynet.onnx.export import ONNXProgram as ONNXProgram
from tinynet.onnx.export import TrainingMode as TrainingMode
from tinynet.onnx.export import export as export
from tinynet.onnx.export import is_in_onnx_export as is_in_onnx_export
