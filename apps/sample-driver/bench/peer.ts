/** The other process of the bench: it echoes by the bare means, and serves an adder by calls and bursts. */
import { createServer } from "node:net";
import { type BurstContext, configureExecutionBurst, packetEnds, servePackets } from "@nnhal/driver-core/burst";
import { mapPool } from "@nnhal/driver-core/memory";
import type { IBurstCallback, Memory, PreparedModel } from "@nnhal/types";
import {
  answer,
  blockingFutexSignal,
  type ConfigureMessage,
  connectDescriptors,
  createParking,
  type MemoryPassing,
  mappedSignal,
  memoriesOf,
  passingOver,
  unwrap,
} from "../../../packages/service/src/shared-memory/round-trips.test-helper.ts";
import { readFrames, toWords, writeFrame } from "./frames.ts";
import { prepareAdd } from "./prepare-add.ts";

/** Milliseconds without a turn after which the other process is taken to be gone. */
const longestIdle = 20_000;

const prepared = await prepareAdd();
const parking = createParking();
const parked: Pick<PreparedModel, "execute"> = {
  execute: (request, options) => parking.runUnblocked(() => prepared.execute(request, options)),
};
let passing: MemoryPassing | undefined;
let context: BurstContext | undefined;
let words: Int32Array = new Int32Array(0);

const receive = (reference: Uint8Array): Memory => unwrap(passing?.receive(reference) ?? { refused: "not connected" });

const ask = answer({
  async connect(path: string) {
    const socket = unwrap(await connectDescriptors(path));
    passing = passingOver(socket.fd);
    return socket.secret;
  },
  words(reference: Uint8Array) {
    const mapping = mapPool(receive(reference));
    if ("unmappable" in mapping) throw new Error(mapping.unmappable);
    words = new Int32Array(mapping.bytes.buffer);
  },
  /** Copies word 0, which counts up, to word 16 until word 32 says stop. */
  echo(how: "spin" | "futex" | "async") {
    const signal = blockingFutexSignal({ milliseconds: 100 });
    const loop = () => {
      let turn = Atomics.load(words, 0);
      while (Atomics.load(words, 32) === 0) {
        const lastTurn = performance.now();
        for (let looks = 0; Atomics.load(words, 0) === turn; looks++) {
          if (how === "spin" && looks % 4096 !== 4095) continue;
          const idle = performance.now() - lastTurn;
          // Between its rounds it leaves the processor to the others.
          if (how === "futex" || idle > 1) signal.sleep(words, 0, turn);
          // This thread hears nothing of the end of the other process.
          if (idle > longestIdle) process.exit();
        }
        turn = Atomics.load(words, 0);
        Atomics.store(words, 16, turn);
        if (how === "futex") signal.wake(words, 16);
      }
    };
    const sleep = async () => {
      let turn = Atomics.load(words, 0);
      while (Atomics.load(words, 32) === 0) {
        while (Atomics.load(words, 0) === turn) await mappedSignal.sleep(words, 0, turn);
        turn = Atomics.load(words, 0);
        Atomics.store(words, 16, turn);
        mappedSignal.wake(words, 16);
      }
    };
    setImmediate(how === "async" ? sleep : loop);
  },
  /** Listens with a socket that sends back its input, and one on which requests are packets. */
  async listen(path: string) {
    createServer((socket) => socket.on("data", (data) => socket.write(data))).listen(`${path}.echo`);
    createServer((socket) => {
      const ends = packetEnds((packet) => writeFrame(socket, packet));
      const callback: IBurstCallback = { getMemories: (slots) => memoriesOf(passing, ask, slots) };
      readFrames(socket, (frame) => ends.receive(toWords(frame)));
      servePackets(prepared, callback, ends);
    }).listen(`${path}.packets`);
  },
  configure({ requests, results, pollingWindow, how }: ConfigureMessage) {
    const callback: IBurstCallback = { getMemories: (slots) => memoriesOf(passing, ask, slots) };
    const served = configureExecutionBurst(
      how === "park" ? parked : prepared,
      callback,
      { datum: "FmqRequestDatum", memory: receive(requests.reference), capacity: requests.capacity },
      { datum: "FmqResultDatum", memory: receive(results.reference), capacity: results.capacity },
      {
        pollingWindow,
        ...(how === "park" && { signal: parking.signal }),
        ...(how === "block" && { signal: blockingFutexSignal() }),
      },
    );
    context = served.context ?? undefined;
    return { status: served.status, message: served.message };
  },
  freeMemory: (slot: number) => context?.freeMemory(slot),
  close: () => context?.close(),
});
