/**
 * #kernels: what the build of `@nnhal/operations/tflite` shares with the rest of the package. The list follows from the imports of its files.
 */
export * from "./kernels.gen.ts";
