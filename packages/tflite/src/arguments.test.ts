import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changeModel, firstSubgraph, oneOperator } from "./_model.test-helper.ts";
import { TfliteError } from "./error.ts";
import { importTflite } from "./import/import.ts";
import { readTflite, tfliteIssues } from "./read.ts";
import { writeTflite } from "./write.ts";

const f = { type: "FLOAT32", shape: [2] } as const;
const model = oneOperator("ADD", { a: f, b: { ...f, data: [1, 2] } }, { y: f });
const file = writeTflite(model);

/** The file at an odd place of a larger memory. */
function sliceOf<Memory extends ArrayBufferLike>(memory: Memory): Uint8Array<Memory> {
  const bytes = new Uint8Array(memory, 3, file.length);
  bytes.set(file);
  return bytes;
}

const whole = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;

test("an option that does not exist is refused with the nearest one", () => {
  const options: object = { customOperator: [] };
  expect(() => importTflite(file, options)).toThrow(TfliteError);
  expect(() => importTflite(file, options)).toThrow(
    'options: unknown option "customOperator": did you mean "customOperators"?',
  );
});

describe("the bytes of a file", () => {
  const shared = new SharedArrayBuffer(file.length);
  new Uint8Array(shared).set(file);
  test.each<[string, Parameters<typeof importTflite>[0]]>([
    ["a Uint8Array", file],
    ["a Buffer", Buffer.from(file)],
    ["a slice of a Buffer", Buffer.concat([Buffer.alloc(5), file, Buffer.alloc(3)]).subarray(5, 5 + file.length)],
    ["a slice of a larger memory", sliceOf(new ArrayBuffer(file.length + 9))],
    ["a slice of shared memory", sliceOf(new SharedArrayBuffer(file.length + 9))],
    ["an ArrayBuffer", whole(file)],
    ["a SharedArrayBuffer", shared],
    ["a DataView", new DataView(whole(file))],
    ["an Int8Array", new Int8Array(whole(file))],
  ])("may be %s", (_, bytes) => {
    const { model: imported } = importTflite(bytes);
    const [pool] = imported.pools;
    const constant = imported.main.operands.find(({ location }) => location.length === 8);
    if (pool?.handle?.kind !== "buffer" || constant === undefined) throw new TypeError("the constant was not found");
    const start = pool.handle.byteOffset + constant.location.offset;
    expect(new Float32Array(pool.handle.buffer.slice(start, start + 8))).toEqual(Float32Array.of(1, 2));
  });

  test("with 64-bit constants may be a Buffer, or a model whose data are Buffers", () => {
    const indexes = { type: "INT64", shape: [3], data: [1, 0, 1] } as const;
    const gather = oneOperator("GATHER", { a: f, b: indexes }, { y: { ...f, shape: [3] } }, { axis: 0 });
    const { operands } = importTflite(gather).model.main;
    const bytes = writeTflite(gather);
    const pooled = Buffer.concat([Buffer.alloc(5), bytes]).subarray(5);
    const types = operands.map(({ type }) => type);
    expect(importTflite(pooled).model.main.operands.map(({ type }) => type)).toEqual(types);
    const byHand = changeModel(gather, ({ tensors }) => ({
      tensors: tensors.map((each) =>
        each.data ? { ...each, data: Buffer.concat([Buffer.alloc(3), each.data]).subarray(3) } : each,
      ),
    }));
    expect(importTflite(byHand).model.main.operands.map(({ type }) => type)).toEqual(types);
  });

  test("may be read from an ArrayBuffer", () => {
    expect(readTflite(whole(file))).toEqual(readTflite(file));
    expect(tfliteIssues(whole(file))).toEqual([]);
  });

  test("that were transferred elsewhere are none", () => {
    const gone = whole(file);
    structuredClone(gone, { transfer: [gone] });
    expect(() => readTflite(gone)).toThrow("a .tflite file has at least 8 bytes, this one has 0");
  });
});

const hal = importTflite(file).model;

