import type { Memory } from "@nnhal/types";
import { expect, it } from "vitest";
import { allocateMemory, mapMemory, mappedMemory } from "../memory/memory.ts";
import { localSignal } from "../memory/signal.ts";
import { createChannel, openChannel, signalOf } from "./channel.ts";

/** Memory whose mapping has more to say than that of `allocateMemory`. */
function memoryWith(more: object) {
  return (size: number): Memory => {
    const { name, handle } = allocateMemory(size);
    const bytes = new Uint8Array(size);
    return mappedMemory({ name, size, handle }, { bytes, writable: true, ...more });
  };
}

it("makes a queue in the memory that it is given, whose ends sleep as that memory says", () => {
  const signal = localSignal();
  const { descriptor, words } = createChannel("FmqRequestDatum", 8, memoryWith({ signal }));
  expect(mapMemory(descriptor.memory)).toHaveProperty("buffer", words.buffer);
  expect(signalOf(descriptor)).toBe(signal);
  expect(openChannel(descriptor, "FmqRequestDatum")).toEqual(words);
  expect(signalOf(createChannel("FmqRequestDatum", 8).descriptor)).toBeUndefined();
});

it("opens no queue in memory that is a copy: the other end would never see what is written to it", () => {
  const { descriptor } = createChannel("FmqResultDatum", 8);
  const { size } = descriptor.memory;
  const copied = { ...descriptor, memory: memoryWith({ load() {} })(size) };
  expect(openChannel(copied, "FmqResultDatum")).toEqual({
    noRing: "its memory is a copy that the other end does not see",
  });
});
