/**
 * The folders with the conformance vectors and the real models. They are not part of the repository (CONTRIBUTING.md): a test that
 * needs one is skipped, with the reason, if the folder does not exist.
 */
import { fileURLToPath } from "node:url";

/** The folder of the conformance vectors: NNHAL_VECTORS, or the one next to the checkout. */
export const vectorsFolder =
  process.env.NNHAL_VECTORS ?? fileURLToPath(new URL("../../../../shared/vectors", import.meta.url));

/** The folder of the vectors of what AIDL adds: NNHAL_VECTORS_AIDL, or the one next to the checkout. */
export const aidlVectorsFolder =
  process.env.NNHAL_VECTORS_AIDL ?? fileURLToPath(new URL("../../../../shared/vectors-aidl", import.meta.url));

/** The folder of real `.tflite` models: NNHAL_MODELS, or the one next to the checkout. */
export const modelsFolder =
  process.env.NNHAL_MODELS ?? fileURLToPath(new URL("../../../../shared/models", import.meta.url));

/** The folder of public `.tflite` files with TensorFlow Lite's outputs: NNHAL_CORPUS, or the one next to the checkout. */
export const corpusFolder =
  process.env.NNHAL_CORPUS ?? fileURLToPath(new URL("../../../../shared/corpus", import.meta.url));

/**
 * The folder of inputs on which nnhal once failed, with the right outputs, one folder for each fault: NNHAL_FOUND_FAULTS, or the one beside
 * the checkout. (NNHAL_FAULTS is about planted faults.)
 */
export const foundFaultsFolder =
  process.env.NNHAL_FOUND_FAULTS ?? fileURLToPath(new URL("../../../../shared/faults", import.meta.url));
