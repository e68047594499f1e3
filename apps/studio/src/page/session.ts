/**
 * The model that runs: where it runs, what it is given, and what came of it. All of it belongs to the open file.
 */
import type { DiffReport } from "@nnhal/diff";
import type { Explanation, Profile } from "@nnhal/network";
import { computed, effect, signal } from "@preact/signals";
import { proxy, transfer } from "comlink";
import type { OtherFile } from "../engine/engine.ts";
import type { GivenInput } from "../engine/given-inputs.ts";
import type { GivenLabels, LabelsView } from "../engine/given-labels.ts";
import type { RunView } from "../engine/run-model.ts";
import type { ModelView, Placement } from "../engine/runner.ts";
import type { Findings } from "./colors.ts";
import { inputFor, isLabelFile } from "./input-kinds.ts";
import { attempt, canStop, colorMode, engine, readFile, sayProgress, shown } from "./store.ts";

/** Where the model runs. */
export const placement = signal<Placement>({
  devices: "auto",
  isOnMachine: false,
  signature: undefined,
  inputShapes: {},
});
/** The prepared model; undefined: it has not been prepared. */
export const prepared = signal<ModelView | undefined>(undefined);
/** Values of inputs by name. Inputs without one are zeros. */
export const inputs = signal<Readonly<Record<string, GivenInput>>>({});
export const lastRun = signal<RunView | undefined>(undefined);
/** Names of classes that were given; undefined: those of the file. */
export const labels = signal<LabelsView | undefined>(undefined);
/** Milliseconds of the last runs, the oldest first. */
export const times = signal<readonly number[]>([]);
/** Runs since the states were those of the start. */
export const steps = signal(0);
export const explanation = signal<Explanation | undefined>(undefined);
export const profile = signal<Profile | undefined>(undefined);
export const difference = signal<DiffReport | undefined>(undefined);
/** All that is known of the operations of the model. */
export const findings = computed<Findings>(() => ({
  explanation: explanation.value,
  profile: profile.value,
  difference: difference.value,
}));
/** The file that the open one is compared with. */
export const other = signal<OtherFile | undefined>(undefined);
/** The open file held against that. */
export const otherDifference = signal<DiffReport | undefined>(undefined);

const MOST_TIMES = 120;
/** Runs of a measurement. */
const RUNS = 20;

/** Forgets what belongs to a model that runs elsewhere or otherwise. */
function forget(): void {
  prepared.value = undefined;
  lastRun.value = undefined;
  times.value = [];
  steps.value = 0;
  explanation.value = undefined;
  profile.value = undefined;
  difference.value = undefined;
  if (["device", "time", "error"].includes(colorMode.value)) colorMode.value = "kind";
}

let nameOfFile: object | undefined;
effect(() => {
  const content = shown.value?.file.subgraphs;
  if (content?.[0]?.tensors === nameOfFile) return;
  nameOfFile = content?.[0]?.tensors;
  inputs.value = {};
  labels.value = undefined;
  other.value = undefined;
  otherDifference.value = undefined;
  placement.value = { ...placement.peek(), signature: undefined, inputShapes: {} };
  forget();
});

/** Chooses where and how the model runs. */
export function place(change: Partial<Placement>): void {
  placement.value = { ...placement.value, ...change };
  forget();
}

/** Gives an input a value. */
export function give(name: string, value: GivenInput): void {
  inputs.value = { ...inputs.value, [name]: value };
}

/** Names the classes, and shows the results of the last run with the names. */
export async function nameClasses(given: GivenLabels | undefined): Promise<void> {
  await attempt("reading the labels", async () => {
    const { view, run } = await engine.nameClasses(given);
    labels.value = view;
    if (lastRun.value !== undefined) lastRun.value = run;
  });
}

/** Names the classes by a file with one label a line. */
export async function giveLabels(file: File): Promise<void> {
  const bytes = await readFile(file);
  if (bytes !== undefined) await nameClasses({ kind: "file", name: file.name, bytes });
}

/** Gives a dropped file to an input, and runs; or names the classes by it. `name`: of the input; default: that which the file fits. */
export async function giveFile(file: string, bytes: Uint8Array, name?: string): Promise<void> {
  const model = await prepare();
  if (name === undefined && model !== undefined && isLabelFile(file, bytes, model.inputs))
    return nameClasses({ kind: "file", name: file, bytes });
  const chosen = name ?? inputFor(bytes, model?.inputs ?? [])?.name;
  if (chosen === undefined) return;
  give(chosen, { kind: "file", bytes });
  await run();
}

/** Gives a text, which the tokeniser of the network cuts, to all inputs, and runs. */
export async function giveText(text: string): Promise<void> {
  for (const { name } of prepared.value?.inputs ?? []) give(name, { kind: "sentence", text });
  await run();
}

/** Prepares the model unless it is. */
export async function prepare(): Promise<ModelView | undefined> {
  if (prepared.value !== undefined) return prepared.value;
  const onStage = proxy((stage: string) => sayProgress(`preparing the model: ${stage}`));
  return attempt("preparing the model", async () => {
    // Another place may be chosen meanwhile.
    while (prepared.value === undefined) {
      const wanted = placement.value;
      const model = await engine.prepare(wanted, onStage);
      if (wanted === placement.value) prepared.value = model;
    }
    return prepared.value;
  });
}

/** Runs the model: once, or so many times. */
export async function run(times = 1): Promise<void> {
  if ((await prepare()) === undefined) return;
  await attempt("running", async () => {
    for (let step = 0; step < times; step++) await runNow();
  });
}

/** Runs the prepared model, and shows nothing meanwhile. Rejects with the problem. */
export async function runNow(): Promise<void> {
  const model = prepared.value;
  const result = await engine.run(inputs.value);
  if (prepared.value !== model) return;
  lastRun.value = result;
  steps.value++;
  times.value = [...times.value, result.time].slice(-MOST_TIMES);
}

/** Sets the states of the model to those of the start. */
export async function resetState(): Promise<void> {
  await attempt("setting the state back", async () => {
    await engine.resetState();
    steps.value = 0;
    lastRun.value = undefined;
  });
}

/** Asks which device computes each operation, and why. */
export async function explain(): Promise<void> {
  if ((await prepare()) === undefined) return;
  await attempt("asking the planner", async () => {
    explanation.value = await engine.explain();
  });
}

/** Measures each operation. */
export async function measure(): Promise<void> {
  if ((await prepare()) === undefined) return;
  await attempt("measuring each operation", async () => {
    explanation.value = await engine.explain();
    profile.value = await engine.profile(inputs.value, RUNS);
  });
}

const onProgress = proxy((done: number, total: number) => sayProgress(`comparing operation ${done} of ${total}`));

/** Holds each operation against another device. */
export async function compare(against: string): Promise<void> {
  if ((await prepare()) === undefined) return;
  await attempt("comparing each operation", async () => {
    explanation.value = await engine.explain();
    canStop.value = true;
    difference.value = await engine.diff(against, inputs.value, onProgress);
  });
}

/** Opens a file to compare the open one with. */
export async function openOther(file: File): Promise<void> {
  await attempt(`opening ${file.name}`, async () => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    other.value = await engine.openOther(transfer(bytes, [bytes.buffer]), file.name);
    otherDifference.value = undefined;
  });
}

/** Holds the open file against the other one. */
export async function compareFiles(): Promise<void> {
  await attempt("comparing the files", async () => {
    canStop.value = true;
    otherDifference.value = await engine.diffOther(placement.value, inputs.value, onProgress);
  });
}
