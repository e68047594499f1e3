/** @nnhal/transport/client: devices of other processes and threads. */
export { connectDevice, type RemoteDevice } from "./device.ts";
export type { ConnectOptions } from "./find-again.ts";
export type { SessionOptions, Unavailable } from "./session.ts";
