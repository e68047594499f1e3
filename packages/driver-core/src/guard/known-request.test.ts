import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type Memory, type Request, type RequestArgument } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { absModel, absRequest, fakeDevice, succeeding } from "../device/fake-backend.test-helper.ts";
import { allocateMemory, mapPool } from "../memory/memory.ts";

const { NONE, INVALID_ARGUMENT } = ErrorStatus;

/** A device's prepared model, and where its runs found their inputs and outputs. */
async function prepare(model = absModel) {
  const runs: { readonly input: Uint8Array | undefined; readonly output: Uint8Array }[] = [];
  const device = await fakeDevice({
    compile: async () => ({
      ...succeeding,
      run(inputs, outputs, context) {
        runs.push({ input: inputs[0]?.bytes, output: elementAt(outputs, 0).bytes });
        return succeeding.run(inputs, outputs, context);
      },
    }),
  });
  const { preparedModel } = await device.prepareModel(model);
  if (preparedModel === null) throw new Error("not prepared");
  return { preparedModel, runs };
}

const memoryIn = (request: Request): Memory => {
  const [pool] = request.pools;
  if (pool?.kind !== "memory") throw new Error("no memory");
  return pool.memory;
};
const withMemory = (request: Request, memory: Memory): Request => ({ ...request, pools: [{ kind: "memory", memory }] });
const withInput = (request: Request, change: Partial<RequestArgument>): Request => ({
  ...request,
  inputs: [{ ...elementAt(request.inputs, 0), ...change }],
});
const withOutput = (request: Request, change: Partial<RequestArgument>): Request => ({
  ...request,
  outputs: [{ ...elementAt(request.outputs, 0), ...change }],
});
const at = (offset: number, length: number) => ({ poolIndex: 0, offset, length });

describe("a request after one that was valid", () => {
  it("runs in its own memory if it has the same arguments", async () => {
    const { preparedModel, runs } = await prepare();
    const first = absRequest().request;
    const second = absRequest().request;
    for (const request of [first, second, first]) {
      expect(await preparedModel.execute(structuredCloneOf(request))).toMatchObject({ status: NONE });
    }
    const bufferOf = (request: Request) => {
      const mapping = mapPool(memoryIn(request));
      return "unmappable" in mapping ? undefined : mapping.bytes.buffer;
    };
    expect(runs.map(({ input }) => input?.buffer)).toEqual([first, second, first].map(bufferOf));
    expect(runs.every(({ input, output }) => input?.byteOffset === 0 && output.byteOffset === 8)).toBe(true);
  });

  it("runs where its arguments say, if they are others", async () => {
    const { preparedModel, runs } = await prepare();
    const { request } = absRequest();
    await preparedModel.execute(request);
    const swapped = withOutput(withInput(request, { location: at(8, 8) }), { location: at(0, 8) });
    expect(await preparedModel.execute(swapped)).toMatchObject({ status: NONE });
    expect(runs.map(({ input, output }) => [input?.byteOffset, output.byteOffset])).toEqual([
      [0, 8],
      [8, 0],
    ]);
  });

  it.each<[string, (request: Request) => unknown]>([
    ["a pool that is too small for its arguments", (request) => withMemory(request, allocateMemory(15))],
    [
      "a pool that claims more than its buffer has",
      (request) => withMemory(request, { ...memoryIn(request), size: 17 }),
    ],
    ["a pool without a handle", (request) => withMemory(request, { ...memoryIn(request), handle: null })],
    ["a pool of an unknown name", (request) => withMemory(request, { ...memoryIn(request), name: "x" })],
    ["a pool whose buffer was transferred", (request) => withMemory(request, transferBuffer(memoryIn(request).size))],
    ["a pool that throws", (request) => withMemory(request, makeThrowing(memoryIn(request)))],
    ["a token that no buffer has", (request) => ({ ...request, pools: [{ kind: "token", token: 5 }] })],
    ["no pools", (request) => ({ ...request, pools: [] })],
    ["pools that are not a list", (request) => ({ ...request, pools: { length: 1 } })],
    ["one input more", (request) => ({ ...request, inputs: [...request.inputs, ...request.inputs] })],
    ["no outputs", (request) => ({ ...request, outputs: [] })],
    ["an input at another place", (request) => withInput(request, { location: at(9, 8) })],
    ["a shorter input", (request) => withInput(request, { location: at(0, 7) })],
    ["an input in another pool", (request) => withInput(request, { location: { ...at(0, 8), poolIndex: 1 } })],
    ["an omitted input", (request) => withInput(request, { hasNoValue: true })],
    ["an input of other dimensions", (request) => withInput(request, { dimensions: [3] })],
    [
      "dimensions that are not a list",
      (request) => withInput(request, JSON.parse('{ "dimensions": { "length": 0 } }')),
    ],
    ["nothing in it", () => null],
  ])("is refused with %s", async (_what, change) => {
    const { preparedModel, runs } = await prepare();
    const fresh = await prepare();
    const { request } = absRequest();
    expect(await preparedModel.execute(request)).toMatchObject({ status: NONE });
    // A caller without types.
    const changed = change(request) as Request;
    const answer = await preparedModel.execute(changed);
    expect(answer.status).not.toBe(NONE);
    expect(answer).toEqual(await fresh.preparedModel.execute(changed));
    expect(runs).toHaveLength(1);
    // The refused request is not remembered.
    expect(await preparedModel.execute(request)).toMatchObject({ status: NONE });
    expect(await preparedModel.execute(changed)).toEqual(answer);
  });

  it("is refused for an output of unknown shape if it is fenced, which `execute` allows", async () => {
    const { main } = absModel;
    const operands = main.operands.map((operand, index) => (index === 1 ? { ...operand, dimensions: [0] } : operand));
    const { preparedModel } = await prepare({ ...absModel, main: { ...main, operands } });
    const { request } = absRequest();
    expect(await preparedModel.execute(request)).toMatchObject({ status: NONE });
    expect(await preparedModel.executeFenced?.(request, [])).toMatchObject({
      status: INVALID_ARGUMENT,
      message: expect.stringContaining("neither the request nor the model"),
    });
  });

  it("is read once: what its getters return afterwards has no effect", async () => {
    const { preparedModel, runs } = await prepare();
    const { request } = absRequest();
    await preparedModel.execute(request);
    let reads = 0;
    const location = { ...at(0, 8) };
    Object.defineProperty(location, "offset", { get: () => (reads++ === 0 ? 0 : 4096) });
    expect(await preparedModel.execute(withInput(request, { location }))).toMatchObject({ status: NONE });
    expect(runs.map(({ input }) => input?.byteOffset)).toEqual([0, 0]);
    expect(reads).toBe(1);
  });
});

/** A copy of a request with the same memories. */
function structuredCloneOf({ inputs, outputs, pools }: Request): Request {
  return { inputs: structuredClone([...inputs]), outputs: structuredClone([...outputs]), pools: [...pools] };
}

function transferBuffer(size: number): Memory {
  const buffer = new ArrayBuffer(size);
  const memory: Memory = { name: "ashmem", size, handle: { kind: "buffer", buffer, byteOffset: 0 } };
  mapPool(memory);
  structuredClone(buffer, { transfer: [buffer] });
  return memory;
}

function makeThrowing({ name, size }: Memory): Memory {
  return {
    name,
    size,
    get handle(): null {
      throw new Error("no handle today");
    },
  };
}
