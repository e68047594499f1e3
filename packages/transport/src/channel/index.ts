/** @nnhal/transport/channels: channels for frames, and the passing of memories. */
export {
  type MemoryPassing,
  type NotPassed,
  noPassing,
  type PassedMemory,
  type PassingFactory,
  type TakenFile,
  threadPassing,
} from "../memory/passing.ts";
export type { Channel, ChannelOptions, Frame, Receiver } from "../protocol/channel.ts";
export { memoryChannels } from "./memory.ts";
export { type PortOptions, portChannel } from "./port.ts";
export { socketChannel } from "./socket.ts";
