/** The inputs that the fuzzer starts with, made of models of this project. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { modelOf as modelOfExample, randomExamples } from "@nnhal/conformance";
import { writeRequest } from "@nnhal/driver-core/burst";
import { type Channel, memoryChannels } from "@nnhal/transport/channels";
import { connectDevice } from "@nnhal/transport/client";
import { serve } from "@nnhal/transport/server";
import { ErrorStatus, MeasureTiming, type Model, type Request } from "@nnhal/types";
import { encode } from "@nnhal/utils/codec";
import { takePrepared } from "./answers.ts";
import { cacheBytes } from "./cache-seed.ts";
import { type Case, lineOfCase, pathOfCases } from "./cases.ts";
import { customSeeds } from "./custom-operators.ts";
import { openReference } from "./device.ts";
import { bytesOf, memoryWith, writeModel } from "./model-input.ts";
import { frames } from "./mutate/frames.ts";
import { requestInput } from "./request-input.ts";
import { smallModels } from "./small-models.ts";
import { must } from "./target.ts";
import { packets } from "./targets/burst.ts";
import { corpusOf, targets } from "./targets/index.ts";
import { extensionSeeds, tfliteSeeds } from "./tflite-seeds.ts";
import { tokenizerSeeds } from "./tokenizer-seeds.ts";

/** Longest model of a seed, so that the corpus stays small. */
const longestModel = 1500;
const examplesOfOperation = 12;

/** Writes the corpora; a line about each. */
export async function writeCorpus(): Promise<string[]> {
  const all: Readonly<Record<string, readonly Case[]>> = {
    tflite: tfliteSeeds(),
    extension: extensionSeeds(),
    model: modelSeeds(),
    request: requestSeeds(),
    burst: burstSeeds(),
    cache: await cacheBytes(),
    custom: customSeeds(),
    tokenizer: tokenizerSeeds(),
    ...(await frameSeeds()),
  };
  for (const target of targets) must(corpusOf(target) in all, () => `${target.name} has no corpus`);
  return Object.entries(all).map(([name, cases]) => {
    const path = pathOfCases("corpus", name);
    mkdirSync(dirname(path), { recursive: true });
    const text = cases.map((one) => `${lineOfCase(one)}\n`).join("");
    writeFileSync(path, text);
    return `${name}: ${cases.length} inputs, ${Math.ceil(text.length / 1024)} KiB`;
  });
}

/** Returns the smallest model of each drawn operation, and the small models. */
function modelSeeds(): Case[] {
  const byOperation = new Map<string, Case[]>();
  for (const example of randomExamples({ seed: 7, count: examplesOfOperation })) {
    if (example.expectFailure) continue;
    const { type } = example.main.operations[0] ?? { type: "" };
    const bytes = modelBytes(modelOfExample({ name: example.name, example, unspecifiedOutputs: false }));
    if (bytes.length > longestModel) continue;
    byOperation.set(type, [...(byOperation.get(type) ?? []), { name: example.name, bytes }]);
  }
  const chosen = [...byOperation.values()].flatMap((cases) =>
    cases.sort((one, two) => one.bytes.length - two.bytes.length).slice(0, 1),
  );
  return [...smallModels.map((model, index) => ({ name: `small/${index}`, bytes: modelBytes(model) })), ...chosen];
}

function modelBytes({ operandValues, pools, ...structure }: Model): Uint8Array {
  const elements = Uint8Array.of(0, 0, 128, 63, 0, 0, 0, 64, 1, 0, 0, 0);
  const bytes = writeModel({ structure, operandValues, pools: pools.map((pool) => bytesOf(pool).slice()), elements });
  must(bytes !== undefined, () => "a model cannot be written");
  return bytes;
}

const at = (poolIndex: number, offset: number, length: number, dimensions: readonly number[] = []) => ({
  hasNoValue: false,
  location: { poolIndex, offset, length },
  dimensions,
});

