/** The module of a plan: one function for each step, with the first unit and the one after the last as parameters. */

import type { Code } from "../assembler/code.ts";
import { type FunctionSpec, writeModule } from "../assembler/module.ts";
import type { Plan, Step } from "../plan/plan.ts";
import { emitDepthwise } from "./depthwise.ts";
import { emitElementwise } from "./elementwise.ts";
import type { Regions } from "./kernel.ts";
import { emitMove, emitTable } from "./move.ts";
import { emitPool } from "./pool.ts";
import { emitProduct } from "./product.ts";
import { emitReduce } from "./reduce.ts";
import { emitResize } from "./resize.ts";

/** The pages of 64 KiB that the memory of a plan has. */
export function pagesOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 65536));
}

/** The exported name of a step's function. */
export function functionName(place: number, { name }: Pick<Step, "name">): string {
  return `${place} ${name}`;
}

/** The bytes of the module of a plan. It imports its memory as `env.memory`. */
export function emitModule(plan: Plan): Uint8Array<ArrayBuffer> {
  const regions: Regions = {
    address(region) {
      const placed = plan.regions[region];
      if (placed === undefined) throw new RangeError(`the plan has no region ${region}`);
      return placed.address;
    },
  };
  const functions = plan.steps.map(
    (step, place): FunctionSpec => ({
      name: functionName(place, step),
      params: ["i32", "i32"],
      results: [],
      isExported: true,
      write: (code) => emitStep(code, step, regions),
    }),
  );
  return writeModule({ module: "env", name: "memory", pages: pagesOf(plan.memory) }, functions);
}

function emitStep(code: Code, step: Step, regions: Regions): void {
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
  }
}
