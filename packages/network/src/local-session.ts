/**
 * A model that computes in this thread.
 */
import { extensionName } from "@nnhal/extension-tflite/types";
import { type ExtensionDefinition, elementAt, operationText, vocabularyOf, whenLoaded } from "@nnhal/operations";
import type { Compilation } from "@nnhal/runtime";
import {
  type ImportedModel,
  type ImportOptions,
  importTflite,
  problemsOf,
  type ReadingOptions,
  readTflite,
  TfliteError,
  type TfliteModel,
  type TfliteOutside,
} from "@nnhal/tflite";
import { silentLogger } from "@nnhal/utils";
import { loadModule, makeCacheFolder } from "#platform";
import type { Tools } from "./apart-tools.ts";
import { describeModel } from "./describe.ts";
import { halVersionOf, type SelectionOptions, selectDevices } from "./devices.ts";
import type { DiffParts } from "./diff-session.ts";
import { NetworkError } from "./error.ts";
import type { Extension } from "./extensions.ts";
import { apart } from "./load-apart.ts";
import { type PreparedSession, prepareSession } from "./prepared-session.ts";
import type { Description, Explanation, NamedOperation, Session } from "./session.ts";
import { oneLine } from "./text.ts";

/** Options of opening a model. Those that can be copied go to a worker, too. */
export interface SessionOptions extends Omit<SelectionOptions, "extensions"> {
  /** See `LoadOptions`. */
  readonly extensions?: readonly Extension[] | undefined;
  readonly signature?: string | undefined;
  readonly inputShapes?: Readonly<Record<string, readonly number[]>> | undefined;
  readonly dynamicShapes?: boolean | undefined;
}

/** The same with what was read besides the file. */
export interface OpeningSession extends SessionOptions {
  readonly outside?: readonly TfliteOutside[];
  /** The name of the file in messages, as `nameOf` returns it. Default: empty. */
  readonly named?: string;
}

/** Stage of opening a model. */
export type Stage = "import" | "devices" | "prepare";

