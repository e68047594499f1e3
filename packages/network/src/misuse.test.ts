/**
 * Calls in wrong ways: whatever is wrong, the error is a NetworkError, and an option that does not exist is refused with the nearest one.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NetworkError } from "./error.ts";
import { load } from "./load.ts";
import type { Model } from "./model.ts";
import { modelOf, passingModel, rememberingModel, tensor } from "./models.test-helper.ts";
import { draw } from "./picture/draw.ts";
import { encodePng } from "./picture/encode-png.ts";
import { picture } from "./picture/load-picture.ts";
import { parseLabels, top } from "./scores.ts";
import { classify } from "./tasks/classify.ts";
import { classifyAudio } from "./tasks/classify-audio.ts";
import { classifyText } from "./tasks/classify-text.ts";
import { detect } from "./tasks/detect.ts";
import { cosineSimilarity, embed } from "./tasks/embed.ts";
import { fixedModel, square } from "./tasks/fixed.test-helper.ts";
import { landmarks } from "./tasks/landmarks.ts";
import { segment } from "./tasks/segment.ts";
import { resample, sound } from "./tasks/sound.ts";

let model: Model;
let remembering: Model;
let seeing: Model;
let classes: Model;
let mask: Model;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nnhal-misuse-"));
  model = await load(passingModel({ shape: [1, 4] }), { engines: [] });
  remembering = await load(rememberingModel(), { engines: [] });
  const outputs = [
    ["boxes", [1, 2, 4], [0, 0, 1, 1, 0, 0, 1, 1]],
    ["classes", [1, 2], [1, 2]],
    ["confidence", [1, 2], [0.75, 0.25]],
  ] as const;
  classes = await load(fixedModel([["scores", [1, 2], [0.25, 0.75]]]), { engines: [] });
  mask = await load(fixedModel([["mask", [1, 2, 2], [0, 1, 1, 1]]]), { engines: [] });
  seeing = await load(fixedModel(outputs), { engines: [] });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([model, remembering, seeing, classes, mask].map((each) => each.close()));
});

/** The error of a call, which may throw or reject. */
async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("it has not failed");
}

const throwing = {
  get given(): never {
    throw new Error("a getter's own words");
  },
};

/** A value of no type that a function takes. */
const any = (value: unknown) => value as never;

