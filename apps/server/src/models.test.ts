/** Models that are added, changed and removed, and the answers to requests meanwhile. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import {
  addingModel,
  mixingModel,
  openAddingModel,
  passingModel,
  removeFolders,
  splitModel,
} from "./models.test-helper.ts";
import type { ModelsOptions } from "./models.ts";
import { openHere, type TestServer, testServer } from "./server.test-helper.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const { app, models } of servers.splice(0)) {
    await app.close();
    await models.close();
  }
  removeFolders();
});

async function start(...args: Parameters<typeof testServer>): Promise<TestServer> {
  const server = await testServer(...args);
  servers.push(server);
  return server;
}

const passing = { "passing/1/model.tflite": passingModel() };

function infer(
  { app }: TestServer,
  data: readonly number[],
  more: object = {},
  url = "/v2/models/passing/infer",
  headers: Readonly<Record<string, string>> = {},
) {
  const input = { name: "given", datatype: "FP32", shape: [data.length / 2, 2], data };
  return app.inject({ method: "POST", url, headers, payload: JSON.stringify({ inputs: [input], ...more }) });
}

/** Opens models whose runs wait until the test lets them continue. */
function heldRuns() {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const state = { runs: 0 };
  const open: ModelsOptions["open"] = async (opening) => {
    const runner = await openHere(opening);
    return {
      ...runner,
      async run(...args) {
        state.runs++;
        await held;
        return runner.run(...args);
      },
    };
  };
  return { open, release, state };
}

it("requests that come together compute together, and each gets its own rows", async () => {
  const settings = { maxBatch: 4, batchDelay: 10_000 };
  const server = await start(passing, { settings });
  const answers = await Promise.all([infer(server, [1, 2]), infer(server, [3, 4, 5, 6]), infer(server, [7, 8])]);
  expect(answers.map((answer) => answer.json().outputs)).toMatchObject([
    [{ shape: [1, 2], data: [1, 2] }],
    [{ shape: [2, 2], data: [3, 4, 5, 6] }],
    [{ shape: [1, 2], data: [7, 8] }],
  ]);
  const { body } = await server.app.inject("/metrics");
  expect(body).toContain('nnhal_server_batch_requests_sum{model="passing",version="1"} 9');
});

it.each([
  ["of fixed shapes", addingModel, "an input or output has no open first extent"],
  ["whose rows mix", mixingModel, 'a row of the output "mixed" depends on other rows of the inputs'],
] as const)("the requests of a model %s are not joined, which is logged", async (_, model, reason) => {
  const server = await start({ "one/1/model.tflite": model() }, { settings: { maxBatch: 4 } });
  expect(server.events).toContainEqual(`warn one: requests are not joined: ${reason}`);
});

it("each request of a model whose rows mix gets what it gets alone", async () => {
  const settings = { maxBatch: 4, batchDelay: 10_000 };
  const server = await start({ "mixing/1/model.tflite": mixingModel() }, { settings });
  const send = (data: number[]) => infer(server, data, {}, "/v2/models/mixing/infer");
  const answers = await Promise.all([send([1, 2]), send([30, 40])]);
  expect(answers.map((answer) => answer.json().outputs[0].data)).toEqual([
    [2, 4],
    [60, 80],
  ]);
});

it("without a place, a request gets 429 at once, and others go on", async () => {
  const { open, release, state } = heldRuns();
  const server = await start(passing, { open, settings: { queue: 0, warmUp: 0 } });
  const first = infer(server, [1, 2]);
  await expect.poll(() => state.runs).toBe(1);
  const refused = await infer(server, [3, 4]);
  expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "1"]);
  release();
  expect((await first).statusCode).toBe(200);
  expect((await infer(server, [3, 4])).statusCode).toBe(200);
});

it("a request whose time is over gets 504: its own limit in microseconds or by a header, or that of the server", async () => {
  const { open, release } = heldRuns();
  const settings = { warmUp: 0, queue: 9 };
  const own = await start(passing, { open, settings });
  expect((await infer(own, [1, 2], { parameters: { timeout: 1000 } })).statusCode).toBe(504);
  for (const name of ["x-request-timeout-ms", "x-envoy-expected-rq-timeout-ms"]) {
    expect((await infer(own, [1, 2], {}, undefined, { [name]: "1" })).statusCode).toBe(504);
    const wrong = await infer(own, [1, 2], {}, undefined, { [name]: "0" });
    expect([wrong.statusCode, wrong.json().error]).toEqual([400, expect.stringContaining(`the header ${name} is "0"`)]);
  }
  const general = await start(passing, { open, settings, timeout: 1 });
  expect((await infer(general, [1, 2], { parameters: { timeout: 60_000_000 } })).statusCode).toBe(504);
  release();
});

it("a new version takes over, and the one before is unloaded when its requests are done", async () => {
  const { open, release, state } = heldRuns();
  const server = await start(passing, { open, settings: { warmUp: 0 } });
  const before = infer(server, [1, 2]);
  await expect.poll(() => state.runs).toBe(1);
  mkdirSync(join(server.folder, "passing/2"));
  writeFileSync(join(server.folder, "passing/2/model.tflite"), passingModel());
  const loading = server.app.inject({ method: "POST", url: "/v2/repository/models/passing/load" });
  await expect.poll(() => server.models.versionsOf("passing")).toEqual(["2"]);
  release();
  expect((await loading).statusCode).toBe(200);
  expect((await before).json()).toMatchObject({ model_version: "1", outputs: [{ data: [1, 2] }] });
  expect((await infer(server, [3, 4])).json()).toMatchObject({ model_version: "2", outputs: [{ data: [3, 4] }] });
  expect((await infer(server, [3, 4], {}, "/v2/models/passing/versions/1/infer")).statusCode).toBe(404);
});

