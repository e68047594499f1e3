/** The operations that every thread can find: those of the HAL and of nnhal.tflite. A vendor's own are values of the first thread. */
import { loadOperations, type Operation, operationByCode } from "@nnhal/operations";

/** The name of the extension in the library. */
export const tfliteName = "nnhal.tflite";

/** Finds an operation by its code in an extension; without one, of the HAL. */
export type FindOperation = (code: number, extension: string | undefined) => Operation | undefined;

/** Loads the operations of the HAL with some codes, in Node.js all of them, and those of nnhal.tflite if they are wanted. */
export async function loadLibrary(codes: readonly number[], withTflite: boolean): Promise<FindOperation> {
  await loadOperations(codes);
  const tflite: readonly Operation[] = withTflite ? (await import("@nnhal/operations/tflite")).tfliteOperations : [];
  return (code, extension) => {
    if (extension === undefined) return operationByCode(code);
    return extension === tfliteName ? tflite.find((operation) => operation.code === code) : undefined;
  };
}
