/**
 * @nnhal/backend-reference: executes the reference kernels of @nnhal/operations. Complete, exact, and the definition of
 * right for every other backend.
 */
export { referenceBackend } from "./reference-backend.ts";
