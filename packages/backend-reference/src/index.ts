/**
 * @nnhal/backend-reference: executes the reference kernels of @nnhal/operations. Complete, exact, and the
 * measure of every other backend.
 */
export {
  createReferenceBackend,
  type ReferenceBackendOptions,
  referenceBackend,
  referenceBackend as backend,
} from "./reference-backend.ts";
