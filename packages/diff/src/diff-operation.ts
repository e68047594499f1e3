/** One operation on both sides. */
import { elementAt } from "@nnhal/operations";
import { type Device, DeviceStatus } from "@nnhal/types";
import { boundOf, type Compared, type JudgedOperand } from "./allowance.ts";
import { computePart, type DiffContext, type Judge } from "./context.ts";
import { addDifferences, compareTensors, type Difference, sizesOf } from "./difference.ts";
import { type Engine, messageOf, type PreparedPart, type TensorValue } from "./prepared-part.ts";
import { inTypeOf, type RecordedValues } from "./recorded.ts";
import { requireValue, type SideValues, sameValue, type Values, valuesOf } from "./values.ts";

/** An output of an operation. */
export interface OutputDiff {
  /** Index of the operand in the main subgraph. */
  readonly operand: number;
  /** The operation on the judge's values. Undefined: it was not compared. */
  readonly alone: Difference | undefined;
  /** The operation on the values that the device computed before. Undefined: it was not compared. */
  readonly accumulated: Difference | undefined;
}

/**
 * `right`: within the allowance on the judge's values. `wrong`: beyond it. `failed`: the device did not compute it, although it had said
 * that it could. `gone`: the device has ended before. `judge`: the judge's own device computes it. `drawn`: its results are drawn at random. `unknown`: the judge has no values
 * of it; those of its engine stand in, if it has one. `refused`: the device does not take it, so that the judge's results stand for its own. `unused`: nothing reads its results.
 */
export type OperationVerdict =
  | "right"
  | "wrong"
  | "failed"
  | "gone"
  | "refused"
  | "judge"
  | "drawn"
  | "unknown"
  | "unused";

/** An operation. */
export interface OperationDiff {
  readonly index: number;
  /** The operation of the HAL, or of an extension. */
  readonly operation: string;
  /** The device that computes it; undefined if several do, in an IF or WHILE, or none does. */
  readonly device: string | undefined;
  readonly verdict: OperationVerdict;
  /** The part of its allowance that it uses up on the judge's values: above 1 it is wrong. 0 if it was not compared. */
  readonly excess: number;
  /** Why the device did not compute it, or does not take it. */
  readonly failure?: string;
  readonly outputs: readonly OutputDiff[];
}

/** The values of an operation that was compared. Those without a further word are on the judge's values. */
export interface OperationValues {
  /** Operands of the main subgraph, in the order of `inputs`. */
  readonly operands: readonly number[];
  /** By output of the `OperationDiff`, how its elements are held; undefined: its type is not known. */
  readonly tensors: readonly (Compared | undefined)[];
  /** By run. */
  readonly runs: readonly {
    readonly inputs: readonly TensorValue[];
    /** By output of the `OperationDiff`. */
    readonly expected: readonly TensorValue[];
    readonly actual: readonly TensorValue[];
    /** The same on the values that the device computed before. */
    readonly accumulated: readonly TensorValue[];
  }[];
}

/** Receives each operation that was compared, with its values. */
export type OnOperation = (operation: OperationDiff, values: OperationValues) => Promise<void> | void;

/** The device of an operation in the whole network. */
export interface Assignment {
  /** The device; undefined: several do, in an IF or WHILE. */
  readonly name: string | undefined;
  /** Absent: no device takes it. */
  readonly engine?: Engine | undefined;
  /** Why no device takes it. */
  readonly refusal?: string | undefined;
}

/** The device of each operation. */
export type DeviceOf = (operation: number) => Assignment;

/** Computes an operation on both sides and compares. Rejects if the judge fails. */
export async function diffOperation(
  context: DiffContext,
  index: number,
  values: Values,
  deviceOf: DeviceOf,
  onOperation?: OnOperation,
): Promise<OperationDiff> {
  const { judge, nameOf, isDrawn } = context;
  const part = context.partOf([index]);
  const chosen = deviceOf(index);
  const base = { index, operation: nameOf(index), device: chosen.name, excess: 0 };
  if (part.outputs.length === 0) return { ...base, verdict: "unused", outputs: [] };
  const outputs = part.outputs.map((operand) => ({ operand, alone: undefined, accumulated: undefined }));
  const judged = await judgeOperation(context, part, values);
  if (judged === "none") return { ...base, verdict: "unknown", outputs };
  const copy = () => {
    for (const [run, side] of values.suspect.entries()) adopt(elementAt(values.judge, run), side, part.outputs);
  };
  const { engine } = chosen;
  if (engine === undefined) {
    copy();
    return { ...base, verdict: "refused", failure: chosen.refusal ?? "no device takes it", outputs };
  }
  const gone = findGone(engine);
  if (gone !== undefined) {
    copy();
    return { ...base, verdict: "gone", failure: `${gone.name} is gone`, outputs };
  }
  if (isDrawn(index)) {
    copy();
    return { ...base, verdict: "drawn", outputs };
  }
  const isJudges =
    !isRecorded(judge) && engine.way === judge.way && engine.devices.every((device) => judge.devices.includes(device));
  const isClean = (run: number) =>
    part.inputs.every(
      (operand) => elementAt(values.suspect, run).get(operand) === elementAt(values.judge, run).get(operand),
    );
  if (isJudges && values.judge.every((_, run) => isClean(run))) {
    copy();
    return { ...base, verdict: "judge", outputs };
  }
  let prepared: PreparedPart | undefined;
  let compared: { readonly operation: OperationDiff; readonly values: OperationValues };
  try {
    prepared = await context.prepare(part.model, engine);
    const found: ComparedRun[] = [];
    for (const [run, right] of values.judge.entries()) {
      found.push(await diffRun(context, index, part, prepared, right, elementAt(values.suspect, run)));
    }
    const added = part.outputs.map((operand, place) => {
      const all = found.map((each) => elementAt(each.outputs, place));
      return {
        operand,
        alone: sumOf(all.map(({ alone }) => alone)),
        accumulated: sumOf(all.map(({ accumulated }) => accumulated)),
      };
    });
    const excess = Math.max(0, ...found.map((each) => each.excess));
    const verdict = isJudges ? "judge" : excess > 1 ? "wrong" : judged === "computed" ? "unknown" : "right";
    const operation: OperationDiff = { ...base, verdict, excess, outputs: added };
    compared = {
      operation,
      values: { operands: part.inputs, tensors: part.outputs.map(context.comparedAs), runs: found },
    };
  } catch (error) {
    copy();
    const ended = findGone(engine);
    const failure = `${messageOf(error)}${ended ? `; it ended ${ended.name}` : ""}`;
    return { ...base, verdict: "failed", excess: Number.POSITIVE_INFINITY, failure, outputs };
  } finally {
    prepared?.close();
  }
  await onOperation?.(compared.operation, compared.values);
  return compared.operation;
}

