/** @nnhal/transport/carriers: channels for frames, and the passing of memories. */
export {
  type MemoryPassing,
  type NotPassed,
  noPassing,
  type PassedMemory,
  type PassingFactory,
  type TakenFile,
  threadPassing,
} from "../memory/passing.ts";
export { type Carrier, type CarrierOptions, defaultMostFrame, type Frame, type Receiver } from "../protocol/carrier.ts";
export { memoryCarriers } from "./memory.ts";
export { type PortOptions, portCarrier } from "./port.ts";
export { socketCarrier } from "./socket.ts";
