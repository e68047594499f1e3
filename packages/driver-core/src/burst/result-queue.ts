/** The results of a burst on their way to the client: each waits until the queue has room, if the client still reads. */
import { type Limits, milliseconds } from "./limits.ts";
import { mostWords } from "./repeated-packets.ts";
import { type BurstResultPacket, writeResult } from "./result-codec.ts";
import type { RingWriter } from "./ring.ts";
import { sleepUntil, type Turns } from "./waiting.ts";

/** See the file's head. */
export interface ResultQueue {
  /** Resolves with false if the client has taken no result within the limit: the burst must end. `isStopping`: it need not wait. */
  send(result: BurstResultPacket, isStopping: () => boolean): Promise<boolean>;
}

/** `refuse`: the result in place of one that cannot be sent. */
export function createResultQueue(
  writer: RingWriter,
  turns: Turns,
  { watchdog, silence }: Limits,
  refuse: (message: string) => BurstResultPacket,
  log: (message: string) => void,
): ResultQueue {
  const scratch = new Int32Array(mostWords);
  const encode = (result: BurstResultPacket) => {
    try {
      return writeResult(result, scratch);
    } catch (error) {
      return writeResult(refuse(`a result cannot be sent: ${error}`));
    }
  };
  return {
    async send(result, isStopping) {
      if (writer.write(encode(result))) return true;
      const tooLong = refuse("a result is longer than the room in its queue");
      let isLost = false;
      const isSent = () => {
        const isOver = isLost || isStopping() || writer.isPeerClosed();
        return isOver || writer.write(encode(tooLong)) ? true : undefined;
      };
      await watchdog.within(sleepUntil(writer, isSent, turns), silence, () => {
        log(`the client has taken no result for ${milliseconds(silence)}: the burst ends`);
        isLost = true;
        writer.wake();
        return true;
      });
      return !isLost;
    },
  };
}
