/** `sharp`, as its documentation says it: what it takes, gives, and how it fails. */
import encoder from "jpeg-js";
import { beforeEach, expect, it, vi } from "vitest";

const loadModule = vi.hoisted(() => vi.fn<(name: string) => Promise<unknown>>());
vi.mock("../platform-node.ts", () => ({ loadModule }));

const jpeg = new Uint8Array(encoder.encode({ width: 8, height: 8, data: Buffer.alloc(256, 90) }, 90).data);

/** A `sharp` whose pixels are given, or that fails. */
function sharpOf(toBuffer: () => Promise<unknown>) {
  const steps: string[] = [];
  const pipeline: Record<string, unknown> = { toBuffer };
  for (const step of ["rotate", "toColourspace", "removeAlpha", "raw"])
    pipeline[step] = (...args: readonly unknown[]) => {
      steps.push([step, ...args].join(" "));
      return pipeline;
    };
  return { steps, module: { default: () => pipeline } };
}

const pixels = (channels: number) => async () => ({
  data: Buffer.from(Uint8Array.from({ length: 2 * channels }, (_, at) => at)),
  info: { width: 2, height: 1, channels },
});

/** A module that has not looked for `sharp` yet. */
async function decoderWith(module: () => Promise<unknown>) {
  vi.resetModules();
  loadModule.mockImplementation(module);
  return (await import("./sharp.ts")).decodeWithSharp;
}

beforeEach(() => {
  loadModule.mockReset();
});

it("decodes JPEG of colour, upright and without alpha", async () => {
  const { steps, module } = sharpOf(pixels(3));
  const decode = await decoderWith(async () => module);
  expect(await decode(jpeg, undefined, undefined)).toEqual({
    width: 2,
    height: 1,
    data: Uint8Array.of(0, 1, 2, 3, 4, 5),
  });
  expect(steps).toEqual(["rotate", "toColourspace srgb", "removeAlpha", "raw"]);
  expect(loadModule).toHaveBeenCalledWith("sharp");
  // It does not decode a part of the size.
  expect(await decode(jpeg, 4, undefined)).toBeUndefined();
  // It is looked for once, and not for what it does not decode here.
  await decode(jpeg, undefined, undefined);
  expect(await decode(Uint8Array.of(0x89, 0x50), undefined, undefined)).toBeUndefined();
  expect(loadModule).toHaveBeenCalledTimes(1);
});

it.each([
  ["is not installed", async () => undefined],
  ["does not load", async () => Promise.reject(new Error("no native library"))],
  ["is something else", async () => ({ default: 5 })],
  ["does not read the file", async () => sharpOf(() => Promise.reject(new Error("broken"))).module],
  ["gives another number of channels", async () => sharpOf(pixels(1)).module],
])("leaves the file to the decoder of this package if it %s", async (_, module) => {
  const decode = await decoderWith(module);
  expect(await decode(jpeg, undefined, undefined)).toBeUndefined();
});

it("ends with the reason of a signal", async () => {
  const decode = await decoderWith(async () => sharpOf(() => new Promise(() => {})).module);
  const reason = new Error("enough");
  await expect(decode(jpeg, undefined, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const decoding = decode(jpeg, undefined, controller.signal);
  setTimeout(() => controller.abort(reason), 1);
  await expect(decoding).rejects.toBe(reason);
});
