/** The methods of REST, each against the schema of the protocol. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addingModel, passingModel, removeFolders, unknownOperatorModel } from "./models.test-helper.ts";
import { problemsOf } from "./schemas.test-helper.ts";
import { type TestServer, testServer } from "./server.test-helper.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer({
    "adding/1/model.tflite": addingModel(),
    "adding/3/model.tflite": addingModel(),
    "passing/7/some.tflite": passingModel(),
    "broken/1/model.tflite": "these bytes are not a model",
    "unknown/1/model.tflite": unknownOperatorModel(),
    "empty/readme.txt": "",
    "passing/nnhal.json": '{"queue": 5}',
  });
});
afterAll(async () => {
  await server.app.close();
  await server.models.close();
  removeFolders();
});

async function call(
  method: "GET" | "POST" | "PUT" | "DELETE",
  url: string,
  payload?: object | string | Buffer,
  headers = {},
) {
  const response = await server.app.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
  return { status: response.statusCode, headers: response.headers, body: response.body, bytes: response.rawPayload };
}

const json = async (...args: Parameters<typeof call>): Promise<{ status: number; value: unknown }> => {
  const { status, body } = await call(...args);
  return { status, value: JSON.parse(body) };
};

const inputs = [
  { name: "left", datatype: "FP32", shape: [2, 2], data: [1, 2, 3, 4] },
  {
    name: "right",
    datatype: "FP32",
    shape: [2, 2],
    data: [
      [10, 20],
      [30, 40.5],
    ],
  },
];

describe("health and metadata", () => {
  it("the server is live and ready although some models are not", async () => {
    expect(await json("GET", "/v2/health/live")).toEqual({ status: 200, value: { live: true } });
    expect(await json("GET", "/v2/health/ready")).toEqual({ status: 200, value: { live: true, ready: true } });
  });

  it.each(["/v2", "/v2/"])("GET %s", async (path) => {
    const { status, value } = await json("GET", path);
    expect([status, problemsOf("metadata_server_response", value)]).toEqual([200, []]);
    expect(value).toMatchObject({ name: "nnhal-server", version: "1.2.3" });
  });

  it("a model's metadata are those of its latest version, with open extents as -1", async () => {
    const { status, value } = await json("GET", "/v2/models/passing");
    expect([status, problemsOf("metadata_model_response", value)]).toEqual([200, []]);
    expect(value).toMatchObject({
      name: "passing",
      versions: ["7"],
      inputs: [{ name: "given", datatype: "FP32", shape: [-1, 2] }],
      outputs: [{ name: "passed", datatype: "FP32", shape: [-1, 2] }],
    });
    expect(await json("GET", "/v2/models/adding/versions/3")).toMatchObject({
      status: 200,
      value: { versions: ["3"] },
    });
  });

  it("a model that is not there, or not ready, says so", async () => {
    for (const path of ["/v2/models/none", "/v2/models/adding/versions/2", "/v2/models/none/ready"]) {
      const { status, value } = await json("GET", path);
      expect([status, problemsOf("metadata_model_error_response", value)]).toEqual([404, []]);
    }
    expect(await json("GET", "/v2/models/broken")).toEqual({
      status: 503,
      value: {
        error: expect.stringMatching(/^the model "broken" is UNAVAILABLE: the model model\.tflite cannot be used: /),
      },
    });
    expect(await json("GET", "/v2/models/broken/ready")).toEqual({
      status: 503,
      value: { name: "broken", ready: false },
    });
    expect(await json("GET", "/v2/models/adding/versions/3/ready")).toEqual({
      status: 200,
      value: { name: "adding", ready: true },
    });
  });

  it("what is not a method of the protocol is not found", async () => {
    expect((await json("GET", "/v3")).status).toBe(404);
  });

  it("other methods of a path that exists get 405, with those that it has", async () => {
    const asked = await Promise.all([
      call("POST", "/v2/models/adding"),
      call("DELETE", "/v2/models/adding/infer"),
      call("GET", "/v2/models/adding/infer"),
      call("PUT", "/v2/repository/index"),
    ]);
    expect(asked.map(({ status, headers }) => [status, headers.allow])).toEqual([
      [405, "GET, HEAD"],
      [405, "POST"],
      [405, "POST"],
      [405, "POST"],
    ]);
    expect(asked[1]?.body).toContain("DELETE is not a method of /v2/models/adding/infer, which has POST");
  });
});

describe("inference", () => {
  it("takes JSON, flat or nested, and returns the id", async () => {
    const { status, value } = await json("POST", "/v2/models/adding/infer", { id: "42", inputs });
    expect([status, problemsOf("inference_response", value)]).toEqual([200, []]);
    expect(value).toEqual({
      model_name: "adding",
      model_version: "3",
      id: "42",
      outputs: [{ name: "total", datatype: "FP32", shape: [2, 2], data: [11, 22, 33, 44.5] }],
    });
  });

  it("takes and returns tensors without elements", async () => {
    const infer = (shape: readonly number[], data: readonly number[]) =>
      json("POST", "/v2/models/passing/infer", { inputs: [{ name: "given", datatype: "FP32", shape, data }] });
    const { status, value } = await infer([0, 2], []);
    expect([status, problemsOf("inference_response", value)]).toEqual([200, []]);
    expect(value).toMatchObject({ outputs: [{ name: "passed", shape: [0, 2], data: [] }] });
    expect(await infer([1, 2], [3, 4])).toMatchObject({ status: 200, value: { outputs: [{ data: [3, 4] }] } });
    expect(await infer([0, 3], [])).toMatchObject({ status: 400 });
    expect(await infer([2, 0], [])).toMatchObject({ status: 400 });
  });

  it("each signature is a model of its own, with its names", async () => {
    const named = [
      { ...inputs[0], name: "x" },
      { ...inputs[1], name: "y" },
    ];
    const { status, value } = await json("POST", "/v2/models/adding:second/infer", { inputs: named });
    expect([status, value]).toMatchObject([200, { model_name: "adding:second", outputs: [{ name: "total" }] }]);
  });

  it("takes and returns binary tensors", async () => {
    const bytes = Buffer.from(new Float32Array([1, 2, 3, 4]).buffer);
    const head = Buffer.from(
      JSON.stringify({
        inputs: [inputs[1], { name: "left", datatype: "FP32", shape: [2, 2], parameters: { binary_data_size: 16 } }],
        outputs: [{ name: "sum", parameters: { binary_data: true } }],
      }),
    );
    const {
      status,
      headers,
      bytes: body,
    } = await call("POST", "/v2/models/adding/infer", Buffer.concat([head, bytes]), {
      "content-type": "application/octet-stream",
      "inference-header-content-length": String(head.length),
    });
    expect([status, headers["content-type"]]).toEqual([200, "application/octet-stream"]);
    const length = Number(headers["inference-header-content-length"]);
    expect(JSON.parse(body.subarray(0, length).toString())).toEqual({
      model_name: "adding",
      model_version: "3",
      outputs: [{ name: "sum", datatype: "FP32", shape: [2, 2], parameters: { binary_data_size: 16 } }],
    });
    expect([...new Float32Array(new Uint8Array(body.subarray(length)).buffer)]).toEqual([11, 22, 33, 44.5]);
  });

  it("refuses a length of the JSON that is not a number of bytes in the body", async () => {
    const body = Buffer.from(JSON.stringify({ inputs }));
    for (const length of ["Infinity", "1.5", "-3", "x", "", String(body.length + 1), "9".repeat(400)]) {
      const { status } = await call("POST", "/v2/models/adding/infer", body, {
        "inference-header-content-length": length,
      });
      expect([length, status]).toEqual([length, 400]);
    }
  });

  it("returns the best classes", async () => {
    const outputs = [{ name: "passed", parameters: { classification: 1 } }];
    const given = [{ name: "given", datatype: "FP32", shape: [2, 2], data: [0.5, 0.25, 1, 2] }];
    const { value } = await json("POST", "/v2/models/passing/infer", { inputs: given, outputs });
    expect(value).toMatchObject({ outputs: [{ datatype: "BYTES", shape: [2, 1], data: ["0.5:0", "2:1"] }] });
  });
});

describe("the repository", () => {
  it("lists all models with their states and reasons", async () => {
    const { status, value } = await json("POST", "/v2/repository/index", {});
    expect(status).toBe(200);
    const entry = (name: string, version: string, state: string, reason: unknown = "") => ({
      name,
      version,
      state,
      reason,
    });
    expect(value).toEqual(
      expect.arrayContaining([
        entry("adding", "3", "READY"),
        entry("adding:first", "3", "READY"),
        entry("adding:second", "3", "READY"),
        entry("passing", "7", "READY"),
        entry("broken", "1", "UNAVAILABLE", expect.stringContaining("the model model.tflite cannot be used: ")),
        entry("unknown", "1", "UNAVAILABLE", expect.stringContaining("Frobnicate")),
        entry("empty", "", "UNAVAILABLE", expect.stringContaining("no folder of a version")),
      ]),
    );
    expect(value).toHaveLength(7);
    const ready = await json("POST", "/v2/repository/index", { ready: true });
    expect(ready.value).toHaveLength(4);
  });

  it("unloads and loads", async () => {
    expect(await json("POST", "/v2/repository/models/passing/unload")).toEqual({ status: 200, value: {} });
    expect((await json("GET", "/v2/models/passing/ready")).status).toBe(404);
    expect(await json("POST", "/v2/repository/models/passing/load")).toEqual({ status: 200, value: {} });
    expect((await json("GET", "/v2/models/passing/ready")).status).toBe(200);
    expect((await json("POST", "/v2/repository/models/none/load")).status).toBe(404);
    expect((await json("POST", "/v2/repository/models/none/unload")).status).toBe(404);
    expect(await json("POST", "/v2/repository/models/broken/load")).toEqual({
      status: 400,
      value: { error: expect.stringContaining("the model model.tflite cannot be used: ") },
    });
  });
});

it("no error of the server was logged", () => {
  expect(server.events.filter((event) => event.startsWith("error: "))).toEqual([]);
});
