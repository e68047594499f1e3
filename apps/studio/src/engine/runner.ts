/**
 * Runs of the open model: in this worker, or on devices of the machine. Inputs and outputs are plain values.
 */
import type { DiffReport } from "@nnhal/diff";
import { type Explanation, type LoadOptions, load, type Profile, type TensorInfo } from "@nnhal/network";
import type { Labels } from "@nnhal/network/tensors";
import type { ExtensionDefinition } from "@nnhal/operations";
import { type GivenInputs, readInputs } from "./given-inputs.ts";
import { engineOf, openJudge } from "./judges.ts";
import { portOfMachine } from "./machine-port.ts";
import { createStopwatch, type Phase } from "./phases.ts";
import { type EndedRun, type RunView, runModel } from "./run-model.ts";

const referenceDevice = "nnhal-reference";

/** Where a model is to run, and how. */
export interface Placement {
  /** Names of devices with commas between them, as `nnhal run --device` takes them. */
  readonly devices: string;
  /** True: devices of the machine, behind the program that serves the page. */
  readonly isOnMachine: boolean;
  readonly signature: string | undefined;
  /** Shapes of inputs by name. */
  readonly inputShapes: Readonly<Record<string, readonly number[]>>;
}

/** A model that is ready to run. */
export interface ModelView {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** Values that it keeps from one run to the next. */
  readonly states: readonly TensorInfo[];
  readonly devices: readonly string[];
  /** Milliseconds that preparing it took. */
  readonly time: number;
  readonly phases: readonly Phase[];
  readonly warnings: readonly string[];
}

/** A prepared model. All functions reject with an Error whose message can be shown. */
export interface Runner {
  readonly view: ModelView;
  run(inputs: GivenInputs): Promise<RunView>;
  /** Names the classes of the runs to come; undefined: as the file does. Returns the results of the last run with them; undefined if nothing has run. */
  nameClasses(labels: Labels | undefined): Promise<RunView | undefined>;
  resetState(): Promise<void>;
  explain(): Promise<Explanation>;
  profile(inputs: GivenInputs, runs: number): Promise<Profile>;
  /** The reference judges what the device does not take. */
  diff(against: string, inputs: GivenInputs, watch: Watch): Promise<DiffReport>;
  close(): Promise<void>;
}

/** Observes a comparison, and ends it. */
export interface Watch {
  readonly onProgress: (done: number, total: number) => void;
  readonly signal: AbortSignal;
}

/** A file to prepare. */
export interface RunnableFile {
  readonly bytes: Uint8Array;
  /** Extensions of its custom operators. */
  readonly extensions: readonly ExtensionDefinition[];
}

/** Prepares a model. `labels`: of its first runs; default those of the file. */
export async function prepareModel(
  { bytes, extensions }: RunnableFile,
  placement: Placement,
  onStage: (stage: string) => void,
  labels?: Labels,
): Promise<Runner> {
  const { inputShapes, signature } = placement;
  const warnings: string[] = [];
  const stopwatch = createStopwatch();
  const options: LoadOptions = {
    devices: placement.devices,
    inputShapes,
    onProgress({ stage }) {
      stopwatch.begin(stage);
      onStage(stage);
    },
    onWarning: (message) => warnings.push(message),
    ...(signature !== undefined && { signature }),
    ...placeOf(placement, extensions),
  };
  let model = await load(bytes, options);
  // A text of any length goes to a network that leaves the length open.
  if (Object.keys(inputShapes).length === 0 && model.inputs.some(isOpenText)) {
    await model.close();
    model = await load(bytes, { ...options, dynamicShapes: true });
  }
  const view: ModelView = {
    inputs: model.inputs,
    outputs: model.outputs,
    states: model.state.infos,
    devices: model.devices,
    ...stopwatch.end(),
    warnings,
  };
  let last: EndedRun | undefined;
  return {
    view,
    async run(given) {
      last = await runModel(model, given, labels);
      return last.view;
    },
    async nameClasses(others) {
      labels = others;
      return last?.readWith(others);
    },
    resetState: () => model.state.reset(),
    explain: () => model.explain(),
    profile: async (given, runs) => model.profile({ inputs: await readInputs(model.inputs, given), runs }),
    diff: async (against, given, watch) => {
      const inputs = [await readInputs(model.inputs, { ...noiseFor(model.inputs), ...given })];
      const judge = placement.isOnMachine ? undefined : await openJudge(against, extensions);
      const compare = (judges: readonly string[]) =>
        // Names go to the machine as one text.
        model.diff({ ...watch, inputs, against: judge === undefined ? judges.join(",") : [judge, ...judges.slice(1)] });
      try {
        return await compare([against]).catch((error: unknown) => {
          if (watch.signal.aborted || referenceDevice.endsWith(against)) throw error;
          // It lacks some operations, perhaps.
          return compare([against, referenceDevice]);
        });
      } finally {
        await judge?.close();
      }
    },
    close: () => model.close(),
  };
}

/** True for tokens of a text for which the file has room for one. */
function isOpenText({ tokenizer, type, shape }: TensorInfo): boolean {
  return tokenizer !== undefined && type !== "string" && (shape.at(-1) ?? 0) <= 1;
}

/** The options with the place where the devices are. A port carries no extensions: the machine has its own. */
function placeOf({ devices, isOnMachine }: Placement, extensions: readonly ExtensionDefinition[]): LoadOptions {
  if (isOnMachine) return { worker: portOfMachine };
  const wanted = engineOf(devices);
  return { extensions, ...(wanted && { engines: [wanted] }) };
}

/** Holds each operation of one file, on the reference, against the exact results of another. Rejects if either cannot run. */
export async function diffFiles(
  one: RunnableFile,
  other: RunnableFile,
  { signature, inputShapes }: Pick<Placement, "signature" | "inputShapes">,
  given: GivenInputs,
  watch: Watch,
): Promise<DiffReport> {
  const chosen = { inputShapes, ...(signature !== undefined && { signature }) };
  const model = await load(one.bytes, { devices: "reference", extensions: one.extensions, ...chosen });
  try {
    const against = await load(other.bytes, { devices: "reference", extensions: other.extensions });
    try {
      const inputs = [await readInputs(model.inputs, { ...noiseFor(model.inputs), ...given })];
      return await model.diff({ ...watch, against, inputs });
    } finally {
      await against.close();
    }
  } finally {
    await model.close();
  }
}

/** Noise for each input. */
function noiseFor(infos: readonly TensorInfo[]): GivenInputs {
  return Object.fromEntries(infos.map(({ name }) => [name, { kind: "noise", seed: 1 } as const]));
}
