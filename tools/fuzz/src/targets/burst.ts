/** Packets of a burst's client. */
import {
  type BurstContext,
  configureExecutionBurst,
  createChannel,
  createMemorySlots,
  createTurns,
  localSignal,
  readResult,
  ringReader,
  ringWriter,
  sleepUntil,
  wordsPerSlot,
} from "@nnhal/driver-core/burst";
import { ErrorStatus, type PreparedModel } from "@nnhal/types";
import { bytes, type Codec, list } from "@nnhal/utils/codec";
import { mustBeOutcome, takePrepared } from "../answers.ts";
import { openReference } from "../device.ts";
import { memoryWith, readAs, writeAs } from "../model-input.ts";
import { mutateBytes, otherNumber } from "../mutate/bytes.ts";
import type { Random } from "../random.ts";
import { smallModels } from "../small-models.ts";
import { must, type Target } from "../target.ts";

/** Packets: words, little-endian. */
export const packets: Codec<readonly Uint8Array[]> = list(bytes);

/** Slots of the queues. */
const capacity = 256;
const bytesPerSlot = 4 * wordsPerSlot;

export const burst: Target = {
  name: "burst",
  says: "packets go into the queue of a burst: each is answered once, and the burst can be ended",
  longest: 8192,
  packages: ["driver-core"],
  mutate: mutatePackets,
  async open() {
    const device = await openReference();
    const [model] = smallModels;
    must(model !== undefined, () => "there is no model");
    const prepared = takePrepared("prepareModel", await device.prepareModel(model));
    must(prepared !== undefined, () => "the model is refused");
    return {
      async run(input) {
        const all = readAs(packets, input);
        if (all === undefined) return;
        const { send, close } = open(prepared);
        for (const packet of all.slice(0, 8)) await send(packet);
        await close();
      },
      close: () => device.close(),
    };
  },
};

function open(prepared: PreparedModel) {
  const requests = createChannel("FmqRequestDatum", capacity);
  const results = createChannel("FmqResultDatum", capacity);
  const memories = createMemorySlots();
  for (const size of [12, 64]) {
    const memory = memoryWith(new Uint8Array(size));
    memories.slotOf(memory, memory);
  }
  const signal = localSignal();
  const options = { signal, pollingWindow: 0 };
  const configured = configureExecutionBurst(prepared, memories, requests.descriptor, results.descriptor, options);
  const context: BurstContext | null = configured.context;
  must(context !== null, () => `the burst is refused: ${configured.message}`);
  const writer = ringWriter(requests.words, capacity, signal);
  const reader = ringReader(results.words, capacity, signal);
  const turns = createTurns(1);
  return {
    async send(packet: Uint8Array) {
      const length = Math.min(capacity, Math.floor(packet.length / bytesPerSlot)) * wordsPerSlot;
      if (length === 0) return;
      const words = new Int32Array(packet.slice(0, 4 * length).buffer);
      if (!writer.write(words)) return;
      const answer = readResult(await sleepUntil(reader, () => reader.read(), turns));
      must(!("malformed" in answer), () => `the answer is malformed: ${"malformed" in answer && answer.malformed}`);
      mustBeOutcome("the burst", { ...answer, message: "results of packets have no message" });
      must(
        answer.status === ErrorStatus.NONE ||
          answer.outputShapes.length === 0 ||
          answer.status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
        () => `shapes beside status ${answer.status}`,
      );
      must(reader.read() === undefined, () => "a packet is answered twice");
    },
    close: async () => void (await context.close()),
  };
}

/** Words of packets changed, and packets exchanged. */
function mutatePackets(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array | undefined {
  const read = readAs(packets, input);
  if (read === undefined) return undefined;
  const all: Uint8Array[] = read.map((packet) => packet.slice());
  const steps = 1 + random.below(4);
  for (let step = 0; step < steps; step++) {
    const at = random.below(all.length);
    const packet = all[at];
    if (packet === undefined || packet.length < bytesPerSlot) return undefined;
    const view = new DataView(packet.buffer);
    const slot = random.below(Math.floor(packet.length / bytesPerSlot)) * bytesPerSlot;
    switch (random.below(6)) {
      case 0:
        view.setUint32(slot, random.below(9), true);
        break;
      case 1:
        all.splice(at, 0, packet.slice());
        break;
      case 2:
        all[at] = Uint8Array.of(...packet.subarray(0, slot), ...packet.subarray(slot + bytesPerSlot));
        break;
      case 3:
        all[at] = mutateBytes(packet, random, other, capacity * bytesPerSlot);
        break;
      default: {
        const word = slot + 4 * random.below(wordsPerSlot);
        view.setUint32(word, otherNumber(view.getUint32(word, true), random), true);
      }
    }
  }
  return writeAs(packets, all);
}
