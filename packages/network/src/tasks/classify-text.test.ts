import { MessageChannel } from "node:worker_threads";
import { importTflite, readTflite } from "@nnhal/tflite";
import { describe, expect, it } from "vitest";
import { load } from "../load.ts";
import { passingModel } from "../models.test-helper.ts";
import type { Port } from "../port.ts";
import { serve } from "../serve.ts";
import type { TensorInfo } from "../tensor-info.ts";
import { textValues } from "../text-values.ts";
import { sentencePieceFile, unigramPieces } from "../tokenize/models.test-helper.ts";
import { type GivenTextModel, textModel, tokenizerUnits } from "../tokenize/packed.test-helper.ts";
import { textInputs } from "../tokenize/text-inputs.ts";
import { classifyText } from "./classify-text.ts";
import { embed } from "./embed.ts";

const text = (...lines: readonly string[]) => new TextEncoder().encode(lines.join("\n"));
const open = (given: GivenTextModel, onWarning: (message: string) => void = () => {}) =>
  load(textModel(given), { engines: [], dynamicShapes: true, onWarning });

/** Sums good and bad words; 0.01 for each that is not known. */
const reviews: GivenTextModel = {
  inputs: ["input_text"],
  length: 6,
  table: [
    [0, 0],
    [0, 0],
    [0.01, 0.01],
    [0, 1],
    [1, 0],
  ],
  unit: tokenizerUnits.regex("[^\\w\\']+", "vocab.txt"),
  files: {
    "vocab.txt": text("<PAD> 0", "<START> 1", "<UNKNOWN> 2", "good 3", "bad 4"),
    "labels.txt": text("Negative", "Positive"),
  },
  labels: "labels.txt",
};

/** Sums pieces: [CLS] and [SEP] count 10 each, un 1, ##aff 2, ##able 3. */
const bert: GivenTextModel = {
  inputs: ["ids", "mask", "segment_ids"],
  length: 8,
  table: [
    [0.5, 0],
    [0, 7],
    [10, 0],
    [10, 0],
    [1, 0],
    [2, 0],
    [3, 0],
  ],
  unit: tokenizerUnits.bert("vocab.txt"),
  isOfAll: true,
  files: { "vocab.txt": text("[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able") },
};

const pieces: GivenTextModel = {
  inputs: ["ids"],
  length: 0,
  table: unigramPieces.map((_, id) => [id, 1]),
  unit: tokenizerUnits.sentencePiece("30k.model"),
  files: { "30k.model": sentencePieceFile(unigramPieces) },
  output: "embedding",
};

