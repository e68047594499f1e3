/** @nnhal/transport/server: devices for other processes and threads. */
export {
  type ClientLimits,
  type Provider,
  type ServedClient,
  type ServedConnection,
  type ServedDevice,
  type ServeOptions,
  serve,
} from "./serve.ts";