describe("values that are not files", () => {
  const functions: readonly (readonly [name: string, call: (value: never) => unknown])[] = [
    ["importTflite", (value) => importTflite(value)],
    ["readTflite", (value) => readTflite(value)],
    ["tfliteIssues", (value) => tfliteIssues(value)],
    ["writeTflite", (value) => writeTflite(value)],
  ];
  test.each([
    ["model.tflite", "a string; read the file first"],
    [Promise.resolve(file), "a Promise; await it first"],
    [null, "null"],
    [undefined, "undefined"],
    [7, "the number 7"],
    [() => file, "a function"],
    [[1, 2], "an array"],
    [hal, "a HAL model"],
    [{}, "an object without the field subgraphs"],
    [{ subgraphs: 1 }, "an object whose field subgraphs is not a list"],
  ])("%# is refused with what it is", (value, text) => {
    for (const [name, call] of functions) {
      const needs = {
        importTflite: "the bytes of a file as a Uint8Array or ArrayBuffer, or a TfliteModel",
        writeTflite: "a TfliteModel",
      }[name];
      const expected = `${name} needs ${needs ?? "the bytes of a file as a Uint8Array or ArrayBuffer"}, not ${text}`;
      expect(() => call(value as never)).toThrow(expect.objectContaining({ name: "TfliteError", message: expected }));
    }
  });

  test("bytes are not a model to write", () => {
    expect(() => writeTflite(file as never)).toThrow(
      "writeTflite needs a TfliteModel, not bytes; read them with readTflite",
    );
  });
});

describe("models made by hand", () => {
  const subgraph = firstSubgraph(model);
  test.each([
    [{ subgraphs: [null] }, "subgraphs[0]: expected an object, got null"],
    [{ subgraphs: [{ ...subgraph, tensors: undefined }] }, "subgraphs[0].tensors: expected a list, got undefined"],
    [{ subgraphs: [{ ...subgraph, inputs: ["a"] }] }, "subgraphs[0].inputs[0]: expected a number, got a string"],
    [
      { subgraphs: [{ ...subgraph, tensors: [{ ...subgraph.tensors[0], quantization: null }] }] },
      "subgraphs[0].tensors[0].quantization: expected an object, got null",
    ],
    [
      { subgraphs: [{ ...subgraph, operators: [{ ...subgraph.operators[0], options: null }] }] },
      "subgraphs[0].operators[0].options: expected an object, got null",
    ],
    [{ signatures: undefined }, "signatures: expected a list, got undefined"],
    [{ metadata: new Array(1) }, "metadata[0]: expected an object, got undefined"],
    [{ description: 1 }, "description: expected a string, got the number 1"],
  ])("%# are refused if a part is missing", (change, message) => {
    const broken = { ...model, ...change } as never;
    expect(() => importTflite(broken)).toThrow(message);
    expect(() => writeTflite(broken)).toThrow(message);
  });

  test("with any part replaced by anything give a result or a TfliteError", () => {
    const paths: (readonly (string | number)[])[] = [];
    const visit = (value: unknown, path: readonly (string | number)[]): void => {
      if (path.length > 0) paths.push(path);
      if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
      for (const [key, part] of Object.entries(value)) visit(part, [...path, key]);
    };
    visit(model, []);
    const replace = (value: unknown, [key, ...rest]: readonly (string | number)[], by: unknown): unknown => {
      if (key === undefined) return by;
      const copy = Array.isArray(value) ? [...value] : { ...Object(value) };
      copy[key] = replace(copy[key], rest, by);
      return copy;
    };
    const anything = fc.oneof(fc.anything(), fc.constant(undefined), fc.double(), fc.integer(), fc.array(fc.double()));
    fc.assert(
      fc.property(fc.constantFrom(...paths), anything, (path, value) => {
        const broken = replace(model, path, value) as never;
        for (const use of [importTflite, writeTflite]) {
          try {
            use(broken);
          } catch (error) {
            expect(error).toBeInstanceOf(TfliteError);
          }
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe("options of an import", () => {
  test.each([
    [null, "options: expected an object, got null"],
    ["x", "options: expected an object, got a string"],
    [[], "options: expected an object, got an array"],
    [{ dynamicShapes: "yes" }, "options.dynamicShapes: expected a boolean, got a string"],
    [{ inputShapes: null }, "options.inputShapes: expected an object of shapes by input, got null"],
    [{ inputShapes: [[2]] }, "options.inputShapes: expected an object of shapes by input, got an array"],
    [{ inputShapes: { a: 2 } }, 'options.inputShapes["a"]: the number 2 is not a shape of 1 dimensions'],
    [{ inputShapes: { a: null } }, 'options.inputShapes["a"]: null is not a shape'],
    [{ inputShapes: { z: [2] } }, 'options.inputShapes: there is no input "z"; inputs are "a"'],
  ])("%j are refused", (options, message) => {
    expect(() => importTflite(file, options as never)).toThrow(
      expect.objectContaining({ name: "TfliteError", message: expect.stringContaining(message) }),
    );
  });
});
