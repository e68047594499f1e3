/** @nnhal/transport/protocol: the table of methods, and the values that frames carry. */
export { type Hello, protocolVersions, type Welcome } from "./handshake.ts";
export { buffer, burst, device, type Method, type Notice, ping, preparedModel } from "./methods.ts";
export type { MemoryDefinition, WiredModel, WiredPool, WiredRequest } from "./values.ts";