describe("classifyText", () => {
  it("reads words by the regular expression, with the start, padding and unknown words", async () => {
    const model = await open(reviews);
    expect(model.inputs[0]?.tokenizer).toMatchObject({ kind: "regex", pattern: "[^\\w\\']+" });
    const score = (value: number) => Math.fround(value);
    expect(await classifyText(model, "good, good stuff; bad")).toEqual([
      { index: 1, label: "Positive", score: expect.closeTo(score(2.01), 5) },
      { index: 0, label: "Negative", score: expect.closeTo(score(1.01), 5) },
    ]);
    // The start and five words.
    expect((await classifyText(model, "good ".repeat(1000), { top: 1, labels: ["a", "b"] }))[0]).toEqual({
      ...{ index: 1, label: "b" },
      score: 5,
    });
  });

  it("reads pieces of words, between [CLS] and [SEP], with a mask", async () => {
    const model = await open(bert);
    expect(await classifyText(model, "unaffable", { top: 1 })).toEqual([{ index: 0, label: null, score: 26 }]);
    expect((await classifyText(model, "xyz")).map(({ score }) => score)).toEqual([20, 7]);
    // Six pieces are between the two.
    expect((await classifyText(model, "un ".repeat(9), { top: 1 }))[0]?.score).toBe(26);
    expect(textInputs("x", model.inputs, "unaffable")).toEqual({
      in0: { data: [2, 4, 5, 6, 3, 0, 0, 0], shape: [1, 8] },
      in1: { data: [1, 1, 1, 1, 1, 0, 0, 0], shape: [1, 8] },
      in2: { data: [0, 0, 0, 0, 0, 0, 0, 0], shape: [1, 8] },
    });
  });

  it("runs in a worker, to which its tokeniser is copied", async () => {
    const { port1, port2 } = new MessageChannel();
    serve({ post: (message) => port2.postMessage(message), listen: (onMessage) => port2.on("message", onMessage) });
    const port: Port = {
      post: (message) => port1.postMessage(message),
      listen: (onMessage) => port1.on("message", onMessage),
      hold() {},
      letGo() {},
      end: async () => port1.close(),
    };
    await using model = await load(textModel(bert), { engines: [], worker: () => port });
    expect((await classifyText(model, "unaffable", { top: 1 }))[0]?.score).toBe(26);
  });

  it("says what it expects of a model, a text and options", async () => {
    const model = await open(reviews);
    // JavaScript may pass anything.
    await expect(classifyText(model, 5 as unknown as string)).rejects.toMatchObject({
      ...{ code: "WRONG_TYPE", message: "classifyText: expected a text, got a number" },
    });
    await expect(classifyText(model, "a".repeat(2 ** 22 + 1))).rejects.toMatchObject({
      ...{ code: "WRONG_SIZE", message: "classifyText: the text has 4194305 characters; 4194304 are the most" },
    });
    // An option that does not exist.
    await expect(classifyText(model, "a", { tops: 1 } as object)).rejects.toMatchObject({ code: "BAD_OPTION" });
    const none = await load(passingModel({ shape: [3] }), { engines: [] });
    await expect(classifyText(none, "a")).rejects.toMatchObject({
      code: "WRONG_TASK",
      message:
        'classifyText: expected a model with inputs of strings, or a tokenizer in its metadata; the inputs are "given" (float32 [3])',
    });
  });

  it.each([
    [{ ...reviews, files: {} }, 'there is no packed file "vocab.txt"'],
    [{ ...reviews, files: { "vocab.txt": new Uint8Array(2 ** 24 + 1) } }, "are more than the most"],
  ])("a tokeniser whose files cannot be read is a warning, and a model without text", async (given, warning) => {
    const warnings: string[] = [];
    const model = await open(given, (message) => warnings.push(message));
    expect(warnings.filter((each) => each.includes("tokenizer"))).toEqual([
      expect.stringContaining("the tokenizer that is packed with the model cannot be read: "),
    ]);
    expect(warnings.join()).toContain(warning);
    await expect(classifyText(model, "a")).rejects.toMatchObject({ code: "WRONG_TASK" });
  });

  it("a tokeniser that is broken is refused when it is used", async () => {
    const model = await open({ ...reviews, unit: tokenizerUnits.regex("(a", "vocab.txt") });
    await expect(classifyText(model, "a")).rejects.toMatchObject({ code: "NOT_A_TOKENIZER" });
    const lacking = await open({ ...bert, files: { "vocab.txt": text("[UNK]", "[CLS]") } });
    await expect(classifyText(lacking, "a")).rejects.toMatchObject({
      message: expect.stringContaining("has no [SEP]"),
    });
  });

  it("a model without room for a token of the text is refused, with what may help", async () => {
    const message = expect.stringMatching(/of at least 3 tokens.*dynamicShapes or inputShapes/);
    await expect(classifyText(await open({ ...bert, length: 2 }), "a")).rejects.toMatchObject({
      code: "WRONG_TASK",
      message,
    });
    expect(await classifyText(await open({ ...bert, length: 3 }), "un", { top: 1 })).toMatchObject([{ score: 21 }]);
    await expect(classifyText(await open({ ...reviews, length: 1 }), "a")).rejects.toMatchObject({
      code: "WRONG_TASK",
    });
    expect(await classifyText(await open({ ...reviews, length: 2 }), "bad", { top: 1 })).toMatchObject([
      { index: 0, score: 1 },
    ]);
  });
});

const fileOf = (bytes: Uint8Array) => ({ bytes, content: readTflite(bytes) });

