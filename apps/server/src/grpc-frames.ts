/** Messages of gRPC in the data of a call: each has a prefix of five bytes. */
import { type Coding, type Collector, createCollector, unpack } from "./body.ts";
import type { Holding } from "./budget.ts";
import { RequestError } from "./errors.ts";

/** Reads the messages of a call. */
export interface Frames {
  /** Returns work that must end before more is added. Throws a RequestError. */
  add(chunk: Buffer): Promise<void> | undefined;
  /** Throws a RequestError if a message has not ended. */
  end(): void;
}

/** Returns the prefix of a message, as it is sent. */
export function prefixOf(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return prefix;
}

/** Reads frames: a byte that says whether the message is compressed, its length, the message. */
export function createFrames(
  limit: number,
  coding: Coding | undefined,
  holding: Holding,
  onMessage: (bytes: Uint8Array<ArrayBuffer>) => void,
): Frames {
  const prefix = Buffer.alloc(5);
  let known = 0;
  let body: Collector | undefined;
  const hold = (bytes: number) => holding.hold(bytes);
  /** Returns work that must end before more is added. */
  const finish = (bytes: Uint8Array<ArrayBuffer>): Promise<void> | undefined => {
    if (prefix[0] === 0) return void onMessage(bytes);
    if (prefix[0] !== 1 || coding === undefined) {
      throw new RequestError("invalid", "a message says that it is compressed, and the call has no grpc-encoding");
    }
    return unpack(bytes, coding, { limit, hold: (size) => hold(bytes.length + size) }).then(onMessage);
  };
  return {
    add(chunk: Buffer): Promise<void> | undefined {
      let place = 0;
      let work: Promise<void> | undefined;
      while (place < chunk.length) {
        if (known < 5) {
          const taken = chunk.copy(prefix, known, place, place + 5 - known);
          known += taken;
          place += taken;
          if (known < 5) return work;
          body = createCollector({ limit, length: prefix.readUInt32BE(1), hold });
        }
        if (body === undefined) return work;
        const missing = prefix.readUInt32BE(1) - body.received;
        body.add(chunk.subarray(place, place + missing));
        place += Math.min(missing, chunk.length - place);
        if (body.received < prefix.readUInt32BE(1)) return work;
        const bytes = body.take();
        known = 0;
        body = undefined;
        if (work !== undefined)
          throw new RequestError("invalid", "compressed messages follow each other without a pause");
        work = finish(bytes);
      }
      return work;
    },
    end() {
      if (known > 0) throw new RequestError("invalid", `a message ended after ${body?.received ?? 0} bytes`);
    },
  };
}
