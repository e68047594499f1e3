/**
 * Reads a model: its file, and what lies outside of its FlatBuffer.
 */
import { whenLoaded } from "@nnhal/operations";
import { hasExternalBuffers, type TfliteOutside, tfliteNeeds } from "@nnhal/tflite";
import { localBeside, openLocal } from "#platform";
import { NetworkError } from "./error.ts";
import { readingModel, readModelFile } from "./local-session.ts";
import { MOST_FLATBUFFER, START_BYTES } from "./port.ts";
import { type ModelBytes, type ModelReadOptions, readSource, reasonOf, type Source } from "./read.ts";
import { oneLine } from "./text.ts";

const tools = {
  ...{ NetworkError, oneLine, readSource, reasonOf, openLocal, localBeside, mostFlatbuffer: MOST_FLATBUFFER },
  needsOf: (bytes: Uint8Array, size?: number) => readingModel(bytes, () => whenLoaded(() => tfliteNeeds(bytes, size))),
};

/** Rejects with a NetworkError, or with the reason of the signal. */
export async function readModel(source: Source, options: ModelReadOptions): Promise<ModelBytes> {
  const { externalBuffers, ...reading } = options;
  let large: ModelBytes | undefined;
  const bytes = await readSource(source, "model", {
    ...reading,
    async onStart(start) {
      if (String.fromCharCode(...start.subarray(4, 8)) !== "TFL3") await readModelFile(start);
    },
    async onLarge(file) {
      large = await (await import("./outside.ts")).readLargeFile(source, file, options, tools);
      return large.bytes;
    },
  });
  if (large !== undefined) return large;
  if (externalBuffers === undefined && !hasExternalBuffers(bytes)) return { bytes };
  return { bytes, outside: await readOutside(source, bytes, options) };
}

/** The bytes that a model needs besides its own. Rejects as `readModel` does. */
export async function readOutside(
  source: Source,
  bytes: Uint8Array,
  options: ModelReadOptions,
): Promise<readonly TfliteOutside[]> {
  return (await import("./outside.ts")).readOutside(source, bytes, options, tools);
}

/**
 * Reads a file that is larger than a FlatBuffer can be; undefined for any other, and for one that cannot be opened. `onStart` receives the
 * first bytes before the others are read; what it throws ends the reading.
 */
export async function readLargeModel(
  source: string | URL,
  options: ModelReadOptions & { readonly onStart: (start: Uint8Array) => void },
): Promise<ModelBytes | undefined> {
  const file = await openLocal(source).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    if (file.size <= MOST_FLATBUFFER) return undefined;
    const start = new Uint8Array(START_BYTES);
    await file.fill(start, 0, options.signal);
    options.onStart(start);
    return await (await import("./outside.ts")).readLargeFile(source, file, options, tools);
  } finally {
    await file.close();
  }
}
