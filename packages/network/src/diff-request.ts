/** The options of `Model.diff`, checked and encoded for a session. It is loaded when it is needed. */
import type { DiffReport } from "@nnhal/diff";
import type { OptionNames } from "@nnhal/operations";
import type { DifferTools, DiffOptions, Model } from "./model.ts";
import type { Inputs } from "./run-inputs.ts";
import type { DiffAsked, Session } from "./session.ts";

const diffOptions: OptionNames<DiffOptions> = {
  inputs: true,
  random: true,
  against: true,
  steps: true,
  relative: true,
  onProgress: true,
  signal: true,
};

/** Compares a loaded model. `sessionOf`: the session of a model. Rejects as `Model.diff`. */
export async function diffLoaded(
  session: Session,
  options: DiffOptions,
  sessionOf: (model: Model) => Session | undefined,
  { checkOptions, encodeInputs, infoText, kindOf, ...tools }: DifferTools,
): Promise<DiffReport> {
  const check: DifferTools["check"] = tools.check;
  checkOptions("diff", options, diffOptions);
  const { inputs, random = 1, against = "reference", steps, relative, onProgress, signal } = options;
  const devices = namesDevices(against) ? against : undefined;
  const otherSession = namesDevices(against) ? undefined : sessionOf(against);
  const isCount = Number.isInteger(random) && random >= 1 && random <= 1000;
  check(isCount, "BAD_OPTION", () => `random: expected a whole number from 1 to 1000, got ${random}`);
  check(
    inputs === undefined || options.random === undefined,
    "BAD_OPTION",
    () => "random: expected either inputs or random, got both",
  );
  for (const [name, value] of Object.entries({ steps, relative }))
    check(
      value === undefined || (typeof value === "number" && value >= 0),
      "BAD_OPTION",
      () => `${name}: expected a number of at least 0, got ${value}`,
    );
  check(
    onProgress === undefined || typeof onProgress === "function",
    "BAD_OPTION",
    () => `onProgress: expected a function, got ${kindOf(onProgress)}`,
  );
  check(
    devices !== undefined || otherSession !== undefined,
    "BAD_OPTION",
    () => `against: expected devices, or a model that is loaded, got ${kindOf(against)}`,
  );
  check(
    session.imported !== undefined || !Array.isArray(devices) || devices.every((each) => typeof each === "string"),
    "BAD_OPTION",
    () => "against: devices are passed to a worker by name, such as reference",
  );
  signal?.throwIfAborted();
  const tensors = session.description.inputs;
  const open = tensors.find(({ shape }) => shape.length === 0 || shape.includes(0));
  check(
    inputs !== undefined || open === undefined,
    "WRONG_NAME",
    () => `diff: the input ${open && infoText(open)} has open extents: give \`inputs\``,
  );
  const all: readonly Inputs[] | undefined = inputs;
  check(
    all === undefined || Array.isArray(all),
    "WRONG_TYPE",
    () => `inputs: expected a list of the inputs of each run, got ${kindOf(all)}`,
  );
  check(all?.length !== 0, "BAD_OPTION", () => "inputs: expected the inputs of one run at least, got none");
  const values = all && (await Promise.all(all.map((each) => encodeInputs(each, tensors))));
  const asked = { inputs: values, random, steps, relative, onProgress, signal };
  if (otherSession === undefined) return session.diff({ ...asked, against: devices ?? [] });
  const { imported } = otherSession;
  check(
    imported !== undefined && session.imported !== undefined,
    "BAD_OPTION",
    () => "against: expected two models of this thread, got one in a worker",
  );
  return session.diff({ ...asked, against: otherSession.description.name || "the other model" }, imported);
}

/** True for the devices of a judge: one name, names with commas between them, or a list of names and devices. */
function namesDevices(against: DiffOptions["against"]): against is DiffAsked["against"] {
  return typeof against === "string" || Array.isArray(against);
}
