/** Functions that share code compute what each of them did. */
import { describe, expect, it } from "vitest";
import { addInstructions } from "../assembler/instructions.ts";
import { type FunctionSpec, writeModule } from "../assembler/module.ts";
import { others } from "../assembler/others.ts";
import { webAssembly } from "../web-assembly.ts";
import { shareCode } from "./share.ts";

addInstructions(others);

const memory = { module: "env", name: "memory", pages: 1 };
const fill = (value: number): number[] => new Array<number>(16).fill(value);

/** Stores a vector plus its first parameter at an address, and what was there `offset` bytes further. */
const storing = (name: string, address: number, vector: readonly number[], offset = 16): FunctionSpec => ({
  name,
  params: ["i32"],
  results: ["i32"],
  isExported: true,
  write(code) {
    const sum = code.local("v128");
    code.given(vector).get(0).op("i8x16.splat").op("i8x16.add").set(sum);
    code.given(address).get(sum).op("v128.store", 0);
    code.given(address).op("i32.load8_u", offset).given(256).op("i32.add");
  },
});

async function run(functions: readonly FunctionSpec[]) {
  const api = webAssembly();
  if (api === undefined) throw new Error("there is no WebAssembly");
  const own = new api.Memory({ initial: 1 });
  const bytes = new Uint8Array(own.buffer);
  bytes[144] = 7;
  const { exports } = new api.Instance(await api.compile(writeModule(memory, functions)), { env: { memory: own } });
  const results = functions
    .filter(({ isExported }) => isExported)
    .map(({ name }, place) => Reflect.apply(exports[name] as () => unknown, undefined, [place + 1]));
  return { results, bytes: [...bytes.subarray(0, 512)] };
}

describe("functions with the same code", () => {
  const functions = [
    storing("a", 64, fill(1)),
    storing("b", 128, fill(2)),
    storing("c", 320, fill(2)),
    // Its address is the number that is added, which is another one in the others.
    storing("d", 256, fill(3)),
  ];

  it("share it, with what differs as parameters, and compute the same", async () => {
    const shared = shareCode(functions);
    expect(shared.map(({ name, isExported }) => [name, isExported])).toEqual([
      ["a", true],
      ["b", true],
      ["c", true],
      ["d", true],
      ["shared a", false],
    ]);
    // The 256 is a constant.
    expect(shared[4]?.params).toEqual(["i32", "v128", "i32"]);
    expect(shared[3]).toBe(functions[3]);
    expect(await run(shared)).toEqual(await run(functions));
  });

  it("keep their own if anything but given numbers differs", () => {
    const others = [
      storing("offset", 64, fill(1), 32),
      { ...storing("results", 64, fill(1)), results: [] },
      { ...storing("apart", 64, fill(1)), isApart: true },
      { ...storing("params", 64, fill(1)), params: ["i32", "i32"] as const },
      { ...storing("locals", 64, fill(1)), write: (code) => void code.local("f32") },
    ] satisfies FunctionSpec[];
    const alone = [functions[0], ...others].filter((each) => each !== undefined);
    expect(shareCode(alone)).toEqual(alone);
  });
});
