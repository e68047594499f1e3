/** @nnhal/transport/client: devices of other processes and threads. */
export { type ConnectOptions, connectDevice, type RemoteDevice } from "./device.ts";
export type { SessionOptions, Unavailable } from "./session.ts";
