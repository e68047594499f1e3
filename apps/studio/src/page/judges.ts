/**
 * Devices that can judge the one on which the network runs: those of the same place, since a comparison is made there.
 */
import type { Placement } from "../engine/runner.ts";
import type { MachineDevice } from "../server/sessions.ts";

/** A device as a comparison names it, and as the page does. */
export interface JudgeChoice {
  readonly name: string;
  readonly title: string;
}

/** Names of devices of the browser, the default judge first. */
const browserJudges: readonly string[] = ["reference", "wasm", "tfjs", "gpujs"];

/** The judges of a placement. The first is the reference, unless the network runs on that alone, or the machine lacks it. */
export function judgesOf(
  { devices, isOnMachine }: Pick<Placement, "devices" | "isOnMachine">,
  machine: readonly MachineDevice[] = [],
): readonly JudgeChoice[] {
  const all = isOnMachine
    ? machine
        .filter(({ problem }) => problem === undefined)
        .map(({ name }) => ({ name, title: name }))
        .sort((a, b) => Number(b.name === "nnhal-reference") - Number(a.name === "nnhal-reference"))
    : browserJudges.map((name) => ({ name, title: `nnhal-${name}` }));
  const others = all.filter(({ name }) => name !== devices);
  // A device that is alone is held against itself: nothing else is there.
  return others.length > 0 ? others : all;
}