describe("a wrong value is a NetworkError", () => {
  it.each<[string, () => unknown, string?]>([
    [
      "a path as a model",
      () => classify(any("a.tflite"), "a.png"),
      "classify: expected a model, as `await load(…)` returns it, got a string",
    ],
    [
      "a promise as a model",
      () => detect(any(Promise.resolve(seeing)), square),
      "got a promise, which must be awaited",
    ],
    ["no model", () => segment(any(undefined), square), "segment: expected a model"],
    ["a list as a model", () => landmarks(any([]), square), "landmarks: expected a model"],
    ["a number as a model", () => embed(any(5), []), "embed: expected a model"],
    ["null as a model", () => classifyAudio(any(null), "a.wav"), "classifyAudio: expected a model"],
    ["a path as a model of texts", () => classifyText(any("a.tflite"), "a"), "classifyText: expected a model"],
    [
      "a worker that is a number",
      () => load(passingModel({ shape: [1, 4] }), { worker: any(1) }),
      "worker: expected true, false or a function, got a number",
    ],
    [
      "a cache that is a file",
      () => load(passingModel({ shape: [1, 4] }), { cache: import.meta.filename }),
      "misuse.test.ts cannot be made: it is not a folder",
    ],
    ["no inputs", () => model.run(any(null))],
    ["inputs that are a class", () => model.run(any(new Map()))],
    ["a getter that throws", () => model.run(any(throwing)), "a getter's own words"],
    [
      "data whose getter throws",
      () =>
        model.run(
          any({
            given: {
              data: [1],
              get shape() {
                throw new Error("shapeless");
              },
            },
          }),
        ),
      "shapeless",
    ],
    [
      "a shape that is not a list",
      () => model.run({ data: [1, 2, 3, 4], shape: any({ length: 2, 0: 1, 1: 4 }) }),
      "shape",
    ],
    ["a shape with a negative extent", () => model.run({ data: [1, 2, 3, 4], shape: [-1, -4] }), "shape"],
    ["a shape with a fraction", () => model.run({ data: [1, 2, 3, 4], shape: [0.5, 8] }), "shape"],
    ["a signal that is an object", () => model.run([1, 2, 3, 4], { signal: any({}) }), "not an AbortSignal"],
    ["a signal of load", () => load(passingModel({ shape: [1] }), { signal: any({}) }), "not an AbortSignal"],
    ["an end that is a text", () => model.run([1, 2, 3, 4], { onEnd: any("1") }), "onEnd"],
    ["a time that is a text", () => model.run([1, 2, 3, 4], { timeout: any("1") }), "timeout"],
    ["options that are null", () => model.run([1, 2, 3, 4], any(null)), "its options"],
    ["outputs that are a list", () => model.run([1, 2, 3, 4], { outputs: any([1]) }), "outputs"],
    [
      "a callback that throws",
      () =>
        load(passingModel({ shape: [1] }), {
          onProgress: () => {
            throw new Error("loud");
          },
        }),
      "loud",
    ],
    ["a state that is null", () => remembering.state.write(any(null)), "state.write"],
    ["states that are null", () => remembering.state.write({ state: any(null) })],
    ["names of states that are a text", () => remembering.state.reset(any("state")), "state.reset"],
    ["inputs of a profile", () => model.profile({ inputs: any(throwing) }), "a getter's own words"],
    ["options of a profile", () => model.profile(any(null)), "profile"],
    ["a model without a source", () => load(any(undefined))],
    ["a path of a character that no path has", () => load("a\0b")],
    ["an address that is not one", () => load("http://")],
    ["a picture that is null", () => picture(any(null))],
    ["a picture of no size", () => picture({ width: 0, height: 1, data: new Uint8Array(0) }), "0 x 1"],
    ["a picture of half a pixel", () => picture({ width: 0.5, height: 2, data: new Uint8Array(1) }), "0.5 x 2"],
    ["a picture that is not there, encoded", () => encodePng("no-such.jpg"), "does not exist"],
    ["an object, encoded", () => encodePng(any({}))],
    ["a path, drawn on", () => draw(any("cat.jpg"), {}), "expected a picture"],
    ["no drawing", () => draw(square, any(undefined))],
    ["no scores", () => top(any({})), "expected a tensor or numbers"],
    ["scores that are null", () => top(any(null))],
    ["data that are null", () => top(any({ data: null }))],
    ["labels that are a path", () => top([1, 2], 5, any("labels.txt")), "parseLabels"],
    ["a count that is a text", () => top([1, 2], any("5"))],
    ["labels of no text", () => parseLabels(any(new Uint8Array(1)))],
    ["labels of detect", () => detect(seeing, square, { labels: any("labels.txt") }), "parseLabels"],
    ["labels of classify", () => classify(seeing, square, { labels: any("labels.txt") }), "parseLabels"],
    ["labels of segment", () => segment(seeing, square, { labels: any("labels.txt") }), "parseLabels"],
    ["names of landmarks", () => landmarks(seeing, square, { names: any("labels.txt") }), "parseLabels"],
    ["labels of classifyAudio", () => classifyAudio(model, "a.wav", { labels: any("labels.txt") }), "parseLabels"],
    [
      "an output that every object has",
      () => classify(seeing, square, { output: "constructor" }),
      'no output "constructor"',
    ],
    ["a picture that is not there, in detect", () => detect(seeing, "no-such.jpg"), "does not exist"],
    ["a picture that is not there, in segment", () => segment(mask, "no-such.jpg"), "does not exist"],
    ["a picture that is not there, in landmarks", () => landmarks(seeing, "no-such.jpg"), "does not exist"],
    ["a picture that is not there, in classify", () => classify(classes, "no-such.jpg"), "does not exist"],
    ["a picture that is not there, in embed", () => embed(classes, "no-such.jpg"), "does not exist"],
    ["a picture that is null", () => detect(seeing, any(null))],
    ["no model", () => detect(any(undefined), square)],
    ["a sound that is null", () => classifyAudio(model, any(null))],
    ["a sound of no rate", () => resample(any({ rate: 0, samples: new Float32Array(1) }), 1)],
    ["a sound that is a list", () => resample(any([1]), 1)],
    ["no sound", () => sound(any(undefined))],
    ["embeddings that are null", () => cosineSimilarity(any(null), any(null))],
  ])("%s", async (_what, call, words = "") => {
    const error = await errorOf(call);
    expect(error).toBeInstanceOf(NetworkError);
    expect((error as NetworkError).message).toContain(words);
  });
});

