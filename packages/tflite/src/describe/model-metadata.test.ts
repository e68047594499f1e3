import { describe, expect, test } from "vitest";
import { metadataBlock, withMetadata } from "../_metadata.test-helper.ts";
import { oneOperator } from "../_model.test-helper.ts";
import { TfliteError } from "../error.ts";
import { readTflite } from "../read.ts";
import { writeTflite } from "../write.ts";
import { modelMetadata } from "./model-metadata.ts";

const model = oneOperator("ABS", { x: { shape: [2] } }, { y: { shape: [2] } });

describe("modelMetadata", () => {
  test("reads what the maker says", () => {
    const block = metadataBlock({
      name: "Digits",
      author: "Ann",
      license: "Apache-2.0",
      normalization: { mean: [127.5], std: [127.5] },
      files: [{ name: "labels.txt", type: 2, locale: "en" }],
    });
    const bytes = writeTflite(withMetadata(model, block));
    expect(modelMetadata(readTflite(bytes))).toEqual({
      name: "Digits",
      description: "",
      version: "",
      author: "Ann",
      license: "Apache-2.0",
      inputs: [{ name: "image", description: "", normalization: { mean: [127.5], std: [127.5] }, files: [] }],
      outputs: [
        {
          name: "scores",
          description: "",
          files: [{ name: "labels.txt", description: "", kind: "axis labels", locale: "en" }],
        },
      ],
      files: [],
    });
  });

  test("is undefined without such a block, whatever other blocks there are", () => {
    const other = { ...model, metadata: [{ name: "min_runtime_version", data: new Uint8Array(16) }] };
    expect(modelMetadata(model)).toBeUndefined();
    expect(modelMetadata(other)).toBeUndefined();
  });

  const file = (name: string) => ({ name, description: "", kind: "vocabulary", locale: "" });

  test.each([
    [
      { kind: "bert", vocabulary: "vocab.txt" },
      { kind: "bert", pattern: "", model: [], vocabulary: [file("vocab.txt")] },
    ],
    [
      { kind: "sentencePiece", model: "30k.model" },
      { kind: "sentencePiece", pattern: "", model: [file("30k.model")], vocabulary: [] },
    ],
    [
      { kind: "regex", pattern: "[^\\w]+", vocabulary: "vocab.txt" },
      { kind: "regex", pattern: "[^\\w]+", model: [], vocabulary: [file("vocab.txt")] },
    ],
    [{ kind: "regex" }, { kind: "regex", pattern: "", model: [], vocabulary: [] }],
  ] as const)("reads the tokeniser %j of an input, and of all inputs", (tokenizer, expected) => {
    const normalization = { mean: [1], std: [2] };
    const ofTensor = modelMetadata(withMetadata(model, metadataBlock({ normalization, tokenizer })));
    expect(ofTensor?.inputs[0]?.tokenizer).toEqual(expected);
    expect(ofTensor?.inputs[0]?.normalization).toEqual(normalization);
    expect(ofTensor?.tokenizer).toBeUndefined();
    const ofAll = modelMetadata(withMetadata(model, metadataBlock({ inputTokenizer: tokenizer })));
    expect(ofAll?.tokenizer).toEqual(expected);
    expect(ofAll?.inputs[0]?.tokenizer).toBeUndefined();
  });

  test("a kind of file that is not known is unknown", () => {
    const block = metadataBlock({ files: [{ name: "x", type: 99 }] });
    expect(modelMetadata(withMetadata(model, block))?.outputs[0]?.files[0]?.kind).toBe("unknown");
  });

  test.each([
    [new Uint8Array(7), "metadata TFLITE_METADATA: the block: expected at least 8 bytes, got 7"],
    [new TextEncoder().encode("....TFL3...."), 'metadata TFLITE_METADATA: bytes 4 to 8 are "TFL3", not "M001"'],
    [Uint8Array.of(0, 0, 0, 0, 0x4d, 0x30, 0x30, 0x31), "metadata TFLITE_METADATA: an offset is 0"],
  ])("a broken block is refused (%#)", (block, message) => {
    const read = () => modelMetadata(withMetadata(model, block));
    expect(read).toThrow(TfliteError);
    expect(read).toThrow(message);
  });
});
