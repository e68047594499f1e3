/**
 * @nnhal/operations/tflite: the operations of the extension nnhal.tflite. They stand beside those of the HAL, with whose kernels theirs are made. Use
 * the package `@nnhal/extension-tflite`, which names them as an extension; this entry follows its needs and changes without notice.
 */
export { tfliteOperations } from "./tflite-operations.gen.ts";
