/** Every datatype in each form of requests and responses: the elements are those that the model gets and returns. */
import type { TfliteTensor } from "@nnhal/tflite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GrpcClient, grpcClient } from "./client.test-helper.ts";
import type { Datatype } from "./datatypes.ts";
import { createGrpc } from "./grpc.ts";
import { messageOfResponse } from "./grpc-messages.ts";
import type { GrpcServer } from "./grpc-server.ts";
import { passingModel, removeFolders } from "./models.test-helper.ts";
import { type TestServer, testServer } from "./server.test-helper.ts";
import { bytesOf, type Content, jsonTextOf } from "./tensors.ts";

const text = (...words: string[]) => words.map((word) => new TextEncoder().encode(word));

/** Elements with the edges of each type; four of them. */
const cases: readonly (readonly [Datatype, TfliteTensor["type"], Content])[] = [
  ["BOOL", "BOOL", new Uint8Array([1, 0, 0, 1])],
  ["UINT8", "UINT8", new Uint8Array([0, 1, 128, 255])],
  ["UINT16", "UINT16", new Uint16Array([0, 1, 32768, 65535])],
  ["UINT32", "UINT32", new Uint32Array([0, 1, 2 ** 31, 2 ** 32 - 1])],
  ["UINT64", "UINT64", new BigUint64Array([0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n])],
  ["INT8", "INT8", new Int8Array([0, -1, -128, 127])],
  ["INT16", "INT16", new Int16Array([0, -1, -32768, 32767])],
  ["INT32", "INT32", new Int32Array([0, -1, -(2 ** 31), 2 ** 31 - 1])],
  ["INT64", "INT64", new BigInt64Array([0n, -1n, -(2n ** 63n), 2n ** 63n - 1n])],
  ["FP16", "FLOAT16", new Uint16Array([0x3c00, 0xbc01, 0x7bff, 0x7c00])],
  ["FP32", "FLOAT32", new Float32Array([0.1, -3.4028234663852886e38, 1e-45, Number.NEGATIVE_INFINITY])],
  ["FP64", "FLOAT64", new Float64Array([0.1, -Number.MAX_VALUE, Number.MIN_VALUE, Number.NaN])],
  ["BYTES", "STRING", text("", "zw\u00f6lf", "a", "longer than the others")],
];

let served: TestServer;
let server: GrpcServer;
let client: GrpcClient;
beforeAll(async () => {
  const files = cases.map(([name, type]) => [`${name}/1/model.tflite`, passingModel(type)]);
  served = await testServer(Object.fromEntries(files));
  server = createGrpc(served.grpcOptions);
  client = grpcClient(`127.0.0.1:${await server.listen("127.0.0.1", 0)}`);
});
afterAll(async () => {
  client.close();
  server.destroy();
  await served.models.close();
  removeFolders();
});

describe.each(cases)("%s", (datatype, _, content) => {
  const head = { name: "given", datatype, shape: [2, 2] };
  const bytes = Buffer.from(bytesOf({ content }));
  const json = jsonTextOf({ ...head, content });

  async function rest(input: string, tail: Buffer, isBinary: boolean) {
    const payload = Buffer.from(`{"inputs":[${input}],"parameters":{"binary_data_output":${isBinary}}}`);
    const headers = { "inference-header-content-length": String(payload.length) };
    const url = `/v2/models/${datatype}/infer`;
    const answer = await served.app.inject({ method: "POST", url, payload: Buffer.concat([payload, tail]), headers });
    expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
    return answer;
  }
  const inJson = `${JSON.stringify(head).slice(0, -1)},"data":${datatype.endsWith("INT64") ? json.replace(/-?\d+/g, '"$&"') : json}}`;
  const inBytes = JSON.stringify({ ...head, parameters: { binary_data_size: bytes.length } });

  it("JSON in, JSON out", async () => {
    expect((await rest(inJson, Buffer.alloc(0), false)).body).toContain(`"data":${json}}`);
  });

  it("bytes in, bytes out", async () => {
    const { rawPayload, headers } = await rest(inBytes, bytes, true);
    expect(rawPayload.subarray(Number(headers["inference-header-content-length"]))).toEqual(bytes);
  });

  it("JSON in, bytes out", async () => {
    const { rawPayload, headers } = await rest(inJson, Buffer.alloc(0), true);
    expect(rawPayload.subarray(Number(headers["inference-header-content-length"]))).toEqual(bytes);
  });

  it("raw contents of gRPC", async () => {
    const message = { model_name: datatype, inputs: [head], raw_input_contents: [bytes] };
    expect(await client.call("ModelInfer", message)).toMatchObject({ raw_output_contents: [bytes] });
  });

  // FP16 has no other form than raw contents.
  if (datatype === "FP16") return;

  it("contents of gRPC", async () => {
    const tensor = { ...head, content };
    const { outputs } = messageOfResponse({ model: "", version: "", id: "", outputs: [tensor] }, false);
    const contents = outputs[0]?.contents;
    expect(contents).toBeDefined();
    const message = { model_name: datatype, inputs: [{ ...head, contents }] };
    expect(await client.call("ModelInfer", message)).toMatchObject({ outputs: [{ contents }] });
  });
});

it("bytes that are not text keep their values as bytes", async () => {
  const element = Buffer.from([0xff, 0xfe, 0]);
  const head = { name: "given", datatype: "BYTES", shape: [1, 2] };
  const message = { model_name: "BYTES", inputs: [{ ...head, contents: { bytes_contents: [element, element] } }] };
  expect(await client.call("ModelInfer", message)).toMatchObject({
    outputs: [{ contents: { bytes_contents: [element, element] } }],
  });
});

it("all models were loaded", () => {
  expect(served.models.entries.filter(({ state }) => state !== "READY")).toEqual([]);
});