describe("textValues", () => {
  it("has the bytes of the same inputs, in their order", async () => {
    const bytes = textModel(bert);
    const values = await textValues(fileOf(bytes), importTflite(bytes), "unaffable");
    expect(values.map((value) => [...new Int32Array(value.bytes.buffer)])).toEqual([
      [2, 4, 5, 6, 3, 0, 0, 0],
      [1, 1, 1, 1, 1, 0, 0, 0],
      [0, 0, 0, 0, 0, 0, 0, 0],
    ]);
    const none = passingModel({ shape: [3] });
    await expect(textValues(fileOf(none), importTflite(none), "a")).rejects.toMatchObject({ code: "WRONG_TASK" });
  });
});

describe("embed", () => {
  it("takes a text for a model of any number of pieces", async () => {
    const model = await open(pieces);
    expect(await embed(model, "Hello world.")).toEqual(Float32Array.of(4 + 5 + 7 + 17, 4));
    expect(await embed(model, "")).toEqual(Float32Array.of(0, 1));
  });

  it("takes the tokens around a text from the file where there is a mask", async () => {
    const model = await open({ ...pieces, inputs: ["ids", "mask"], length: 6, isOfAll: true });
    expect(textInputs("x", model.inputs, "Hello")).toEqual({
      in0: { data: [1, 4, 2, 0, 0, 0], shape: [1, 6] },
      in1: { data: [1, 1, 1, 0, 0, 0], shape: [1, 6] },
    });
    // The sum of ids and of the mask, and the mask twice.
    expect(await embed(model, "Hello")).toEqual(Float32Array.of(1 + 4 + 2 + 3, 6));
  });
});

describe("textInputs", () => {
  const info = (name: string, more: Partial<TensorInfo> = {}): TensorInfo => ({
    name,
    otherNames: [],
    type: "int32",
    shape: [1, 4],
    ...more,
  });
  const vocabulary = text("[UNK]", "[CLS]", "[SEP]", "a");
  const tokenizer = { kind: "bert", vocabulary } as const;

  it("gives strings as they are, and to the universal sentence encoder as the response", () => {
    expect(textInputs("x", [info("text", { type: "string", shape: [1] })], "a b")).toEqual({ text: ["a b"] });
    const names = ["inp_text", "res_context", "res_text"].map((name) => info(name, { type: "string", shape: [1] }));
    expect(textInputs("x", names, "a b")).toEqual({ inp_text: [""], res_context: [""], res_text: ["a b"] });
    expect(() => textInputs("x", names.slice(0, 2), "a")).toThrow(
      "one input of strings, or one that is called response_text",
    );
  });

  it("finds inputs by their names in any order, and by place if they have none", () => {
    const named = ["input_mask", "input_type_ids", "input_word_ids"].map((name) => info(name, { tokenizer }));
    const ids = { data: [1, 3, 2, 0], shape: [1, 4] };
    const mask = { data: [1, 1, 1, 0], shape: [1, 4] };
    const segments = { data: [0, 0, 0, 0], shape: [1, 4] };
    expect(textInputs("x", named, "a")).toEqual({ input_word_ids: ids, input_mask: mask, input_type_ids: segments });
    const unnamed = ["p", "q", "r"].map((name) => info(name, { tokenizer }));
    expect(textInputs("x", unnamed, "a")).toEqual({ p: ids, q: segments, r: mask });
    expect(() => textInputs("x", unnamed.slice(0, 2), "a")).toThrow(
      "inputs of ids, and none or one each of mask and segment_ids",
    );
  });

  it.each([
    [[info("a", { tokenizer, shape: [2, 4] })], "inputs of one text, of the shape [1, tokens]"],
    [
      [info("a", { tokenizer }), info("mask", { tokenizer, shape: [1, 5] })],
      "inputs of one length, of at least 3 tokens",
    ],
    [[info("a", { tokenizer }), info("b")], "inputs of strings, or a tokenizer in its metadata"],
    [[], "inputs of strings, or a tokenizer in its metadata"],
  ])("refuses the inputs of case %#", (inputs, message) => {
    expect(() => textInputs("x", inputs, "a")).toThrow(message);
  });
});
