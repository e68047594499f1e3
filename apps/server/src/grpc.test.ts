/** The methods of gRPC, called by a client that is made from the definition. */
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import {
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  type ServiceClientConstructor,
  status,
} from "@grpc/grpc-js";
import type { PackageDefinition } from "@grpc/proto-loader";
import { afterAll, beforeAll, expect, it } from "vitest";
import { definitionOf, type GrpcClient, grpcClient } from "./client.test-helper.ts";
import { createGrpc, protoFile } from "./grpc.ts";
import type { GrpcServer } from "./grpc-server.ts";
import { healthFile } from "./grpc-services.ts";
import { addingModel, passingModel, removeFolders } from "./models.test-helper.ts";
import { type TestServer, testServer } from "./server.test-helper.ts";

let served: TestServer;
let server: GrpcServer;
let client: GrpcClient;
let address = "";
const clients: { close(): void }[] = [];
const errors: unknown[] = [];

beforeAll(async () => {
  served = await testServer(
    {
      "adding/1/model.tflite": addingModel(),
      "half/1/model.tflite": passingModel("FLOAT16"),
      "broken/1/model.tflite": "",
    },
    { token: "secret" },
  );
  server = createGrpc({ ...served.grpcOptions, onError: (error) => errors.push(error) });
  address = `127.0.0.1:${await server.listen("127.0.0.1", 0)}`;
  client = grpcClient(address);
});
afterAll(async () => {
  for (const each of [client, ...clients]) each.close();
  server.destroy();
  await served.models.close();
  removeFolders();
});

const headers = { authorization: "Bearer secret" };
const call = (method: string, message?: object) => client.call(method, message, { headers });
const refuse = (method: string, message?: object) =>
  call(method, message).then(
    () => undefined,
    ({ code, details }: { code: status; details: string }) => ({ code, details }),
  );

/** Lists the parts of a definition that peers must agree on: each field of each message, and each method. */
function meaningOf(definition: PackageDefinition, isCounted: (name: string) => boolean): string[] {
  return Object.entries(definition)
    .filter(([name]) => isCounted(name))
    .flatMap(([name, each]) => {
      if (!("type" in each)) {
        return Object.values(each).map(
          ({ path, requestType, responseType }) => `${path} ${nameOf(requestType)} ${nameOf(responseType)}`,
        );
      }
      return fieldsOf(name, each.type);
    })
    .sort();
}

/** Lists the fields of a message, and of those within it. */
function fieldsOf(message: string, description: object): string[] {
  const { field = [], nestedType = [] } = description as {
    field?: readonly Record<string, unknown>[];
    nestedType?: readonly { readonly name: string }[];
  };
  return [
    ...field.map(({ name, number, type, label, typeName }) => [message, name, number, type, label, typeName].join(" ")),
    ...nestedType.flatMap((nested) => fieldsOf(`${message}.${nested.name}`, nested)),
  ];
}

function nameOf({ type }: { readonly type: object }): unknown {
  return "name" in type ? type.name : undefined;
}

it("our definition means what the published one does", () => {
  const lines = meaningOf(definitionOf(protoFile), (name) => !name.includes("Repository")).filter(
    (line) => !line.includes("Repository"),
  );
  expect(lines).toHaveLength(75);
  // Of specification/protocol/open_inference_grpc.proto in kserve/open-inference-protocol.
  expect(createHash("sha256").update(lines.join("\n")).digest("hex")).toBe(
    "ed09d1a229cc813724065cc906cdf3470ab5235483da345d6f0d773a1db8ab74",
  );
});

it("health and metadata", async () => {
  expect(await call("ServerLive")).toEqual({ live: true });
  expect(await call("ServerReady")).toEqual({ ready: true });
  expect(await call("ServerMetadata")).toMatchObject({ name: "nnhal-server", extensions: expect.any(Array) });
  expect(await call("ModelReady", { name: "adding" })).toEqual({ ready: true });
  expect(await call("ModelReady", { name: "adding", version: "1" })).toEqual({ ready: true });
  expect(await call("ModelReady", { name: "broken" })).toEqual({ ready: false });
  expect(await refuse("ModelReady", { name: "none" })).toMatchObject({ code: status.NOT_FOUND });
  expect(await call("ModelMetadata", { name: "half" })).toMatchObject({
    name: "half",
    versions: ["1"],
    platform: "tensorflow_tflite",
    inputs: [{ name: "given", datatype: "FP16", shape: ["-1", "2"] }],
    outputs: [{ name: "passed", datatype: "FP16", shape: ["-1", "2"] }],
  });
});

const list = (name: string, values: readonly number[]) => ({
  name,
  datatype: "FP32",
  shape: [2, 2],
  contents: { fp32_contents: values },
});
const inputs = [list("left", [1, 2, 3, 4]), list("right", [10, 20, 30, 40.5])];

