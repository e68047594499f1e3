/**
 * Decodes JPEG files of which the header has been read: those of grey and colour with mozjpeg as WebAssembly, those of inks, which it does not
 * read, with jpeg-js.
 */
import { onWhite, type Picture } from "./picture.ts";
import { compileModule, type ImagePixels } from "./wasm-module.ts";

/** Decodes a file of one or three components. Rejects with a RangeError if pixels are damaged or missing. */
export async function decodeJpeg(bytes: Uint8Array): Promise<Picture> {
  const [{ default: create }, { jpeg }] = await Promise.all([
    import("@jsquash/jpeg/codec/dec/mozjpeg_dec.js"),
    import("#jpeg"),
  ]);
  const lines: string[] = [];
  const module = await create(await compileModule("jpeg", jpeg, (line) => void lines.push(line)));
  let pixels: ImagePixels | null = null;
  try {
    // The types of the package are those of browsers.
    pixels = module.decode(new Uint8Array(bytes).buffer, false) as unknown as ImagePixels | null;
  } catch (error) {
    throw new RangeError(problemOf(lines) ?? "it is damaged, or of a kind that is not supported", { cause: error });
  }
  // It tells only the first of its warnings.
  const problem = problemOf(lines);
  if (problem !== undefined) throw new RangeError(problem);
  if (pixels === null) throw new RangeError("it is damaged, or of a kind that is not supported");
  return onWhite(pixels.width, pixels.height, new Uint8Array(pixels.data.buffer));
}

/** The lines of the decoder that mean a picture that is not whole, in our words. Others, such as bytes between parts, do no harm. */
const problems: readonly (readonly [line: RegExp, problem: string])[] = [
  [/premature end|Premature end/, "its pixels end too early"],
  [/bad Huffman code|bogus|Bogus|found marker/, "its pixels are damaged"],
  [/Unsupported JPEG process/, "its kind of compression is not supported"],
  [/missing SOS|no image/, "it has no pixels"],
];

function problemOf(lines: readonly string[]): string | undefined {
  return problems.find(([line]) => lines.some((each) => line.test(each)))?.[1];
}

/** Decodes a file of four components. Rejects with a RangeError. */
export async function decodeInks(bytes: Uint8Array): Promise<Picture> {
  const { default: decode } = await import("jpeg-js/lib/decoder.js");
  try {
    // Its limits have been checked: these are above them.
    const limits = { maxResolutionInMP: Number.MAX_SAFE_INTEGER, maxMemoryUsageInMB: Number.MAX_SAFE_INTEGER };
    const { width, height, data } = decode(bytes, { useTArray: true, tolerantDecoding: false, ...limits });
    return onWhite(width, height, data);
  } catch (error) {
    throw new RangeError("it is damaged, or ends too early", { cause: error });
  }
}
