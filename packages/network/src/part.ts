/**
 * Reads a model of a container: a `.task` or `.litertlm` file. Only that model is read, and what it needs of other parts. It is loaded by need,
 * and gets from its caller what a page has loaded already, as outside.ts does.
 */
import type { TfliteContainer, TfliteError, TflitePart } from "@nnhal/tflite";
import { readLargeFile, readOutside, type Tools } from "./outside.ts";
import type { FileParts } from "./port.ts";
import type { ModelBytes, ModelReadOptions, Source } from "./read.ts";

/** Functions of other modules that this module uses. */
export interface PartTools extends Tools {
  readonly TfliteError: typeof TfliteError;
  mayHaveParts(start: Uint8Array): boolean;
  nearestName(given: string, names: readonly string[]): string | undefined;
  tfliteParts(file: TfliteContainer): Promise<readonly TflitePart[]>;
}

/** The group of external buffers that LiteRT-LM reads from the section of weights that a model has. */
const OWN_WEIGHTS = "tflite_weights";

/** Most names that a message lists. */
const MOST_NAMES = 8;

/**
 * The model of a container that `part` names, or its only one; undefined for a file without models if none is named. External buffers are
 * those that the caller gives, then the parts of these names; those named `tflite_weights` are the weights of the same model. Rejects with a
 * NetworkError, or with the reason of the signal.
 */
export async function readPart(
  source: Source,
  file: FileParts | Uint8Array,
  options: ModelReadOptions,
  tools: PartTools,
): Promise<ModelBytes | undefined> {
  const { maxBytes, signal } = options;
  const { NetworkError, TfliteError, mostFlatbuffer, oneLine } = tools;
  const bytes = file instanceof Uint8Array ? fileOf(file) : file;
  const container: TfliteContainer = {
    size: bytes.size,
    async read(from, length) {
      signal?.throwIfAborted();
      if (file instanceof Uint8Array) return file.subarray(from, from + length);
      const into = new Uint8Array(length);
      await bytes.fill(into, from, signal);
      return into;
    },
  };
  try {
    const parts = await partsOf(container, source, options, tools);
    const part = chosenPart(parts, source, options, tools);
    if (part === undefined) return undefined;
    const within = async (group: string) => {
      const inner = weightsOf(part, parts, group);
      return inner && partFile(inner, bytes);
    };
    const { name, size, offset, packedSize } = part;
    if (size > mostFlatbuffer && offset !== undefined && packedSize === undefined)
      return { ...(await readLargeFile(source, await partFile(part, bytes), options, tools, within)), part: name };
    const most = maxBytes ?? mostFlatbuffer;
    if (size > most) {
      const message = `the part ${quoteName(name, tools)} has ${size} bytes, more than the ${most} of maxBytes`;
      throw new NetworkError("CANNOT_READ", `cannot read the model${tools.nameOf(source)}: ${message}`);
    }
    const model = await part.read();
    return { bytes: model, outside: await readOutside(source, model, options, tools, { within }), part: name };
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    throw new NetworkError(
      "NOT_A_MODEL",
      `the parts of the model${tools.nameOf(source)} cannot be read: ${oneLine(error.message)}`,
      {
        cause: error,
      },
    );
  }
}

/** The parts of a file; none of a file that is not a container, if no part is named. */
async function partsOf(
  container: TfliteContainer,
  source: Source,
  { part }: ModelReadOptions,
  { NetworkError, mayHaveParts, nameOf, oneLine, tfliteParts }: PartTools,
): Promise<readonly TflitePart[]> {
  const start = await container.read(0, Math.min(container.size, START_BYTES));
  const kind = (await import("./file-kind.ts")).nameFile(start);
  // Other programs write models as archives, too.
  if (mayHaveParts(start) && (kind === undefined || kind === "a zip archive")) return tfliteParts(container);
  if (part === undefined) return [];
  const given = `${oneLine(kind ?? "a file of another kind")}${nameOf(source)}`;
  throw new NetworkError("BAD_OPTION", `part: expected a container, a .task or .litertlm file, got ${given}`);
}

/** Bytes that tell what a file is. */
const START_BYTES = 4096;

function chosenPart(
  parts: readonly TflitePart[],
  source: Source,
  { part: wanted }: ModelReadOptions,
  tools: PartTools,
): TflitePart | undefined {
  const { NetworkError, nearestName } = tools;
  const quote = (name: string) => quoteName(name, tools);
  const models = parts.filter(({ type }) => type === "model");
  const names = models.map(({ name }) => name);
  const rest = names.length - MOST_NAMES;
  const listed = `${names.slice(0, MOST_NAMES).map(quote).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
  if (wanted === undefined) {
    if (models.length <= 1) return models[0];
    const message = `the file${tools.nameOf(source)} has ${names.length} models: ${listed}; choose one by its name (part, or --part NAME)`;
    throw new NetworkError("BAD_OPTION", message);
  }
  const found = parts.find(({ name }) => name === wanted);
  if (found?.type === "model") return found;
  if (found !== undefined) {
    const message = `part: ${quote(wanted)} is of type ${quote(found.type)}, expected a model`;
    throw new NetworkError("BAD_OPTION", `${message}: ${names.length === 0 ? "there are none" : listed}`);
  }
  const near = nearestName(wanted, names);
  const help =
    near === undefined ? (names.length === 0 ? "it has no model" : `it has ${listed}`) : `did you mean ${quote(near)}?`;
  throw new NetworkError("BAD_OPTION", `part: the file${tools.nameOf(source)} has no part ${quote(wanted)}; ${help}`);
}

function quoteName(name: string, { oneLine }: PartTools): string {
  return JSON.stringify(oneLine(String(name)).slice(0, 200));
}

/** The part with the constants of a group. */
function weightsOf(model: TflitePart, parts: readonly TflitePart[], group: string): TflitePart | undefined {
  const own = model.name === "model" ? "weights" : `${model.name}.weights`;
  return (
    parts.find(({ name }) => name === group) ??
    (group === OWN_WEIGHTS ? parts.find(({ name, type }) => type === "weights" && name === own) : undefined)
  );
}

/** A part of which ranges are read: where it lies in the container, or unpacked. */
async function partFile({ size, offset, packedSize, read }: TflitePart, container: FileParts): Promise<FileParts> {
  if (offset === undefined || packedSize !== undefined) return fileOf(await read());
  return { size, fill: (into, from, signal) => container.fill(into, offset + from, signal) };
}

function fileOf(bytes: Uint8Array): FileParts {
  return {
    size: bytes.length,
    async fill(into, from) {
      into.set(bytes.subarray(from, from + into.length));
    },
  };
}
