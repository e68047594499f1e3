/**
 * The server as a process, whose models compute in threads: other programs as clients, many connections, and the end under
 * load. NNHAL_SERVER_ROUNDS is the number of requests of each connection.
 */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { endProcesses, startSource } from "@nnhal/test-kit/processes";
import { afterAll, beforeAll, expect, it } from "vitest";
import { grpcClient } from "./client.test-helper.ts";
import { protoFile } from "./grpc.ts";
import { folderOf, removeFolders, unknownOperatorModel, unpoolingModel } from "./models.test-helper.ts";
import { connectionTo, demoFolder, type StartedServer, startServer } from "./process.test-helper.ts";

const rounds = Number(process.env.NNHAL_SERVER_ROUNDS ?? 3);
const run = promisify(execFile);
const hasCurl = await run("curl", ["--version"]).then(
  () => true,
  () => false,
);

/** The Python of the system, which has gRPC for C and its generator: Debian's python3-grpcio and python3-grpc-tools. */
const python = "/usr/bin/python3";
const hasPython = await run(python, ["-c", "import grpc, grpc_tools.protoc"]).then(
  () => true,
  () => false,
);

const digits = readFileSync(join(demoFolder, "digits-uint8.tflite"));
const pixels = Buffer.from(Uint8Array.from({ length: 32 * 32 * 3 }, (_, index) => (index * 37) % 256));
const head = { name: "picture", datatype: "UINT8", shape: [1, 32, 32, 3] };
const json = JSON.stringify({
  inputs: [{ ...head, parameters: { binary_data_size: pixels.length } }],
  parameters: { binary_data_output: true },
});
const binary = Buffer.concat([Buffer.from(json), pixels]);
const binaryHeaders = { "inference-header-content-length": String(json.length) };
const path = "/v2/models/digits/infer";

const mediapipe = fileURLToPath(new URL("../../../packages/extension-mediapipe/src/index.ts", import.meta.url));

let folder: string;
let server: StartedServer;
/** The bytes of the output, as `nnhal run` writes them. */
let expected: Promise<Buffer>;

beforeAll(async () => {
  folder = folderOf({
    "digits/1/model.tflite": digits,
    "broken/1/model.tflite": unknownOperatorModel(),
    "unpooling/1/model.tflite": unpoolingModel(),
    "picture.bin": pixels,
  });
  expected = outputOfRun();
  server = await startServer([folder, "--queue", "7", "--linger", "5", "--extension", mediapipe]);
});
afterAll(async () => {
  await endProcesses();
  removeFolders();
});

async function outputOfRun(): Promise<Buffer> {
  const main = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
  const [model, input] = [join(folder, "digits/1/model.tflite"), join(folder, "picture.bin")];
  const command = startSource(main, ["run", model, "--input", input, "--device", "reference", "--output-dir", folder]);
  expect([await command.ended, command.output.stderr]).toEqual([0, ""]);
  return readFileSync(join(folder, "output0.bin"));
}

it("says where it listens and which models are ready; one that is broken is logged", () => {
  expect(server.output.stdout).toMatch(
    /^ready rest=http:\/\/127\.0\.0\.1:\d+ grpc=127\.0\.0\.1:\d+ (?:digits unpooling|unpooling digits)\n$/,
  );
  const entries = server.output.stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(entries).toContainEqual(
    expect.objectContaining({ level: "error", service: "broken", msg: expect.stringContaining("Frobnicate") }),
  );
});

it("computes custom operators with an extension that is named", async () => {
  const connection = connectionTo(server.rest);
  const inputs = [
    { name: "given", datatype: "FP32", shape: [1, 1, 1, 1], data: [5] },
    { name: "places", datatype: "FP32", shape: [1, 1, 1, 1], data: [2] },
  ];
  const { body } = await connection.post("/v2/models/unpooling/infer", Buffer.from(JSON.stringify({ inputs })));
  expect(JSON.parse(body.toString())).toMatchObject({ outputs: [{ shape: [1, 2, 2, 1], data: [0, 0, 5, 0] }] });
  connection.close();
});

it("REST and gRPC return what `nnhal run` does", async () => {
  const connection = connectionTo(server.rest);
  const answer = await connection.post(path, binary, binaryHeaders);
  const length = Number(answer.headers["inference-header-content-length"]);
  expect([answer.status, answer.body.subarray(length)]).toEqual([200, await expected]);
  const inJson = JSON.stringify({ inputs: [{ ...head, data: [...pixels] }] });
  const { body } = await connection.post(path, Buffer.from(inJson));
  expect(JSON.parse(body.toString())).toMatchObject({ outputs: [{ data: [...(await expected)] }] });
  connection.close();
  const client = grpcClient(server.grpc);
  const raw = await client.call("ModelInfer", { model_name: "digits", inputs: [head], raw_input_contents: [pixels] });
  expect(raw).toMatchObject({ raw_output_contents: [await expected] });
  client.close();
});