it("a version that works stays if what shall replace it cannot be loaded", async () => {
  const server = await start(passing);
  writeFileSync(join(server.folder, "passing/1/model.tflite"), "broken");
  const loading = await server.app.inject({ method: "POST", url: "/v2/repository/models/passing/load" });
  expect([loading.statusCode, loading.json().error]).toEqual([
    400,
    expect.stringContaining("the model model.tflite cannot be used: "),
  ]);
  expect((await infer(server, [1, 2])).statusCode).toBe(200);
});

it("models are loaded when they are asked for, if none is at the start", async () => {
  const server = await start(passing, { load: [] });
  expect((await infer(server, [1, 2])).statusCode).toBe(404);
  expect(await server.models.index()).toEqual([
    { name: "passing", version: "", state: "UNAVAILABLE", reason: "unloaded" },
  ]);
  await server.app.inject({ method: "POST", url: "/v2/repository/models/passing/load" });
  expect((await infer(server, [1, 2])).statusCode).toBe(200);
});

it("extents that do not go together are the fault of the request", async () => {
  const server = await start({ "adding/1/model.tflite": openAddingModel() });
  const send = (left: number, right: number) => {
    const input = (name: string, rows: number) => ({
      name,
      datatype: "FP32",
      shape: [rows, 2],
      data: Array(rows * 2).fill(1),
    });
    const payload = JSON.stringify({ inputs: [input("left", left), input("right", right)] });
    return server.app.inject({ method: "POST", url: "/v2/models/adding/infer", payload });
  };
  expect((await send(3, 3)).statusCode).toBe(200);
  const refused = await send(2, 3);
  expect([refused.statusCode, refused.json().error]).toEqual([
    422,
    expect.stringContaining("2x2 and 3x2 do not broadcast"),
  ]);
  expect((await send(3, 3)).statusCode).toBe(200);
});

it("several instances compute at a time", async () => {
  const { open, release, state } = heldRuns();
  const server = await start(passing, { open, settings: { instances: 2, warmUp: 0 } });
  const answers = [infer(server, [1, 2]), infer(server, [3, 4]), infer(server, [5, 6])];
  await expect.poll(() => state.runs).toBe(2);
  release();
  expect((await Promise.all(answers)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
});

it("a model that does not compute at all is not ready", async () => {
  const open: ModelsOptions["open"] = async (opening) => ({
    ...(await openHere(opening)),
    run: async () => {
      throw new Error("it broke");
    },
  });
  const server = await start({ "adding/1/model.tflite": addingModel(), ...passing }, { open });
  expect(server.models.entries).toContainEqual(
    expect.objectContaining({ name: "adding", state: "UNAVAILABLE", reason: "it does not compute: it broke" }),
  );
  // Zeros of an undetermined extent prove nothing.
  expect(server.models.versionsOf("passing")).toEqual(["1"]);
});

it("clients load no models of a server that is only read; a strict server is ready only with all", async () => {
  const server = await start({ ...passing, "broken/1/model.tflite": "" }, { mayLoad: false, isStrict: true });
  for (const what of ["load", "unload"]) {
    const refused = await server.app.inject({ method: "POST", url: `/v2/repository/models/passing/${what}` });
    expect(refused.statusCode).toBe(403);
  }
  expect((await server.app.inject("/v2/health/ready")).statusCode).toBe(503);
  expect((await server.app.inject("/v2/health/live")).statusCode).toBe(200);
});

it("a server that ends is not ready, serves on, and tells connections to end", async () => {
  const server = await start(passing);
  server.service.drain();
  expect((await server.app.inject("/v2/health/ready")).statusCode).toBe(503);
  const answer = await infer(server, [1, 2]);
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, "close"]);
});

it("says why a model cannot be loaded without its folder, whatever that is called", async () => {
  const server = await start({ "a (broken) model/1/model.tflite": "x" });
  const [{ reason } = { reason: "" }] = server.models.entries;
  expect(reason).toMatch(/^the model model\.tflite cannot be used: /);
});

it("finds the external buffers of a model beside it, and says without their folder what is missing", async () => {
  const bytes = new Uint8Array(new Float32Array([3, 4]).buffer);
  const server = await start({
    "split/1/model.tflite": splitModel("weights.bin"),
    "split/1/weights.bin": bytes,
    "missing/1/model.tflite": splitModel("weights.bin"),
    "hostile/1/model.tflite": splitModel("../../split/1/weights.bin"),
  });
  const input = { name: "given", datatype: "FP32", shape: [2], data: [1, 2] };
  const payload = { inputs: [input] };
  const { statusCode, body } = await server.app.inject({ method: "POST", url: "/v2/models/split/infer", payload });
  expect([statusCode, JSON.parse(body).outputs[0].data]).toEqual([200, [4, 6]]);
  const reasons = new Map(server.models.entries.map(({ name, reason }) => [name, reason]));
  expect(reasons.get("missing")).toMatch(
    /external buffers "weights\.bin" of the model model\.tflite: the file does not exist/,
  );
  expect(reasons.get("hostile")).toMatch(/may lead out of the folder/);
});