function requestSeeds(): Case[] {
  const pool = (size: number, values: readonly number[] = []) => {
    const content = new Uint8Array(size);
    new Int32Array(content.buffer).set(values);
    return { kind: "memory", content } as const;
  };
  const all = [
    { model: 0, inputs: [at(0, 0, 4), at(0, 4, 4)], outputs: [at(0, 8, 4)], pools: [pool(12)] },
    {
      model: 1,
      inputs: [at(0, 0, 8), at(0, 8, 16, [2, 2])],
      outputs: [at(1, 0, 16, [2, 2])],
      pools: [pool(24), pool(16)],
    },
    {
      model: 2,
      inputs: [at(0, 0, 16), at(0, 16, 4), at(0, 20, 4)],
      outputs: [at(1, 4, 4, [1, 4])],
      pools: [pool(24), pool(12)],
    },
    {
      model: 3,
      inputs: [at(0, 0, 16, [4]), at(1, 0, 8)],
      outputs: [at(0, 16, 16)],
      pools: [pool(32), pool(8, [2, -1])],
    },
  ];
  return all.flatMap((one) =>
    [0, 1].map((way) => ({ name: `${one.model}/${way}`, bytes: encode(requestInput, { way, measure: way, ...one }) })),
  );
}

function burstSeeds(): Case[] {
  const request = (outputs: number): Request => ({
    inputs: [at(0, 0, 4, [1]), at(0, 4, 4)],
    outputs: [at(outputs, 8, 4)],
    pools: [],
  });
  const packet = (slots: readonly number[], measure: MeasureTiming) => {
    const words = writeRequest(request(slots.length - 1), measure, slots);
    return new Uint8Array(words.buffer, words.byteOffset, words.byteLength).slice();
  };
  const [one, two] = [packet([0], MeasureTiming.NO), packet([0, 1], MeasureTiming.YES)];
  return [
    { name: "one", bytes: encode(packets, [one]) },
    { name: "several", bytes: encode(packets, [one, two, one]) },
  ];
}

/** Records the frames of a client and a server in a session that uses most methods. */
async function frameSeeds(): Promise<{ server: Case[]; client: Case[] }> {
  const device = await openReference();
  const sent: { client: Uint8Array[]; server: Uint8Array[] } = { client: [], server: [] };
  const record = (channel: Channel, to: Uint8Array[]): Channel => ({
    ...channel,
    get waiting() {
      return channel.waiting;
    },
    send(bytes, attachments) {
      to.push(bytes.slice());
      channel.send(bytes, attachments);
    },
  });
  const [own, other] = memoryChannels();
  const served = serve(device, record(other, sent.server));
  const remote = await connectDevice(record(own, sent.client));
  must(!("unavailable" in remote), () => "the client is refused");
  const [model] = smallModels;
  must(model !== undefined, () => "there is no model");
  await remote.getSupportedOperations(model);
  const prepared = takePrepared("prepareModel", await remote.prepareModel(model));
  must(prepared !== undefined, () => "the model is refused");
  const request: Request = {
    inputs: [at(0, 0, 4), at(0, 4, 4)],
    outputs: [at(0, 8, 4)],
    pools: [{ kind: "memory", memory: memoryWith(new Uint8Array(12)) }],
  };
  must((await prepared.execute(request)).status === ErrorStatus.NONE, () => "the request is refused");
  const fenced = await prepared.executeFenced?.(request, []);
  await fenced?.syncFence?.wait();
  await fenced?.callback?.getExecutionInfo();
  const role = { modelIndex: 0, ioIndex: 0, frequency: 1 };
  const { buffer } = (await remote.allocate?.({ dimensions: [] }, [prepared], [role], [])) ?? {};
  const memory = memoryWith(new Uint8Array(4));
  await buffer?.copyFrom(memory, []);
  await buffer?.copyTo(memory);
  buffer?.close?.();
  prepared.close();
  remote.close();
  await served.ended;
  await device.close();
  // Each as a whole, and its head alone, which is quicker to change.
  const casesOf = (all: readonly Uint8Array[]) => [
    { name: "session", bytes: encode(frames, all) },
    { name: "start", bytes: encode(frames, all.slice(0, Math.ceil(all.length / 2))) },
  ];
  return { server: casesOf(sent.client), client: casesOf(sent.server) };
}
