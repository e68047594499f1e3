/**
 * @nnhal/extension-tflite: the operators and element types of .tflite models that the HAL lacks, as a vendor extension.
 */
export { tfliteExtension } from "./extension.ts";
export { decodeStringBytes, decodeStrings, encodeStrings, type StringTensor, tfliteTypes } from "./types.ts";
