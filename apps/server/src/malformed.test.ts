/**
 * Faulty requests get a 4xx and a message, and have no other effect. NNHAL_SERVER_REQUESTS is the number of requests of each
 * kind.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { datatypes } from "./datatypes.ts";
import { addingModel, passingModel, removeFolders } from "./models.test-helper.ts";
import { type TestServer, testServer } from "./server.test-helper.ts";

const numRuns = Number(process.env.NNHAL_SERVER_REQUESTS ?? 15);

let server: TestServer;
beforeAll(async () => {
  server = await testServer(
    { "adding/1/model.tflite": addingModel(), "open/1/model.tflite": passingModel() },
    { bodyLimit: 4096 },
  );
});
afterAll(async () => {
  await server.app.close();
  await server.models.close();
  removeFolders();
});

interface Sent {
  readonly body: string | Buffer;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: "GET" | "POST" | "PUT" | "DELETE" | "PATCH";
}

/** Sends requests of a kind. Each must get a 4xx and the protocol's error; afterwards a right one is answered. */
async function refusesAll(requests: fc.Arbitrary<Sent>) {
  await fc.assert(
    fc.asyncProperty(
      requests,
      async ({ body: payload, url = "/v2/models/adding/infer", headers = {}, method = "POST" }) => {
        const { statusCode, body } = await server.app.inject({ method, url, payload, headers });
        const { error }: { error?: unknown } = JSON.parse(body);
        if (statusCode < 400 || statusCode > 499 || typeof error !== "string" || error === "") {
          throw new Error(`${statusCode} ${body}`);
        }
      },
    ),
    { numRuns },
  );
  const { statusCode } = await server.app.inject({
    ...{ method: "POST", url: "/v2/models/adding/infer", payload: JSON.stringify(right()) },
  });
  expect(statusCode).toBe(200);
  expect(server.events.filter((event) => event.startsWith("error: "))).toEqual([]);
  expect(server.models.ready.map(({ scheduler }) => scheduler.activity.placed)).toEqual([0, 0, 0, 0]);
}

const input = (name: string, change: object = {}) => ({
  name,
  datatype: "FP32",
  shape: [2, 2],
  data: [1, 2, 3, 4],
  ...change,
});
const right = (change: object = {}) => ({ id: "1", inputs: [input("left"), input("right")], ...change });
const ofInput = (changes: fc.Arbitrary<object>) =>
  changes.map((change): Sent => ({ body: JSON.stringify(right({ inputs: [input("left", change), input("right")] })) }));
const ofRequest = (changes: fc.Arbitrary<object>) =>
  changes.map((change): Sent => ({ body: JSON.stringify(right(change)) }));

/** Values of JSON for which a test does not hold. */
const valuesBut = (isRight: (value: unknown) => boolean) => fc.jsonValue().filter((value) => !isRight(value));
const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
const notFinite = ["NaN", "Infinity", "-Infinity"];
/** Values that are neither a number nor one of the texts that stand for one. */
const noNumber = valuesBut(
  (value) => typeof value === "number" || (typeof value === "string" && notFinite.includes(value)),
);

