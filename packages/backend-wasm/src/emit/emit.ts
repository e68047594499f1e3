/**
 * The module of a plan: one function for each step that computes, with the first unit and the one after the last as parameters, and the number of the thread if the
 * plan is for several.
 */

import type { Code } from "../assembler/code.ts";
import { type FunctionSpec, type MemoryImport, writeModule } from "../assembler/module.ts";
import { functionsOf, isControl, type PlainStep, type Plan, type RepeatStep, type Step } from "../plan/plan.ts";
import { emitDepthwise } from "./depthwise.ts";
import { emitElementwise } from "./elementwise.ts";
import { type Regions, threadLocal } from "./kernel.ts";
import { count } from "./loops.ts";
import { emitMove, emitTable } from "./move.ts";
import { emitPool } from "./pool.ts";
import { emitProduct } from "./product.ts";
import { emitReduce } from "./reduce.ts";
import { emitResize } from "./resize.ts";
import { emitRoutine } from "./routine.ts";
import { shareCode } from "./share.ts";

/** The pages of 64 KiB that the memory of a plan has. */
export function pagesOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 65536));
}

/** The exported name of a step's function. */
export function functionName(place: number, { name }: Pick<Step, "name">): string {
  return `${place} ${name}`;
}

/** The bytes of the module of a plan. `relaxed`: it may have instructions of relaxed SIMD. */
export function emitModule(plan: Plan, relaxed?: boolean): Uint8Array<ArrayBuffer> {
  const { memory, functions } = moduleOf(plan, relaxed);
  return writeModule(memory, functions);
}

/** The module of a plan. It imports its memory as `env.memory`. */
export function moduleOf(
  plan: Plan,
  relaxed = false,
): { readonly memory: MemoryImport; readonly functions: readonly FunctionSpec[] } {
  const regions: Regions = {
    address(region) {
      const placed = plan.regions[region];
      if (placed === undefined) throw new RangeError(`the plan has no region ${region}`);
      return placed.address;
    },
    threads: plan.threads,
    relaxed,
    isWide: plan.isWide,
  };
  const functions: FunctionSpec[] = [];
  const params: FunctionSpec["params"] = plan.threads > 1 ? ["i32", "i32", "i32"] : ["i32", "i32"];
  /** Adds a function, after those of its parts, and returns its number. */
  const add = (name: string, step: Step, isExported: boolean): number => {
    if (isControl(step)) throw new TypeError(`${name} is not a function of the module`);
    const parts =
      step.kind === "repeat"
        ? step.steps.map((part, index) => ({
            number: add(`${name} ${index} ${part.name}`, part, false),
            units: part.units,
          }))
        : [];
    const write = (code: Code) => {
      if (step.kind === "repeat") emitRepeat(code, step, regions, parts);
      else emitStep(code, step, regions);
    };
    // V8 11 (Node.js 20) has no registers for more numbers around a loop over floats: with parameters it takes 4% longer.
    const isApart = step.kind === "product" && step.source.isDirect;
    return functions.push({ name, params, results: [], isExported, write, isApart }) - 1;
  };
  for (const [place, step] of functionsOf(plan.steps).entries()) add(functionName(place, step), step, true);
  const pages = pagesOf(plan.memory);
  const shared = plan.threads > 1 && { maximum: pages, shared: true };
  return { memory: { module: "env", name: "memory", pages, ...shared }, functions: shareCode(functions) };
}

/** Emits the turns [begin, end), or the slices of turns, which are the first two parameters. */
function emitRepeat(
  code: Code,
  { turn, slices }: RepeatStep,
  regions: Regions,
  parts: readonly { readonly number: number; readonly units: number }[],
): void {
  const local = code.local("i32");
  const call = (number: number, begin: number, end: number) => {
    code.i32(begin).i32(end);
    if (regions.threads > 1) code.get(threadLocal);
    code.op("call", number);
  };
  count(code, local, { local: 0 }, { local: 1 }, 1, () => {
    code.i32(regions.address(turn)).get(local);
    if (slices !== undefined) code.i32(slices.length).op("i32.div_u");
    code.op("i32.store", 0);
    if (slices === undefined) for (const { number, units } of parts) call(number, 0, units);
    for (const [place, slice] of (slices ?? []).entries()) {
      code
        .get(local)
        .i32(slices?.length ?? 1)
        .op("i32.rem_u")
        .i32(place)
        .op("i32.eq");
      code.if(() => {
        for (const { step, begin, end } of slice) call(parts[step]?.number ?? 0, begin, end);
      });
    }
  });
}

function emitStep(code: Code, step: Exclude<PlainStep, RepeatStep>, regions: Regions): void {
  switch (step.kind) {
    case "elementwise":
      emitElementwise(code, step, regions);
      break;
    case "product":
      emitProduct(code, step, regions);
      break;
    case "depthwise":
      emitDepthwise(code, step, regions);
      break;
    case "pool":
      emitPool(code, step, regions);
      break;
    case "move":
      emitMove(code, step, regions);
      break;
    case "table":
      emitTable(code, step, regions);
      break;
    case "resize":
      emitResize(code, step, regions);
      break;
    case "reduce":
      emitReduce(code, step, regions);
      break;
    case "routine":
      emitRoutine(code, step, regions);
  }
}
