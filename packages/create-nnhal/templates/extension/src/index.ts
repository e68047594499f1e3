/** The extension, and a backend that runs it. The command line finds the backend by the name `backend`. */
export { backend } from "./backend.ts";
export { extension, type Fixed16Params, TENSOR_FIXED16 } from "./extension.ts";
