/**
 * Self-checks of engines. An engine has several forms of a computation, and some are wrong on some processors or drivers. When it
 * opens, it probes each form on inputs that are chosen to break it, and uses the best form that holds. If none holds, it refuses the
 * operations that need one.
 */
import type { Processor } from "./processor.ts";

/** Errors by form, such as `expected 250, got 126`. A form that is absent holds. */
export type FormFailures<Form extends string = string> = { readonly [name in Form]?: string | undefined };

/** A short computation that proves forms. All probes of an engine together take tens of milliseconds at most. */
export interface Probe<Form extends string = string> {
  /** The names of the forms, such as `convolution s8`: short, and the same in each version of the engine. */
  readonly forms: readonly Form[];
  /**
   * True if it runs even if the outcome is kept. The description of an emulated or virtual processor can be wrong: the
   * outcome of a short probe then differs from the kept one, and all probes run. Default: false.
   */
  readonly isWitness?: boolean;
  /** Returns the errors of the forms. If it throws, all its forms fail with the message. */
  run(): FormFailures<Form> | Promise<FormFailures<Form>>;
}

/** Outcomes of self-checks between processes. Methods that reject count as an empty store. */
export interface OutcomeStore {
  /** The outcome under a key; undefined if there is none. It is not trusted: a member that is not a string is dropped. */
  read(key: string): Promise<FormFailures | undefined>;
  write(key: string, failures: FormFailures): Promise<void>;
}

/** Options of a self-check. */
export interface SelfCheckOptions<Form extends string = string> {
  /** The engine with its version and settings, such as `onnxruntime 1.30.0`. */
  readonly engine: string;
  readonly processor: Processor;
  readonly probes: readonly Probe<Form>[];
  /** Where outcomes are kept. Default: nowhere. Outcomes of a processor without an identity are not kept. */
  readonly outcomes?: OutcomeStore | undefined;
}

/** The outcome of a self-check. */
export interface SelfCheck<Form extends string = string> {
  /** See `Processor.name`. */
  readonly processor: string;
  readonly failures: FormFailures<Form>;
}

/** Runs the probes of an engine one after the other, or takes the outcome that is kept. It does not reject. */
export async function checkForms<Form extends string>(options: SelfCheckOptions<Form>): Promise<SelfCheck<Form>> {
  const { engine, processor, probes, outcomes } = options;
  const key = processor.identity === undefined ? undefined : `${engine} on ${processor.identity}`;
  const kept = key === undefined ? undefined : await outcomes?.read(key).catch(() => undefined);
  const forms = probes.flatMap((probe) => probe.forms);
  const witnessed = await failuresOf(probes.filter(({ isWitness }) => isWitness === true));
  if (kept !== undefined && isSame(witnessed, kept, probes)) {
    return { processor: processor.name, failures: failuresAmong(forms, kept) };
  }
  const others = await failuresOf(probes.filter(({ isWitness }) => isWitness !== true));
  const failures = { ...witnessed, ...others };
  if (key !== undefined) await outcomes?.write(key, failures).catch(() => {});
  return { processor: processor.name, failures };
}

async function failuresOf<Form extends string>(probes: readonly Probe<Form>[]): Promise<FormFailures<Form>> {
  let all: FormFailures<Form> = {};
  for (const { forms, run } of probes) {
    try {
      all = { ...all, ...failuresAmong(forms, await run()) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      all = { ...all, ...failuresAmong(forms, Object.fromEntries(forms.map((form) => [form, message]))) };
    }
  }
  return all;
}

/** The failures of some forms. */
function failuresAmong<Form extends string>(forms: readonly Form[], from: FormFailures): FormFailures<Form> {
  const failures: { [name in Form]?: string } = {};
  for (const form of forms) {
    const failure: unknown = Object.hasOwn(from, form) ? from[form] : undefined;
    if (typeof failure === "string") failures[form] = failure;
  }
  return failures;
}

/** Returns whether the witnesses find the kept outcome for their forms. */
function isSame(witnessed: FormFailures, kept: FormFailures, probes: readonly Probe[]): boolean {
  const forms = probes.filter(({ isWitness }) => isWitness === true).flatMap((probe) => probe.forms);
  return forms.every((form) => (witnessed[form] === undefined) === (kept[form] === undefined));
}

/** The form that an engine uses for one kind of computation. */
export interface FormChoice<Form extends string = string> {
  /** The kind of computation, such as `8-bit convolutions`. */
  readonly subject: string;
  /** The form; undefined if none holds, so that the operations are refused. */
  readonly chosen: Form | undefined;
  /** Why it is not the preferred form, with the processor; undefined if it is. */
  readonly reason?: string;
}

/** Chooses the first form that holds. `forms`: best first, at least one. */
export function chooseForm<Form extends string>(
  subject: string,
  forms: readonly Form[],
  { processor, failures }: SelfCheck<Form>,
): FormChoice<Form> {
  const chosen = forms.find((form) => failures[form] === undefined);
  const failed = forms.slice(0, chosen === undefined ? forms.length : forms.indexOf(chosen));
  if (failed.length === 0) return { subject, chosen };
  const found = failed.map((form) => `${form} is wrong: ${failures[form]}`).join("; ");
  return { subject, chosen, reason: `on the processor ${processor}, ${found}` };
}

/** The reason to refuse an operation that needs a choice without a form; undefined if it has one. */
export function choiceRefusal({ subject, chosen, reason }: FormChoice): string | undefined {
  return chosen === undefined ? `${subject} are not available: ${reason}` : undefined;
}

/**
 * Returns the suffix of an engine's version that keeps caches of different choices apart: empty if each form is the
 * preferred one, else ` forms-` and eight digits that are the same for the same choices.
 */
export function versionSuffix(choices: readonly FormChoice[]): string {
  const others = choices.filter(({ reason }) => reason !== undefined);
  if (others.length === 0) return "";
  const text = others.map(({ subject, chosen = "none" }) => `${subject}=${chosen}`).sort();
  return ` forms-${hashOf(text.join("\n"))}`;
}

/** FNV-1a of 32 bits, as eight hexadecimal digits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
