/**
 * gpu.js in a worker of its own: it makes functions from texts. The policy of the page forbids that, and the policy of this worker permits it, but no
 * connections.
 */
import type { Port } from "@nnhal/network";
import { portOfWorker } from "@nnhal/network/session";
import { GPUJS } from "./gpujs-name.ts";

/** Starts the worker. */
export function portOfGpujs(): Port {
  // The build puts the file there.
  const address = new URL(`../${GPUJS}.js`, globalThis.location.href);
  return portOfWorker(new Worker(address, { type: "module", name: GPUJS }));
}