describe("an unknown option is refused with the nearest one", () => {
  it.each<[string, () => unknown, string]>([
    [
      "load",
      () => load(passingModel({ shape: [1] }), any({ device: "ort" })),
      'load: unknown option "device": did you mean "devices"?',
    ],
    [
      "run",
      () => model.run([1, 2, 3, 4], any({ timeOut: 1 })),
      'run: unknown option "timeOut": did you mean "timeout"?',
    ],
    ["profile", () => model.profile(any({ input: [1] })), 'profile: unknown option "input": did you mean "inputs"?'],
    ["picture", () => picture(square, any({ fitt: "cover" })), 'picture: unknown option "fitt": did you mean "fit"?'],
    [
      "sound",
      () => sound(new Uint8Array(1), any({ rate: 1 })),
      'sound: unknown option "rate"; there are: signal, maxBytes',
    ],
    ["classify", () => classify(seeing, square, any({ label: [] })), '"label": did you mean "labels"?'],
    ["classifyAudio", () => classifyAudio(model, "a", any({ rates: 1 })), '"rates": did you mean "rate"?'],
    ["detect", () => detect(seeing, square, any({ treshold: 1 })), '"treshold": did you mean "threshold"?'],
    ["segment", () => segment(seeing, square, any({ outputs: "" })), '"outputs": did you mean "output"?'],
    ["landmarks", () => landmarks(seeing, square, any({ name: [] })), '"name": did you mean "names"?'],
    ["embed", () => embed(seeing, square, any({ normalise: true })), '"normalise": did you mean "normalize"?'],
    ["draw", () => draw(square, any({ box: [] })), '"box": did you mean "boxes"?'],
  ])("of %s", async (_what, call, message) => {
    const error = await errorOf(call);
    expect(error).toMatchObject({ name: "NetworkError", code: "BAD_OPTION" });
    expect((error as NetworkError).message).toContain(message);
  });
});

it("a model that is closed in the same turn ends the runs that were called before, and refuses later ones", async () => {
  const closed = await load(passingModel({ shape: [1, 4] }), { engines: [] });
  const before = [closed.run([1, 2, 3, 4]), closed.run([5, 6, 7, 8])];
  const closing = closed.close();
  const after = closed.run([1, 2, 3, 4]);
  const settled = await Promise.allSettled([...before, after]);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  await expect(after).rejects.toMatchObject({ name: "NetworkError", code: "CLOSED" });
  await closing;
});

describe("tensors with names that every object has", () => {
  const named = (input: string, output: string) =>
    load(
      modelOf({
        tensors: [tensor(input, { shape: [2] }), tensor(output, { shape: [2] })],
        inputs: [0],
        outputs: [1],
        operators: [{ name: "NEG", version: 1, inputs: [0], outputs: [1], options: {} }],
      }),
      { engines: [] },
    );

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", "data", "then"])("%s", async (name) => {
    await using one = await named(name, name);
    const outputs = await one.run({ [name]: [1, -2] });
    expect(Object.getPrototypeOf(outputs)).toBe(Object.prototype);
    expect(Object.keys(outputs)).toEqual([name]);
    expect([...outputs.output.data]).toEqual([-1, 2]);
    expect(Object.getOwnPropertyDescriptor(outputs, name)?.value.data).toEqual(Float32Array.of(-1, 2));
    const buffer = new Float32Array(2);
    await one.run({ [name]: [3, 4] }, { outputs: { [name]: buffer } });
    expect([...buffer]).toEqual([-3, -4]);
  });
});

