import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nameFile, whyNoModel } from "./file-kind.ts";
import { load } from "./load.ts";
import { passingModel } from "./models.test-helper.ts";

const text = (content: string) => new TextEncoder().encode(content);
const ascii = (content: string) => Uint8Array.from(content, (character) => character.charCodeAt(0));

/** A field of a message of Protocol Buffers, of fewer than 128 bytes. */
const field = (number: number, value: number | Uint8Array) =>
  typeof value === "number" ? [8 * number, value] : [8 * number + 2, value.length, ...value];
const message = (...fields: readonly (readonly number[])[]) => Uint8Array.from(fields.flat());

const node = message(field(1, text("x")), field(2, text("Placeholder")));
const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"4d".repeat(32)}\nsize 12345\n`;
const zip = (name: string) => ascii(`PK\x03\x04${"\0".repeat(26)}${name}content`);

const kinds: readonly (readonly [name: string, bytes: Uint8Array, remedy?: string])[] = [
  ["empty", new Uint8Array()],
  ["a JPEG picture", Uint8Array.of(0xff, 0xd8, 0xff, 0xe0)],
  ["a PNG picture", ascii("\x89PNG\r\n\x1a\n")],
  ["a GIF picture", ascii("GIF89a")],
  ["a GIF picture", ascii("GIF87a")],
  ["a WebP picture", ascii("RIFF\0\0\0\0WEBPVP8 ")],
  ["a WAV sound", ascii("RIFF\0\0\0\0WAVEfmt ")],
  ["a BMP picture", ascii("BM\xff\xff\0\0\0\0\0\0")],
  ["a .npy array", ascii("\x93NUMPY\x01\0")],
  ["an HDF5 file, as Keras writes models", ascii("\x89HDF\r\n\x1a\n"), "convert it to .tflite"],
  ["a gzip archive", gzipSync("content"), "unpack it"],
  ["a zip archive", zip("model.tflite"), "unpack it"],
  ["a .npz archive", zip("first.npy"), "unpack it"],
  ["a PyTorch model", zip("archive/data.pkl"), "convert it to .tflite"],
  ["a Keras model", zip("metadata.jsonconfig.json"), "convert it to .tflite"],
  ["a tar archive", ascii(`${"\x01".repeat(257)}ustar\0`), "unpack it"],
  ["a Git LFS pointer, not the file itself", text(pointer), "git lfs pull fetches the file"],
  ["an HTML page", text("\n<!DOCTYPE html>\n<html>"), "the download may have failed"],
  ["an HTML page", text("<html lang=en>"), "the download may have failed"],
  ["an SVG picture", text('<?xml version="1.0"?><svg/>')],
  ["an XML file", text('<?xml version="1.0"?><net/>')],
  ["a TensorFlow.js model", text('{"modelTopology": {}}'), "convert it to .tflite"],
  ["a JSON file", text('[{"a": 1}]')],
  ["a text", text("Grüße\n")],
  ["an ONNX model", message(field(1, 8), field(2, text("pytorch")), field(7, text("graph"))), "convert it to .tflite"],
  ["TensorFlow's SavedModel", message(field(1, 1), field(2, node)), "convert it to .tflite"],
  ["a TensorFlow graph", message(field(1, node), field(1, node), field(4, text(""))), "convert it to .tflite"],
  ["an ORT model, ONNX Runtime's form", ascii("\x08\0\0\0ORTM"), "convert it to .tflite"],
];

describe("the kind of a file", () => {
  it("is one of those that are known", () => {
    for (const [name, bytes, remedy] of kinds) {
      expect(nameFile(bytes)).toBe(name);
      expect(whyNoModel(bytes)).toBe(`it is ${name}${remedy === undefined ? "" : `; ${remedy}`}`);
    }
  });

  it("is a model, or not known", () => {
    const model = passingModel({ shape: [1] });
    expect(nameFile(model)).toBe("a .tflite model");
    expect(whyNoModel(model)).toBeUndefined();
    // Neither a picture nor a text: each lacks one byte of what it looks like.
    for (const bytes of [Uint8Array.of(0xff, 0xd8), ascii("\x89PNG\r\n\x1a"), ascii("RIFF\0\0\0\0WAVX"), ascii("a\0b")])
      expect(nameFile(bytes)).toBeUndefined();
    // Without a graph, with another version, and cut in a number.
    expect(nameFile(message(field(1, 8), field(2, text("pytorch\0"))))).toBeUndefined();
    expect(nameFile(message(field(1, 2), field(2, node)))).toBeUndefined();
    expect(nameFile(Uint8Array.of(8, 0xff))).toBeUndefined();
  });

  it("is found for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const name = nameFile(bytes);
        expect(name === undefined || name.length > 0).toBe(true);
      }),
    );
  });

  it("is said when a model is loaded", async () => {
    await expect(load(text(pointer))).rejects.toMatchObject({
      code: "NOT_A_MODEL",
      message: expect.stringContaining(
        "the model cannot be used: it is a Git LFS pointer, not the file itself; git lfs pull",
      ),
    });
  });
});
