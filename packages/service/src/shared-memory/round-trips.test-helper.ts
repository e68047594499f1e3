/**
 * Exports for the bench of round trips (apps/sample-driver/bench) in one file: sources are loaded as one bundle for
 * each.
 */
export {
  adderRequest,
  type ConfigureMessage,
  clientContext,
  memoriesOf,
  passingOver,
  unwrap,
} from "./burst.test-helper.ts";
export { connectDescriptors } from "./descriptor-socket.ts";
export { blockingFutexSignal, createParking, mappedSignal } from "./futex-signal.ts";
export { burstAcrossProcesses, createSharedMemory, type MemoryPassing, serveDescriptors } from "./index.ts";
export { prepareRemotely } from "./remote-device.test-helper.ts";
export { answer, type Peer, privateFolder, startPeer } from "./start-peer.test-helper.ts";
