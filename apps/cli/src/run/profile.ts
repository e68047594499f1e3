/**
 * `nnhal run --profile`: the time of each operation, for one input or for many.
 */
import { explainPlan } from "../explain/explanation.ts";
import { type MeasuredPlan, measureBatch, measurePlan } from "../explain/measure-plan.ts";
import { prepareInputs } from "../model/inputs.ts";
import { profileNodeData, writeNodeData } from "../model-explorer.ts";
import { type Profile, profileOf } from "../profile.ts";
import { readGivenInputs, type Session } from "./session.ts";

/** The times of one input. */
export async function measureProfile(inputs: readonly Uint8Array[], session: Session): Promise<Profile> {
  const { model, selection, context, note } = session;
  return profileFrom(await measurePlan(model, selection, { onFallback: note }, context.now, inputs), session);
}

/** The times of all files together. They are read again: the inputs of a long batch would fill the memory. */
export async function profileBatch(files: readonly string[], session: Session): Promise<Profile> {
  const { model, selection, context, options, note } = session;
  async function* batch() {
    for (const file of files)
      yield (await prepareInputs(model, readGivenInputs(options, [file]), context)).map(({ bytes }) => bytes);
  }
  return profileFrom(await measureBatch(model, selection, { onFallback: note }, context.now, batch), session);
}

async function profileFrom(
  { plan, measured, untimed }: MeasuredPlan,
  { model, selection, options, context: { devices, cwd }, note }: Session,
): Promise<Profile> {
  if (untimed !== undefined) note(`operations are not timed: ${untimed}`);
  const explained = await explainPlan(plan, selection.devices, measured, {
    definitions: { extensions: await devices.definitions() },
  });
  const profile = profileOf(measured.total, explained.operations);
  const { modelExplorer } = options;
  if (modelExplorer === undefined) return profile;
  return { ...profile, written: await writeNodeData(modelExplorer, profileNodeData(profile, model), cwd) };
}
