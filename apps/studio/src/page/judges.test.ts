import { expect, it } from "vitest";
import { judgesOf } from "./judges.ts";

const namesOf = (...given: Parameters<typeof judgesOf>) => judgesOf(...given).map(({ name }) => name);

it("in the browser every engine judges the others", () => {
  expect(namesOf({ devices: "auto", isOnMachine: false })).toEqual(["reference", "wasm", "tfjs", "gpujs"]);
  expect(namesOf({ devices: "wasm", isOnMachine: false })).toEqual(["reference", "tfjs", "gpujs"]);
  expect(namesOf({ devices: "reference", isOnMachine: false }, [{ name: "nnhal-ort" }])).toEqual([
    "wasm",
    "tfjs",
    "gpujs",
  ]);
});

it("on the machine its devices judge that work, the reference first", () => {
  const machine = [
    { name: "nnhal-ort" },
    { name: "sample" },
    { name: "gone", problem: "x" },
    { name: "nnhal-reference" },
  ];
  expect(namesOf({ devices: "auto", isOnMachine: true }, machine)).toEqual(["nnhal-reference", "nnhal-ort", "sample"]);
  expect(namesOf({ devices: "sample", isOnMachine: true }, machine)).toEqual(["nnhal-reference", "nnhal-ort"]);
  expect(namesOf({ devices: "one", isOnMachine: true }, [{ name: "one" }])).toEqual(["one"]);
  expect(namesOf({ devices: "one", isOnMachine: true })).toEqual([]);
});