it("elements in lists are answered in lists", async () => {
  expect(await call("ModelInfer", { model_name: "adding", id: "7", inputs })).toMatchObject({
    model_name: "adding",
    model_version: "1",
    id: "7",
    outputs: [{ name: "total", datatype: "FP32", shape: ["2", "2"], contents: { fp32_contents: [11, 22, 33, 44.5] } }],
    raw_output_contents: [],
  });
});

it("raw elements are answered as such", async () => {
  const raw = (...values: number[]) => Buffer.from(new Float32Array(values).buffer);
  const response = await call("ModelInfer", {
    model_name: "adding",
    inputs: inputs.map(({ contents: _, ...head }) => head),
    outputs: [{ name: "total" }],
    raw_input_contents: [raw(1, 2, 3, 4), raw(1, 1, 1, 1)],
  });
  expect(response).toMatchObject({ raw_output_contents: [raw(2, 3, 4, 5)], outputs: [{ contents: null }] });
});

it("tensors without elements are taken and returned", async () => {
  const head = { name: "given", datatype: "FP16", shape: [0, 2] };
  const raw = Buffer.alloc(0);
  const { outputs } = (await call("ModelInfer", { model_name: "half", inputs: [head], raw_input_contents: [raw] })) as {
    readonly outputs: readonly object[];
  };
  expect(outputs).toMatchObject([{ name: "passed", datatype: "FP16", shape: ["0", "2"] }]);
});

it("FP16 has only the raw form", async () => {
  const head = { name: "given", datatype: "FP16", shape: [1, 2] };
  const raw = Buffer.from(new Uint16Array([0x3c00, 0x4000]).buffer);
  const infer = (message: object) => call("ModelInfer", { model_name: "half", inputs: [head], ...message });
  expect(await infer({ raw_input_contents: [raw] })).toMatchObject({ raw_output_contents: [raw] });
  await expect(infer({})).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
});

it.each<[string, object, status]>([
  ["no model of the name", { model_name: "none" }, status.NOT_FOUND],
  ["no such version", { model_name: "adding", model_version: "2" }, status.NOT_FOUND],
  ["a model that is not ready", { model_name: "broken" }, status.UNAVAILABLE],
  ["an input is missing", { inputs: inputs.slice(1) }, status.INVALID_ARGUMENT],
  ["no such output", { outputs: [{ name: "none" }] }, status.INVALID_ARGUMENT],
  ["a wrong number of elements", { inputs: [list("left", [1]), inputs[1]] }, status.INVALID_ARGUMENT],
  ["contents beside raw ones", { raw_input_contents: [Buffer.alloc(16), Buffer.alloc(16)] }, status.INVALID_ARGUMENT],
  ["too few raw contents", { raw_input_contents: [Buffer.alloc(16)] }, status.INVALID_ARGUMENT],
  ["a negative extent", { inputs: [{ ...inputs[0], shape: [-2, 2] }, inputs[1]] }, status.INVALID_ARGUMENT],
  [
    "a list of another type",
    { inputs: [{ ...inputs[0], contents: { int_contents: [1, 2, 3, 4] } }] },
    status.INVALID_ARGUMENT,
  ],
  ["more bytes than allowed", { inputs: [list("left", Array(300_000).fill(1))] }, status.RESOURCE_EXHAUSTED],
])("refuses %s", async (_, change, code) => {
  expect(await refuse("ModelInfer", { model_name: "adding", inputs, ...change })).toMatchObject({ code });
});

it("a deadline that is over is told", async () => {
  const late = client.call("ModelInfer", { model_name: "adding", inputs }, { headers, deadline: Date.now() - 1 });
  await expect(late).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
  const parameters = { timeout: { uint64_param: "1" } };
  const tooShort = call("ModelInfer", { model_name: "adding", inputs, parameters });
  await expect(tooShort).rejects.toMatchObject({ code: status.DEADLINE_EXCEEDED });
});

it("without its token only the health is told", async () => {
  expect(await client.call("ServerLive")).toEqual({ live: true });
  expect(await client.call("ServerReady")).toEqual({ ready: true });
  for (const authorization of ["", "Bearer wrong", "secret"]) {
    await expect(client.call("ServerMetadata", {}, { headers: { authorization } })).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    });
  }
});

it("lists, unloads and loads models", async () => {
  expect(await call("RepositoryIndex", { ready: true })).toMatchObject({
    models: expect.arrayContaining([{ name: "adding", version: "1", state: "READY", reason: "" }]),
  });
  expect(await call("RepositoryModelUnload", { model_name: "adding" })).toEqual({});
  expect(await refuse("ModelInfer", { model_name: "adding", inputs })).toMatchObject({ code: status.NOT_FOUND });
  expect(await call("RepositoryModelLoad", { model_name: "adding" })).toEqual({});
  expect(await call("ModelReady", { name: "adding" })).toEqual({ ready: true });
  expect(await refuse("RepositoryModelLoad", { model_name: "broken" })).toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
});

