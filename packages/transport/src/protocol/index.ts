/** @nnhal/transport/protocol: the table of methods, and the values that frames carry. */
export { type Hello, hello, protocolVersion, type Welcome, welcome } from "./handshake.ts";
export {
  buffer,
  burst,
  burstCallback,
  device,
  fencedCallback,
  type Method,
  type Notice,
  notices,
  ping,
  preparedModel,
} from "./methods.ts";
export type { MemoryDefinition, WiredModel, WiredPool, WiredRequest } from "./values.ts";
