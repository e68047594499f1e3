import { describe, expect, it } from "vitest";
import { addingModel } from "../program.test-helper.ts";
import type { Task } from "./contestant.ts";
import { openLitert } from "./litert-peer.ts";

const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
const task = (bytes: Uint8Array, inputs: readonly Uint8Array[], threads = 1): Task => ({
  path: "m.tflite",
  bytes,
  inputs,
  threads,
  hybrid: "quantised",
  onnx: { cannot: "no form" },
});
const inputs = [floats(1, 2, 3, 4), floats(10, 20, 30, 40)];

async function prepare(given: Task) {
  const contestant = await openLitert(given);
  if ("unavailable" in contestant) throw new Error(contestant.unavailable);
  expect(contestant).toMatchObject({ threads: given.threads, version: expect.stringMatching(/^LiteRT\.js \d/) });
  return contestant.prepare();
}

describe("the peer LiteRT.js", () => {
  it("computes a network again and again, with inputs as they are at each run", async () => {
    const own = inputs.map((bytes) => bytes.slice());
    const ready = await prepare(task(addingModel(), own));
    await ready.run();
    expect(ready.outputs()).toEqual([floats(11, 22, 33, 44)]);
    own[0]?.set(floats(5, 5, 5, 5));
    await ready.run();
    expect(ready.outputs()).toEqual([floats(15, 25, 35, 45)]);
    await ready.close();
  });

  it("leaves no names of a browser behind, by which other engines would choose how they load", async () => {
    const before = Object.getOwnPropertyNames(globalThis).sort();
    await prepare(task(addingModel(), inputs));
    const after = Object.getOwnPropertyNames(globalThis).filter((name) => !before.includes(name));
    expect(after).toEqual([]);
    expect("importScripts" in globalThis).toBe(false);
  });

  it("says why it refuses a file", async () => {
    await expect(prepare(task(Uint8Array.of(1, 2, 3), [floats(1, 2)]))).rejects.toThrow(
      /^LiteRT\.js refuses the file: /,
    );
    await expect(prepare(task(addingModel(), inputs.slice(1)))).rejects.toThrow(
      "LiteRT.js sees 2 inputs, and the network has 1",
    );
  });
});