it("names of any length and form are answered, on a connection that goes on", async () => {
  const health = otherService(healthFile, "grpc.health.v1.Health");
  const check = (service: string) =>
    new Promise((resolve) =>
      health.check?.({ service }, (error: { code: status } | null, answer: unknown) => resolve(error?.code ?? answer)),
    );
  expect(await check(`${"a".repeat(199)}\u{1f600}`)).toBe(status.NOT_FOUND);
  expect(await check("a".repeat(100_000))).toBe(status.RESOURCE_EXHAUSTED);
  expect(await check("adding")).toEqual({ status: 1 });
  const name = `${"a".repeat(199)}\u{1f600}`;
  for (const change of [{ datatype: name }, { name, datatype: "none" }]) {
    const answer = await refuse("ModelInfer", { model_name: "adding", inputs: [{ ...inputs[0], ...change }] });
    expect(answer).toMatchObject({ code: status.INVALID_ARGUMENT, details: expect.stringContaining("datatype") });
  }
  expect(await refuse("ModelReady", { name: "é".repeat(20_000) })).toMatchObject({ code: status.NOT_FOUND });
});

it("no error of the server was logged", () => {
  expect([...errors, ...served.events.filter((event) => event.startsWith("error: "))]).toEqual([]);
});

/** Calls of a service of another definition, whose stream is read until it has enough messages. */
function otherService(file: string, name: string) {
  const service = loadPackageDefinition(definitionOf(file));
  const Service = name.split(".").reduce<unknown>((at, part) => at?.[part as keyof typeof at], service);
  // The client of a definition has a method for each of its methods.
  const made = new (Service as ServiceClientConstructor)(address, credentials.createInsecure());
  clients.push(made);
  return made as unknown as Record<string, (...args: unknown[]) => ClientDuplexStream<object, Record<string, unknown>>>;
}

it("the health service says what serves, without a token, also of models", async () => {
  const health = otherService(healthFile, "grpc.health.v1.Health");
  const check = (service: string) =>
    new Promise((resolve) =>
      health.check?.({ service }, (error: { code: status } | null, answer: unknown) => resolve(error?.code ?? answer)),
    );
  expect(await check("")).toEqual({ status: 1 });
  expect(await check("inference.GRPCInferenceService")).toEqual({ status: 1 });
  expect(await check("adding")).toEqual({ status: 1 });
  expect(await check("broken")).toEqual({ status: 2 });
  expect(await check("none")).toBe(status.NOT_FOUND);
});

// 1 is SERVING, 2 NOT_SERVING, 3 SERVICE_UNKNOWN.
it("who watches the health of a model is told when it changes", async () => {
  const health = otherService(healthFile, "grpc.health.v1.Health");
  const seen: unknown[] = [];
  const watched = health.watch?.({ service: "half" });
  watched?.on("data", ({ status: found }) => seen.push(found));
  watched?.on("error", () => {});
  await expect.poll(() => seen).toEqual([1]);
  await call("RepositoryModelUnload", { model_name: "half" });
  await expect.poll(() => seen, { timeout: 5000 }).toEqual([1, 3]);
  await call("RepositoryModelLoad", { model_name: "half" });
  await expect.poll(() => seen, { timeout: 5000 }).toEqual([1, 3, 1]);
  watched?.cancel();
});

it("clients such as grpcurl get the definitions from the server", async () => {
  const require = createRequire(import.meta.url);
  const file = join(dirname(require.resolve("@grpc/reflection")), "../proto/grpc/reflection/v1/reflection.proto");
  const reflection = otherService(file, "grpc.reflection.v1.ServerReflection");
  const stream = reflection.ServerReflectionInfo?.();
  const answers: Record<string, unknown>[] = [];
  stream?.on("data", (answer) => answers.push(answer));
  stream?.on("error", () => {});
  stream?.write({ list_services: "" });
  stream?.write({ file_containing_symbol: "inference.GRPCInferenceService" });
  await expect.poll(() => answers.length, { timeout: 5000 }).toBe(2);
  stream?.end();
  expect(answers[0]).toMatchObject({
    list_services_response: {
      service: expect.arrayContaining([{ name: "inference.GRPCInferenceService" }, { name: "grpc.health.v1.Health" }]),
    },
  });
  expect(answers[1]).toMatchObject({ file_descriptor_response: { file_descriptor_proto: [expect.any(Buffer)] } });
});