describe("tasks take a picture as a path, a URL, bytes, a Blob or pixels", () => {
  it("in detect, classify, segment, landmarks and embed", async () => {
    const bytes = await encodePng(square);
    const path = join(folder, "square.png");
    writeFileSync(path, bytes);
    const { href } = new URL(`file://${path}`);
    const sources = [path, href, new URL(href), bytes, bytes.slice().buffer, new Blob([new Uint8Array(bytes)]), square];
    const pose = await load(fixedModel([["points", [1, 2, 3], [0, 0, 1, 1, 1, 1]]]), { engines: [] });
    for (const source of sources) {
      expect(await detect(seeing, source)).toHaveLength(1);
      expect((await classify(classes, source)).map(({ index }) => index)).toEqual([1, 0]);
      expect(await embed(classes, source)).toHaveLength(2);
      expect(await landmarks(pose, source)).toHaveLength(2);
      expect((await segment(mask, source)).areas).toHaveLength(2);
      expect(await encodePng(source)).toEqual(bytes);
    }
  });

  it("and elements of a picture's input stay elements", async () => {
    const eight = await load(passingModel({ shape: [1, 2, 4, 3], type: "UINT8" }), { engines: [] });
    expect(await classify(eight, new Uint8Array(24).fill(7), { output: "passed", top: 1 })).toMatchObject([
      { score: 7 },
    ]);
  });
});

describe("sources that do not end", () => {
  const hasPipes = process.platform !== "win32";
  it.runIf(hasPipes)("are refused at once: devices, pipes and folders", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    for (const path of ["/dev/zero", "/dev/null", pipe]) {
      await expect(load(path)).rejects.toMatchObject({
        code: "CANNOT_READ",
        message: `cannot read the model ${path}: it is not a regular file, but a device, pipe or socket`,
      });
      await expect(picture(path)).rejects.toMatchObject({ code: "CANNOT_READ" });
      await expect(sound(path)).rejects.toMatchObject({ code: "CANNOT_READ" });
    }
    await expect(load(folder)).rejects.toMatchObject({ message: expect.stringContaining("it is a folder") });
  });

  it("end at maxBytes: files, Blobs, and bodies with and without a length", async () => {
    const file = passingModel({ shape: [1, 4] });
    const path = join(folder, "model.tflite");
    writeFileSync(path, file);
    let sent = 0;
    const server = createServer((request, response) => {
      if (request.url === "/whole") return void response.end(file);
      // A file that does not begin as a model is refused before the limit.
      if (request.url === "/model") response.write("\x20\0\0\0TFL3");
      const send = () => {
        sent += 65_536;
        // Bounded, in case that the reader does not stop it.
        if (sent < 2 ** 28 && response.write(Buffer.alloc(65_536))) setImmediate(send);
        else if (sent < 2 ** 28) response.once("drain", send);
      };
      send();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      for (const source of [path, `${origin}/whole`, new Blob([new Uint8Array(file)])]) {
        const fitting = await load(source, { engines: [], maxBytes: file.length });
        await fitting.close();
        await expect(load(source, { engines: [], maxBytes: file.length - 1 })).rejects.toMatchObject({
          name: "NetworkError",
          code: "CANNOT_READ",
          message: expect.stringContaining("maxBytes"),
        });
      }
      await expect(load(`${origin}/model`, { maxBytes: 100_000 })).rejects.toMatchObject({ code: "CANNOT_READ" });
      await expect(load(`${origin}/endless`)).rejects.toMatchObject({ code: "NOT_A_MODEL" });
      await expect(picture(`${origin}/endless`, { maxBytes: 100_000 })).rejects.toMatchObject({ code: "CANNOT_READ" });
      expect(sent).toBeLessThan(2 ** 28);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it.each([0, -1, Number.NaN, "1"])("cannot have %j bytes", async (maxBytes) => {
    await expect(load("a", { maxBytes: any(maxBytes) })).rejects.toMatchObject({ code: "BAD_OPTION" });
  });
});
