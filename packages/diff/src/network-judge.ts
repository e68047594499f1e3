/** A judge that is another network: the float form of a quantised one, say. It is computed operation by operation, as far as it is asked. */
import { type ExtensionDefinition, elementAt } from "@nnhal/operations";
import { defaultAllowance } from "./allowance.ts";
import { computePart, createContext, type DiffContext } from "./context.ts";
import { matchNetworks, type NamedModel } from "./match-networks.ts";
import type { Engine, TensorValue } from "./prepared-part.ts";
import { convertValue, type RecordedValues } from "./recorded.ts";
import { createValues, type RecordedValue } from "./values.ts";

/** Parts of a judge that is another network. */
export interface NetworkJudgeOptions {
  /** The network that is judged. */
  readonly judged: NamedModel;
  /** The network that judges. */
  readonly other: NamedModel;
  /** Computes the network that judges, and what only the judged one has, such as its QUANTIZE. */
  readonly engine: Engine;
  /** For each run, the values of the inputs of the judged network, in order. The other one gets the same real numbers. */
  readonly inputs: readonly (readonly TensorValue[])[];
  /** The extensions of both. Default: none. */
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
}

/** A judge that is another network. */
export interface NetworkJudge extends RecordedValues {
  /** Operands of the judged network that have a counterpart. */
  readonly matched: ReadonlyMap<number, number>;
}

/** Makes a judge of another network. Throws as `matchNetworks`; rejects as `diffModel`. */
export async function createNetworkJudge(options: NetworkJudgeOptions): Promise<NetworkJudge> {
  const { judged, other, engine, inputs, extensions = [] } = options;
  const matched = matchNetworks(judged, other);
  const sides = { judge: engine, suspect: engine, extensions, allowance: defaultAllowance };
  const [own, context] = [await createContext(judged.model, sides), await createContext(other.model, sides)];
  const given = inputs.map((values) => convertInputs(own, context, values));
  const { main } = other.model;
  const values = createValues(other.model, given);
  const writers = writersOf(context);
  /** The values that are asked for later than the last operation that reads them: by operand, how often. */
  const asked = new Map<number, number>();
  for (const counterpart of matched.values()) asked.set(counterpart, (asked.get(counterpart) ?? 0) + inputs.length);
  const late = new Map<number, (TensorValue | undefined)[]>();
  let next = 0;
  /** Computes the operations up to this one. */
  const computeUpTo = async (operation: number) => {
    for (; next <= operation; next++) {
      const part = context.partOf([next]);
      if (part.outputs.length > 0) await computePart(context, engine, part, values.judge);
      for (const operand of elementAt(main.operations, next).outputs) {
        if (asked.has(operand))
          late.set(
            operand,
            values.judge.map((side) => side.get(operand)),
          );
      }
      values.forget(next);
    }
  };
  return {
    matched,
    engine,
    async recordedValue(operand, run): Promise<RecordedValue | undefined> {
      const counterpart = matched.get(operand);
      const writer = counterpart === undefined ? undefined : writers.get(counterpart);
      if (counterpart === undefined || writer === undefined) return undefined;
      await computeUpTo(writer);
      const value = late.get(counterpart)?.[run];
      const rest = (asked.get(counterpart) ?? 0) - 1;
      asked.set(counterpart, rest);
      if (rest <= 0) late.delete(counterpart);
      return value && { ...value, as: context.comparedAs(counterpart) };
    },
  };
}

/** The inputs of the judged network as the other one takes them. */
function convertInputs(own: DiffContext, other: DiffContext, values: readonly TensorValue[]): readonly TensorValue[] {
  const [from, to] = [own.model.main.inputIndexes, other.model.main.inputIndexes];
  return values.map((value, place) => {
    const [held, taken] = [own.comparedAs(elementAt(from, place)), other.comparedAs(elementAt(to, place))];
    const isSame = held?.type === taken?.type && held?.scale === taken?.scale && held?.zeroPoint === taken?.zeroPoint;
    return held === undefined || taken === undefined || isSame ? value : convertValue(value, held, taken);
  });
}

/** The operation that writes each operand. */
function writersOf({ model }: DiffContext): ReadonlyMap<number, number> {
  const writers = new Map<number, number>();
  for (const [index, { outputs }] of model.main.operations.entries())
    for (const operand of outputs) writers.set(operand, index);
  return writers;
}
