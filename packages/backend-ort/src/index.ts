/**
 * @nnhal/backend-ort: computes with ONNX Runtime. A subgraph becomes one model of ONNX.
 */

export type { FormName, Forms, OperatorForm, ProductKind, WeightForm } from "./forms.ts";
export { formsOfThisProcessor, type OnnxModelOptions, onnxModelOf } from "./onnx-model.ts";
export { backend, type OrtBackendOptions, ortBackend } from "./ort-backend.ts";
