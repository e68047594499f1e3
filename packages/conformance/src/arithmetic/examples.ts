/**
 * The examples of the suite arithmetic: for each operation its edge cases, and random ones from a seed. The reference kernels are the
 * judge of both. What an example is follows from its name alone, so that it can be made again.
 */
import { elementAt, isFloat, isTensorType, type Operation, type OutputTensor } from "@nnhal/operations";
import { drawOperation, type RandomOperation } from "../random/draw.ts";
import type { Fill } from "../random/elements.ts";
import { exampleOf, kernelOperations } from "../random/examples.ts";
import { createRandom } from "../random/random.ts";
import { runRandomOperation } from "../random/run.ts";
import { type Signature, signaturesOf } from "../random/signature.ts";
import type { Example } from "../vectors/example.ts";
import { allowanceFor, arithmeticIn, takesUnusual } from "./allowances.ts";
import { inputFeatures, outputFeatures } from "./features.ts";

/** An example, and the drawn operation that it is the model of. */
export interface ArithmeticExample {
  readonly example: Example;
  readonly drawn: RandomOperation;
}

/** Options of arithmeticExamples. */
export interface ArithmeticExamplesOptions {
  /** Of the random examples. Default 1. */
  readonly seed?: number | undefined;
  /** The number of random examples of each operation; some of them cannot be models. Default 20. */
  readonly count?: number | undefined;
  /** The operations. Default: those of the HAL that have a kernel. */
  readonly operations?: readonly Operation[] | undefined;
}

/** Draws examples: of each operation the edge cases, then the random ones. */
export function* arithmeticExamples(options: ArithmeticExamplesOptions = {}): Generator<ArithmeticExample> {
  const { seed = 1, count = 20, operations = kernelOperations() } = options;
  for (const operation of operations) {
    yield* edgeExamples(operation);
    yield* randomRound(operation, seed, count);
  }
}

/** The number of draws of one signature and filling among which those with new features are chosen. */
const draws = 12;
/** The same for the first signature of a row of types that has the filling `plain`, which shows most. */
const mostDraws = 64;

/** The edge cases of an operation. */
export function* edgeExamples(operation: Operation): Generator<ArithmeticExample> {
  let index = 0;
  const seen = new Map<string, Set<string>>();
  for (const [place, signature] of signaturesOf(operation).entries()) {
    // The same features with other types are other edge cases; with another number of operands they are not.
    const types = `${operation.forms.indexOf(signature.form)} ${signature.row.join(" ")}`;
    const known = seen.get(types) ?? new Set();
    seen.set(types, known);
    for (const fill of fillsFor(signature)) {
      const limit = fill === "plain" ? mostDraws : draws;
      for (let turn = 0; turn < limit; turn++) {
        const random = createRandom(operation.code * 0x1_0301 + place * 0x2003 + turn * 0x3_ffff + fill.length * 77);
        const whole = drawOperation(signature, random, { spoilt: 0, fill });
        const drawn = fill === "extreme" ? withFinerOutputs(whole, turn % 2 === 0 ? 64 : 1024) : whole;
        const news = [...inputFeatures(drawn)].filter((feature) => !known.has(feature));
        // What the operands do not show, the results may: a few draws of each filling are computed for that.
        if (news.length === 0 && turn >= (fill === "plain" || fill === "fine" ? 3 : 8)) continue;
        const outcome = runRandomOperation(drawn, random, false);
        if (outcome.kind !== "computed") continue;
        const results = [...outputFeatures(outcome.outputs)]
          .map((feature) => `${fill}: ${feature}`)
          .filter((feature) => !known.has(feature));
        if (news.length === 0 && results.length === 0) continue;
        const made = judgedExample(drawn, `arithmetic/${operation.name}/edge/${index}`, outcome.outputs, turn);
        if (made === undefined) continue;
        for (const feature of [...news, ...results]) known.add(feature);
        index++;
        yield { example: made, drawn };
      }
    }
  }
}

/** Quantised outputs with smaller scales, so that results saturate. An operation that fixes its scale refuses them. */
function withFinerOutputs(drawn: RandomOperation, times: number): RandomOperation {
  return {
    ...drawn,
    outputs: drawn.outputs.map((output) => ({ ...output, scale: Math.fround(output.scale / times) })),
  };
}

/** Random examples of an operation, of all its signatures in turn. */
export function* randomRound(operation: Operation, seed: number, count: number): Generator<ArithmeticExample> {
  const signatures = signaturesOf(operation);
  for (let index = 0; index < count; index++) {
    const random = createRandom(seed * 0x1_0001 + operation.code * 0x101 + index * 0x3_ffff);
    // Other seeds begin with other signatures.
    const signature = elementAt(signatures, (seed * 20 + index) % signatures.length);
    const fill = random.pick<Fill>(["plain", "fine"]);
    const drawn = drawOperation(signature, random, { spoilt: 0.1, fill });
    const outcome = runRandomOperation(drawn, random, false);
    if (outcome.kind === "large" || outcome.kind === "long" || outcome.kind === "faulty") continue;
    const name = `arithmetic/${operation.name}/random/${seed}.${index}`;
    const outputs = outcome.kind === "computed" ? outcome.outputs : undefined;
    const example = judgedExample(drawn, name, outputs, index);
    if (example !== undefined) yield { example, drawn };
  }
}

function fillsFor({ operation, inputs, types }: Signature): readonly Fill[] {
  const tensors = inputs.flatMap((param) => types.get(param) ?? []).filter(isTensorType);
  if (!tensors.some(isFloat)) return ["plain", "extreme"];
  if (takesUnusual(operation)) return ["plain", "fine", "unusual"];
  return arithmeticIn(operation)?.kind === "summed" ? ["plain", "fine", "extreme"] : ["plain", "fine"];
}

/** The model of a drawn operation with the results of its reference kernel and their allowances; undefined if there is none. */
export function judgedExample(
  drawn: RandomOperation,
  name: string,
  outputs: readonly OutputTensor[] | undefined,
  seed: number,
): Example | undefined {
  const outcome =
    outputs === undefined ? ({ kind: "refused", reason: "" } as const) : ({ kind: "computed", outputs } as const);
  return exampleOf(drawn, name, createRandom(seed), outcome, (output) => allowanceFor(drawn, output));
}