it.runIf(hasCurl)("answers curl, with JSON and with bytes", async () => {
  const curl = async (...args: string[]) => (await run("curl", ["--silent", "--show-error", ...args])).stdout;
  const url = `http://${server.rest}`;
  expect(JSON.parse(await curl(`${url}/v2/models/digits`))).toMatchObject({ name: "digits", versions: ["1"] });
  const inJson = JSON.stringify({ inputs: [{ ...head, data: [...pixels] }] });
  writeFileSync(join(folder, "request.json"), inJson);
  expect(JSON.parse(await curl("--data", `@${join(folder, "request.json")}`, `${url}${path}`))).toMatchObject({
    outputs: [{ name: "probabilities", datatype: "UINT8", data: [...(await expected)] }],
  });
  writeFileSync(join(folder, "request.bin"), binary);
  const answer = await curl(
    ...["--include", "--header", `Inference-Header-Content-Length: ${json.length}`],
    ...["--data-binary", `@${join(folder, "request.bin")}`, `${url}${path}`],
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*inference-header-content-length: \d+\r\n/i);
  expect(await curl(`${url}/metrics`)).toContain('nnhal_server_model_ready{model="broken",version="1"} 0');
});

it.runIf(hasPython)("answers a client that gRPC for C generates from the definition", async () => {
  const script = fileURLToPath(new URL("client.test-helper.py", import.meta.url));
  const { stdout } = await run(python, [script, protoFile, server.grpc, join(folder, "picture.bin"), folder]);
  expect(JSON.parse(stdout)).toEqual({
    live: true,
    ready: true,
    name: "nnhal-server",
    inputs: [["picture", "UINT8", [1, 32, 32, 3]]],
    isModelReady: true,
    output: [...(await expected)],
    index: expect.arrayContaining([["digits", "READY"]]),
    unknown: "NOT_FOUND",
  });
});

it.runIf(hasCurl)("the examples of docs/server.md are answered", async () => {
  const text = readFileSync(new URL("../../../docs/server.md", import.meta.url), "utf8");
  const [, example = ""] = /```\n(curl http[\s\S]*?)```/.exec(text) ?? [];
  const script = example.replaceAll("http://127.0.0.1:8000", `http://${server.rest}`).replaceAll("curl ", "curl -sSf ");
  expect(script).toContain(server.rest);
  const { stdout } = await run("sh", ["-ec", script], { cwd: folder });
  expect(stdout).toMatch(/"name":"digits"[\s\S]*"name":"probabilities"[\s\S]*"state":"READY"/);
});

/** Bytes of memory that a process has, on Linux. */
function memoryOf(pid: number | undefined): number {
  const [, kibibytes = "0"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

it("200 connections for 8 places get answers and 429 with Retry-After, and memory stays", async () => {
  const connections = Array.from({ length: 200 }, () => connectionTo(server.rest));
  const wanted = await expected;
  const refusals = async () => {
    // A connection that stays would let the server linger at its end.
    const headers = { connection: "close" };
    const metrics = await (await fetch(`http://${server.rest}/metrics`, { headers })).text();
    return Number(/^nnhal_server_requests_total\{[^}]*protocol="rest",result="busy"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
  };
  const counted = await refusals();
  let refused = 0;
  const round = async () => {
    const answers = await Promise.all(connections.map((connection) => connection.post(path, binary, binaryHeaders)));
    for (const { status, headers, body } of answers) {
      if (status === 200) expect(body.subarray(-wanted.length)).toEqual(wanted);
      else expect([status, Number(headers["retry-after"]) >= 1]).toEqual([429, true]);
    }
    const served = answers.filter(({ status }) => status === 200).length;
    expect(served).toBeGreaterThanOrEqual(8);
    expect(served).toBeLessThan(200);
    refused += 200 - served;
  };
  // The heap grows to its size at first: with many rounds, a third of them come before.
  const first = Math.ceil(rounds / 3);
  for (let count = 0; count < first; count++) await round();
  const before = process.platform === "linux" ? memoryOf(server.child.pid) : 0;
  for (let count = first; count < rounds; count++) await round();
  const after = process.platform === "linux" ? memoryOf(server.child.pid) : 0;
  // Garbage of 200 requests of 3 KiB is less; memory kept by each of many would be more.
  expect(after - before).toBeLessThan(48 * 2 ** 20);
  expect((await refusals()) - counted).toBe(refused);
  for (const connection of connections) connection.close();
});

it("SIGTERM under load loses no request that was accepted", async () => {
  const wanted = await expected;
  const statuses: number[] = [];
  let signalled = false;
  const client = async () => {
    const connection = connectionTo(server.rest);
    for (;;) {
      const { status, headers, body } = await connection.post(path, binary, binaryHeaders);
      statuses.push(status);
      if (status === 200) expect(body.subarray(-wanted.length)).toEqual(wanted);
      // The header tells a client to send no more.
      if (headers.connection === "close") break;
      if (statuses.length > 60 && !signalled) {
        signalled = true;
        server.child.kill("SIGTERM");
      }
    }
    connection.close();
  };
  const grpc = grpcClient(server.grpc);
  const calls = async () => {
    const message = { model_name: "digits", inputs: [head], raw_input_contents: [pixels] };
    while (!signalled) {
      await grpc.call("ModelInfer", message).catch(({ code }: { code: number }) => expect(code).toBe(8));
    }
  };
  await Promise.all([...Array.from({ length: 20 }, client), calls()]);
  grpc.close();
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(await server.ended).toBe(0);
  expect(server.output.stderr).toContain("all is closed");
});