/** Callbacks for the caller that opens a model. */
export interface OpeningOptions {
  readonly onStage?: ((stage: Stage) => void) | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
  /** An engine is installed and does not work. */
  readonly onEngineWarning?: ((message: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const tools: Tools = { NetworkError, oneLine, loadModule, problemsOf };

/** Options with the definitions of extensions. */
interface OpenedOptions extends Omit<OpeningSession, "extensions"> {
  readonly extensions: readonly ExtensionDefinition[];
}

/** Opens a model. Rejects with a NetworkError, or with the reason of the signal. */
export async function openLocalSession(
  bytes: Uint8Array,
  given: OpeningSession,
  { onStage, onWarning, onEngineWarning, signal }: OpeningOptions = {},
): Promise<Session> {
  const begin = async (stage: Stage) => {
    onStage?.(stage);
    // A turn of the event loop lets callers show the stage, and abort.
    await new Promise((resolve) => setTimeout(resolve, 0));
    signal?.throwIfAborted();
  };
  await begin("import");
  const { extensions = [], named = "" } = given;
  const options: OpenedOptions = {
    ...given,
    extensions: extensions.length === 0 ? [] : await (await apart()).openExtensions(extensions, tools),
  };
  const importing = importOptions(options);
  const file = { bytes, content: await readModelFile(bytes, named, options) };
  const importFile = (more?: Pick<ImportOptions, "emptyInputs">): Promise<ImportedModel> =>
    whenLoaded(() => importTflite(file.content, { ...importing, ...more })).catch(async (error: unknown) => {
      throw (await apart()).refusalOfImport(error, named, tools);
    });
  const imported = await importFile();
  const tflite = await extensionFor(imported);
  const definitions = [...(tflite ? [tflite] : []), ...options.extensions];
  await begin("devices");
  const selection = await selectDevices(options, tflite, onEngineWarning);
  let prepared: PreparedSession | undefined;
  try {
    await begin("prepare");
    const { cache: folder } = options;
    if (folder !== undefined) makeCacheFolder(folder);
    const cache = folder === undefined ? undefined : { folder, token: await tokenOf(bytes, importing) };
    prepared = await prepareSession({
      imported,
      selection,
      importEmpty: (emptyInputs) => importFile({ emptyInputs }),
      extend: tflite ? undefined : async () => selectDevices(options, await loadExtension()),
      preparing: { log: silentLogger, onFallback: onWarning, cache },
    });
    signal?.throwIfAborted();
    const { deviceNames } = prepared.compilation;
    const description = await whenLoaded(() => describeModel(file, imported, deviceNames, onWarning));
    const openJudge: DiffParts["openJudge"] = (devices) =>
      selectDevices({ ...options, devices }, tflite, onEngineWarning);
    return createSession(description, prepared, { selection, openJudge, extensions: definitions });
  } catch (error) {
    await prepared?.close();
    await selection.close();
    throw await (await apart()).refusalOfModel(
      error,
      { ...file, named, imported, importing, extensions: definitions },
      tools,
    );
  }
}

/** The token of a model in a cache. What makes it is loaded if a model is kept. */
async function tokenOf(bytes: Uint8Array, importing: ImportOptions): Promise<Uint8Array<ArrayBuffer>> {
  return (await import("./model-token.ts")).modelToken(bytes, importing);
}

/** The extension for .tflite, which is loaded if a model needs it. */
async function extensionFor({ model }: ImportedModel): Promise<ExtensionDefinition | undefined> {
  if (!model.extensionNameToPrefix.some(({ name }) => name === extensionName)) return undefined;
  return loadExtension();
}

async function loadExtension(): Promise<ExtensionDefinition> {
  return (await import("@nnhal/extension-tflite")).tfliteExtension;
}

/** The options of the import: they decide what the model is, so they are part of its token in a cache. */
function importOptions(options: OpenedOptions): ImportOptions {
  const { signature, inputShapes, dynamicShapes, outside, extensions } = options;
  return {
    customOperators: extensions,
    halVersion: halVersionOf(options),
    ...(signature !== undefined && { signature }),
    ...(inputShapes !== undefined && { inputShapes }),
    ...(dynamicShapes !== undefined && { dynamicShapes }),
    ...(outside !== undefined && { outside }),
  };
}

/** Reads a file. Rejects with NOT_A_MODEL for bytes that are not a .tflite file, and says what they are. `named`: see OpeningSession. */
export async function readModelFile(
  bytes: Uint8Array,
  named: string,
  { outside }: ReadingOptions = {},
): Promise<TfliteModel> {
  return readingModel(bytes, named, () => whenLoaded(() => readTflite(bytes, outside && { outside })));
}

/** Resolves as `read` does. Rejects with NOT_A_MODEL for bytes that are not a .tflite file. */
export async function readingModel<Result>(
  bytes: Uint8Array,
  named: string,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    const reason = (await import("./file-kind.ts")).whyNoModel(bytes) ?? oneLine(error.message);
    throw new NetworkError("NOT_A_MODEL", `the model${named} cannot be used: ${reason}`, { cause: error });
  }
}

function createSession(
  description: Description,
  prepared: PreparedSession,
  parts: Pick<DiffParts, "selection" | "openJudge" | "extensions">,
): Session {
  const { imported, compilation, states, inTurn } = prepared;
  const { selection, extensions } = parts;
  const nameOf = (model: ImportedModel, ...more: readonly ExtensionDefinition[]) =>
    namedOperations(model, [...extensions, ...more]);
  return {
    description,
    compute: prepared.compute,
    explain: async () => explain(compilation, nameOf(imported)),
    imported,
    diff: async (...asked) =>
      (await apart()).diffSession({ ...parts, name: description.name || "the model", prepared }, ...asked),
    profile: async (values, runs) => (await import("./measure.ts")).profile(prepared, nameOf, values, runs),
    readState: () =>
      inTurn(async () =>
        imported.states.map(({ name }) => {
          const { bytes, dimensions } = states.get(name);
          return { bytes, shape: dimensions };
        }),
      ),
    writeState: (values) =>
      inTurn(async () => {
        for (const [place, value] of values) {
          const { name } = elementAt(imported.states, place);
          if (value === undefined) states.reset([name]);
          else states.set(name, { bytes: value.bytes, dimensions: value.shape });
        }
      }),
    async close() {
      await prepared.close();
      await selection.close();
    },
  };
}

function explain({ plan }: Compilation, named: readonly NamedOperation[]): Explanation {
  const deviceOf = (index: number | undefined) => (index === undefined ? undefined : elementAt(plan.devices, index));
  return {
    operations: plan.choices.map(({ device, reason }, index) => ({
      ...elementAt(named, index),
      device: deviceOf(device),
      reason,
    })),
    steps: plan.steps.map((step) => ({
      device: step.kind === "execution" ? deviceOf(step.device) : undefined,
      operations: step.kind === "execution" ? step.operations : [step.operation],
      predictedTime: step.predictedTime / 1e6,
    })),
    predictedTime: plan.predictedTime / 1e6,
  };
}

/** The operations of a model by name, those of extensions too. */
function namedOperations(
  { model, operators }: ImportedModel,
  extensions: readonly ExtensionDefinition[],
): NamedOperation[] {
  const prefixes = model.extensionNameToPrefix;
  const vocabulary = vocabularyOf(prefixes, { extensions });
  return model.main.operations.map(({ type }, index) => ({
    index,
    operation: operationText(type, prefixes, vocabulary),
    operator: operators[index]?.name ?? "",
  }));
}
