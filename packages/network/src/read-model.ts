/**
 * Reads a model: its file, or its part of a container, and what lies outside of its FlatBuffer.
 */
import { nearestName, whenLoaded } from "@nnhal/operations";
import {
  hasExternalBuffers,
  mayHaveParts,
  TfliteError,
  type TfliteOutside,
  tfliteNeeds,
  tfliteParts,
} from "@nnhal/tflite";
import { hasFiles, localBeside, openLocal } from "#platform";
import { apart } from "./load-apart.ts";
import { readingModel, readModelFile, tools as shared } from "./local-session.ts";
import { type FileParts, MOST_FLATBUFFER, START_BYTES } from "./port.ts";
import { type ModelBytes, type ModelReadOptions, nameOf, readSource, reasonOf, type Source } from "./read.ts";

const tools = {
  ...shared,
  ...{ nameOf, readSource, reasonOf, openLocal, localBeside, mostFlatbuffer: MOST_FLATBUFFER },
  ...{ TfliteError, mayHaveParts, nearestName, tfliteParts },
  needsOf: (bytes: Uint8Array, named: string, size?: number) =>
    readingModel(bytes, named, () => whenLoaded(() => tfliteNeeds(bytes, size))),
};

/** Rejects with a NetworkError, or with the reason of the signal. */
export async function readModel(source: Source, options: ModelReadOptions): Promise<ModelBytes> {
  const { externalBuffers, part, ...reading } = options;
  let read: ModelBytes | undefined;
  const bytes = await readSource(source, "model", {
    ...reading,
    async onStart(start) {
      if (!isContainer(start, part) && String.fromCharCode(...start.subarray(4, 8)) !== "TFL3")
        await readModelFile(start, nameOf(source));
    },
    onFile: hasFiles
      ? async (file, start) => {
          read = await readApart(source, file, start, options);
          // Says what it is.
          if (read === undefined && isContainer(start, part)) await readModelFile(start, nameOf(source));
          return read?.bytes;
        }
      : undefined,
  });
  if (isContainer(bytes, part)) read ??= await readPart(source, bytes, options);
  if (read !== undefined) return read;
  if (externalBuffers === undefined && !hasExternalBuffers(bytes)) return { bytes };
  return { bytes, outside: await readOutside(source, bytes, options) };
}

function isContainer(start: Uint8Array, part: string | undefined): boolean {
  return part !== undefined || mayHaveParts(start);
}

/** The model of a container, or of a file that is larger than a FlatBuffer can be; undefined for any other. */
async function readApart(
  source: Source,
  file: FileParts,
  start: Uint8Array,
  options: ModelReadOptions,
): Promise<ModelBytes | undefined> {
  if (isContainer(start, options.part)) return readPart(source, file, options);
  if (file.size <= MOST_FLATBUFFER) return undefined;
  return (await apart()).readLargeFile(source, file, options, tools);
}

async function readPart(
  source: Source,
  container: FileParts | Uint8Array,
  options: ModelReadOptions,
): Promise<ModelBytes | undefined> {
  return (await apart()).readPart(source, container, options, tools);
}

/** The bytes that a model needs besides its own. Rejects as `readModel` does. */
export async function readOutside(
  source: Source,
  bytes: Uint8Array,
  options: ModelReadOptions,
): Promise<readonly TfliteOutside[]> {
  return (await apart()).readOutside(source, bytes, options, tools);
}

/**
 * Reads the model of a container, or of a file that is larger than a FlatBuffer can be; undefined for any other, for a container without
 * models, and for a file that cannot be opened. `onStart` receives the first bytes of a large file before the others are read; what it throws
 * ends the reading.
 */
export async function readModelApart(
  source: string | URL,
  options: ModelReadOptions & { readonly onStart: (start: Uint8Array) => void },
): Promise<ModelBytes | undefined> {
  const file = await openLocal(source).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const start = new Uint8Array(Math.min(file.size, START_BYTES));
    await file.fill(start, 0, options.signal);
    if (!isContainer(start, options.part) && file.size > MOST_FLATBUFFER) options.onStart(start);
    return await readApart(source, file, start, options);
  } finally {
    await file.close();
  }
}
