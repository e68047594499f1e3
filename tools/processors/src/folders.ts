/** Folders next to the checkout, which are not part of the repository. */
import { fileURLToPath } from "node:url";

/**
 * Folder of small inputs that failed once, with their right outputs: NNHAL_FAULT_FILES, or the folder next to the checkout. It
 * may be absent.
 */
export const faultsFolder =
  process.env.NNHAL_FAULT_FILES ?? fileURLToPath(new URL("../../../../shared/faults", import.meta.url));

/** Folder of the conformance vectors: NNHAL_VECTORS, or the one next to the checkout. It may be absent. */
export const vectorsFolder =
  process.env.NNHAL_VECTORS ?? fileURLToPath(new URL("../../../../shared/vectors", import.meta.url));