describe("a request is refused", () => {
  it.each<[string, fc.Arbitrary<Sent>]>([
    ["whose body is any bytes", fc.uint8Array({ minLength: 1 }).map((bytes) => ({ body: Buffer.from(bytes) }))],
    ["whose body is any JSON", fc.json().map((body) => ({ body }))],
    [
      "whose body is cut",
      fc.nat(JSON.stringify(right()).length - 1).map((length) => ({ body: JSON.stringify(right()).slice(0, length) })),
    ],
    [
      "whose body is too large",
      fc.integer({ min: 4097, max: 20_000 }).map((size) => ({ body: Buffer.alloc(size, 32) })),
    ],
    ["whose id is not text", ofRequest(valuesBut((id) => typeof id === "string").map((id) => ({ id })))],
    ["whose inputs are something else", ofRequest(fc.jsonValue().map((inputs) => ({ inputs })))],
    ["whose parameters are something else", ofRequest(valuesBut(isObject).map((parameters) => ({ parameters })))],
    [
      "whose outputs are something else",
      ofRequest(valuesBut((value) => Array.isArray(value)).map((outputs) => ({ outputs }))),
    ],
    [
      "with an output that does not exist",
      ofRequest(valuesBut((name) => name === "total" || name === "sum").map((name) => ({ outputs: [{ name }] }))),
    ],
    [
      "whose timeout is not a number of microseconds",
      ofRequest(
        valuesBut((value) => Number.isSafeInteger(value) && Number(value) >= 0).map((timeout) => ({
          parameters: { timeout },
        })),
      ),
    ],
    [
      "with an input of another name",
      ofInput(valuesBut((name) => name === "left" || name === "a").map((name) => ({ name }))),
    ],
    ["with an input that is given twice", ofInput(fc.constantFrom("right", "b").map((name) => ({ name })))],
    [
      "of another datatype",
      ofInput(fc.constantFrom(...datatypes.filter((one) => one !== "FP32")).map((datatype) => ({ datatype }))),
    ],
    [
      "of something that is not a datatype",
      ofInput(valuesBut((value) => value === "FP32").map((datatype) => ({ datatype }))),
    ],
    [
      "of another shape",
      ofInput(
        fc
          .array(fc.integer({ min: -4, max: 4 }), { maxLength: 40 })
          .filter((shape) => String(shape) !== "2,2")
          .map((shape) => ({ shape })),
      ),
    ],
    ["of a shape that is not one", ofInput(fc.jsonValue().map((shape) => ({ shape })))],
    [
      "of a shape whose extents hide the methods of an object",
      ofInput(fc.constantFrom("toString", "valueOf", "toJSON").map((key) => ({ shape: [{ [key]: false }] }))),
    ],
    ["with data that are not a list", ofInput(valuesBut((value) => Array.isArray(value)).map((data) => ({ data })))],
    [
      "with too few or too many elements",
      ofInput(
        fc
          .array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 9 })
          .filter(({ length }) => length !== 4)
          .map((data) => ({ data })),
      ),
    ],
    [
      "with an element that is not a number",
      ofInput(
        fc.tuple(fc.nat(3), noNumber).map(([place, value]) => ({ data: [1, 2, 3, 4].with(place, value as number) })),
      ),
    ],
    [
      "with lists of other lengths",
      ofInput(
        fc
          .constantFrom(
            [[1, 2, 3], [4]],
            [[1, 2], 3, 4],
            [
              [[1], [2]],
              [[3], [4]],
            ],
            [[1, 2, 3, 4]],
          )
          .map((data) => ({ data })),
      ),
    ],
    [
      "with bytes of another size",
      fc
        .tuple(fc.nat(64), fc.nat(64))
        .filter(([size, length]) => size !== 16 || length !== 16)
        .map(([size, length]) => withBytes(size, length)),
    ],
    [
      "with a length of its JSON that is not right",
      fc.oneof(fc.string({ unit: "grapheme-ascii" }), fc.nat().map(String)).map((text) => {
        const sent = withBytes(16, 16);
        const length = sent.headers?.["inference-header-content-length"];
        return { ...sent, headers: { "inference-header-content-length": text.trim() === length ? "x" : text } };
      }),
    ],
    [
      "for a model or version that does not exist",
      fc.tuple(fc.string({ minLength: 1 }), fc.option(fc.string({ minLength: 1 }))).map(([model, version]) => ({
        url: `/v2/models/_${encodeURIComponent(model)}${version === null ? "" : `/versions/${encodeURIComponent(version)}`}/infer`,
        body: JSON.stringify(right()),
      })),
    ],
    [
      "of a method or path that does not exist",
      fc
        .tuple(fc.constantFrom("PUT", "DELETE", "PATCH", "POST"), fc.webPath())
        .map(([method, path]) => ({ method, url: `/v2/_${path}`, body: "" })),
    ],
    [
      "to the repository with a body that is not an object",
      fc
        .tuple(valuesBut(isObject), fc.constantFrom("index", "models/adding/load", "models/adding/unload"))
        .map(([value, path]) => ({ url: `/v2/repository/${path}`, body: JSON.stringify(value) })),
    ],
  ])("%s", (_, requests) => refusesAll(requests));
});

/** Builds a request with `length` bytes behind its JSON, which states `size` for the input. */
function withBytes(size: number, length: number): Sent {
  const { data: _, ...head } = input("left", { parameters: { binary_data_size: size } });
  const json = Buffer.from(JSON.stringify(right({ inputs: [head, input("right")] })));
  return {
    body: Buffer.concat([json, Buffer.alloc(length)]),
    headers: { "inference-header-content-length": String(json.length) },
  };
}
