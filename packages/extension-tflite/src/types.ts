/**
 * @nnhal/extension-tflite/types: the name and the operand types of the extension, without its operations: element types of .tflite that
 * the HAL lacks, and how strings are stored. The codes are those of the schema's TensorType.
 */
export {
  decodeStringBytes,
  decodeStrings,
  encodeStrings,
  extensionName,
  type Quant16Params,
  type StringTensor,
  tfliteTypes,
} from "@nnhal/operations/tflite-types";