/** The device of an engine that is not there any more: a driver that has crashed, say. */
function findGone({ devices }: Engine): Device | undefined {
  return devices.find((device) => device.getStatus() === DeviceStatus.OFFLINE);
}

/** One run of an operation on the device. */
interface ComparedRun {
  readonly inputs: readonly TensorValue[];
  readonly expected: readonly TensorValue[];
  readonly actual: readonly TensorValue[];
  readonly accumulated: readonly TensorValue[];
  readonly outputs: readonly OutputDiff[];
  readonly excess: number;
}

type Part = ReturnType<DiffContext["partOf"]>;

export function isRecorded(judge: Judge): judge is RecordedValues {
  return "recordedValue" in judge;
}

/**
 * Puts the judge's results of an operation among the values. `none`: they are not known, nor can they be computed. `computed`: they are not
 * known, and the engine of the judge stands in.
 */
async function judgeOperation(
  context: DiffContext,
  part: Part,
  { judge: sides }: Values,
): Promise<"known" | "computed" | "none"> {
  const { judge } = context;
  const hasAll = (operands: readonly number[]) => sides.every((side) => operands.every((operand) => side.has(operand)));
  if (isRecorded(judge)) {
    for (const [run, side] of sides.entries()) {
      for (const operand of part.outputs) {
        const value = await judge.recordedValue(operand, run);
        if (value !== undefined) side.set(operand, inTypeOf(context.comparedAs(operand), value));
      }
    }
  }
  if (!hasAll(part.inputs)) return "none";
  if (hasAll(part.outputs)) return "known";
  const engine = isRecorded(judge) ? judge.engine : judge;
  if (engine === undefined) return "none";
  await computePart(context, engine, part, sides);
  return isRecorded(judge) ? "computed" : "known";
}

/** One run of an operation on the device: on the judge's values, and on its own if these are others. */
async function diffRun(
  context: DiffContext,
  index: number,
  part: Part,
  prepared: PreparedPart,
  right: SideValues,
  own: SideValues,
): Promise<ComparedRun> {
  const inputs = valuesOf(right, part.inputs);
  const expected = valuesOf(right, part.outputs);
  const ownInputs = part.inputs.map((operand) => own.get(operand) ?? requireValue(right.get(operand)));
  const isSame = ownInputs.every((value, place) => value === inputs[place]);
  const actual = await prepared.run(inputs);
  const accumulated = isSame ? actual : await prepared.run(ownInputs);
  const judged = { name: context.nameOf(index), inputs: operandsOf(context, index, right) };
  let excess = 0;
  const outputs = part.outputs.map((operand, place): OutputDiff => {
    const as = context.comparedAs(operand);
    const wanted = elementAt(expected, place);
    const found = elementAt(accumulated, place);
    own.set(operand, sameValue(wanted, found) ? wanted : found);
    if (as === undefined) return { operand, alone: undefined, accumulated: undefined };
    const alone = compareTensors(as, wanted, elementAt(actual, place), (size) =>
      boundOf(as, size, context.allowance, judged),
    );
    excess = Math.max(excess, alone.excess);
    const together = isSame ? alone : compareTensors(as, wanted, found, (size) => boundOf(as, size, context.allowance));
    return { operand, alone, accumulated: together };
  });
  return { inputs, expected, actual, accumulated, outputs, excess };
}

/** The operands of an operation with the sizes of their elements, from which the roundings of a sum follow. */
function operandsOf(context: DiffContext, operation: number, values: SideValues): (JudgedOperand | undefined)[] {
  return elementAt(context.model.main.operations, operation).inputs.map((operand) => {
    const given = values.get(operand);
    if (given === undefined) return context.constantOf(operand);
    const as = context.comparedAs(operand);
    return as && sizesOf(as, given);
  });
}

function adopt(from: SideValues, to: SideValues, operands: readonly number[]): void {
  for (const operand of operands) to.set(operand, requireValue(from.get(operand)));
}

function sumOf(all: readonly (Difference | undefined)[]): Difference | undefined {
  return all.reduce((sum, each) => (sum && each ? addDifferences(sum, each) : undefined));
}
