/**
 * The examples of the suite arithmetic: for each operation its edge cases, sums at their limits, those that show a bias, and
 * random ones from a seed. The reference kernels judge all of them. An example follows from its name alone, so it can be made
 * again.
 */
import { arithmeticIn } from "@nnhal/diff";
import { elementAt, isFloat, isTensorType, type Operation, type OutputTensor } from "@nnhal/operations";
import { type LimitCase, limitCases } from "../products/limits.ts";
import { drawOperation, type RandomOperation } from "../random/draw.ts";
import { type Fill, fills } from "../random/elements.ts";
import { exampleOf, kernelOperations } from "../random/examples.ts";
import { createRandom } from "../random/random.ts";
import { runRandomOperation } from "../random/run.ts";
import { type Signature, signaturesOf } from "../random/signature.ts";
import type { Example } from "../vectors/example.ts";
import { allowanceFor, takesUnusual } from "./allowances.ts";
import { biasExample, biasSignatures } from "./bias.ts";
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

/** Draws examples: of each operation the edge cases, those of limits and bias, then the random ones. */
export function* arithmeticExamples(options: ArithmeticExamplesOptions = {}): Generator<ArithmeticExample> {
  const { seed = 1, count = 20, operations = kernelOperations() } = options;
  for (const operation of operations) {
    yield* fixedExamples(operation);
    yield* randomRound(operation, seed, count);
  }
}

/** The examples of an operation that are the same whatever the seed. */
export function* fixedExamples(operation: Operation, wants?: Wants): Generator<ArithmeticExample> {
  yield* edgeExamples(operation, wants);
  yield* limitExamples(operation, wants);
  yield* biasExamples(operation, wants);
}

/** The number of draws of one signature and filling among which those with new features are chosen. */
const draws = 12;
/** The same for the first signature of a row of types that has the filling `plain`, which shows most. */
const mostDraws = 64;

/** The kinds of examples, as their names have them. */
export type ExampleKind = "edge" | "limits" | "bias" | "random";

/** Returns true if examples of a signature and a kind are still wanted. */
export type Wants = (signature: Signature, kind: ExampleKind) => boolean;

/** The edge cases of an operation. */
export function* edgeExamples(operation: Operation, wants: Wants = () => true): Generator<ArithmeticExample> {
  const seen = new Map<string, Set<string>>();
  for (const [place, signature] of signaturesOf(operation).entries()) {
    // The same features with other types are other edge cases; with another number of operands they are not.
    const types = typesOf(signature);
    const known = seen.get(types) ?? new Set();
    seen.set(types, known);
    for (const fill of fillsFor(signature)) {
      const limit = fill === "plain" ? mostDraws : draws;
      for (let turn = 0; turn < limit; turn++) {
        if (!wants(signature, "edge")) break;
        const made = drawEdge(operation, place, fill, turn, (drawn) => {
          const news = [...inputFeatures(drawn)].filter((feature) => !known.has(feature));
          // Features that the operands do not show may appear in the results: a few draws of each filling are computed for
          // that.
          return news.length > 0 || turn < (fill === "plain" || fill === "fine" ? 3 : 8);
        });
        if (made === undefined) continue;
        const { drawn, results } = made;
        const all = [...inputFeatures(drawn), ...[...outputFeatures(results)].map((feature) => `${fill}: ${feature}`)];
        const news = all.filter((feature) => !known.has(feature));
        if (news.length === 0) continue;
        for (const feature of news) known.add(feature);
        yield made;
      }
    }
  }
}

/** Sums of products at their limits, in which intermediate sums of 16 bits saturate. */
export function* limitExamples(operation: Operation, wants: Wants = () => true): Generator<ArithmeticExample> {
  for (const limit of limitCases(operation)) {
    if (wants(limit.signature, "limits")) yield limitExample(limit);
  }
}

/** The one of a name's last part, such as `2.16.3.pairs`; undefined if there is none. */
export function limitNamed(operation: Operation, name: string): ArithmeticExample | undefined {
  const limit = [...limitCases(operation)].find((known) => known.name === name);
  return limit && limitExample(limit);
}

function limitExample({ name, signature, draw }: LimitCase): ArithmeticExample {
  const drawn = draw();
  const outcome = runRandomOperation(drawn, createRandom(1), false);
  const title = `arithmetic/${signature.operation.name}/limits/${name}`;
  // Operands of different numbers are constants and inputs in turn.
  const example =
    outcome.kind === "computed" ? judgedExample(drawn, title, outcome.outputs, name.length + title.length) : undefined;
  if (example === undefined) throw new Error(`${title} has no result`);
  return { example, drawn };
}

/** Examples that show a bias: one for each row of quantised types. */
export function* biasExamples(operation: Operation, wants: Wants = () => true): Generator<ArithmeticExample> {
  for (const { place, signature } of biasSignatures(operation)) {
    const found = wants(signature, "bias") ? biasExample(place, signature) : undefined;
    if (found === undefined) continue;
    const { drawn, outputs, bias, name } = found;
    const [first] = outputs;
    const title = `arithmetic/${operation.name}/bias/${name}`;
    const outcome = { kind: "computed", outputs } as const;
    const example = exampleOf(drawn, title, createRandom(place), outcome, (output) => ({
      ...allowanceFor(drawn, output),
      ...(output === first && { bias }),
    }));
    if (example !== undefined) yield { example, drawn };
  }
}

/** The one of a name's last part, such as `2.1`; undefined if there is none. */
export function biasNamed(operation: Operation, name: string): ArithmeticExample | undefined {
  return [...biasExamples(operation)].find(({ example }) => example.name.endsWith(`/bias/${name}`));
}

/** The form and the types of a signature. */
export function typesOf({ operation, form, row }: Signature): string {
  return `${operation.forms.indexOf(form)} ${row.join(" ")}`;
}

/** The edge case of a name's last part, such as `3.plain.12`; undefined if there is none. */
export function edgeNamed(operation: Operation, name: string): ArithmeticExample | undefined {
  const [place, fill, turn] = name.split(".");
  const known = fills.find((one) => one === fill);
  return known && drawEdge(operation, Number(place), known, Number(turn), () => true);
}

/** Draws and computes an edge case, unless it is not wanted, or its operands have no result or no model. */
function drawEdge(
  operation: Operation,
  place: number,
  fill: Fill,
  turn: number,
  wanted: (drawn: RandomOperation) => boolean,
): (ArithmeticExample & { readonly results: readonly OutputTensor[] }) | undefined {
  const signature = signaturesOf(operation)[place];
  if (signature === undefined) return undefined;
  const random = createRandom(operation.code * 0x1_0301 + place * 0x2003 + turn * 0x3_ffff + fill.length * 77);
  const whole = drawOperation(signature, random, { spoilt: 0, fill });
  const drawn = fill === "extreme" ? withFinerOutputs(whole, turn % 2 === 0 ? 64 : 1024) : whole;
  if (!wanted(drawn)) return undefined;
  const outcome = runRandomOperation(drawn, random, false);
  if (outcome.kind !== "computed") return undefined;
  const name = `arithmetic/${operation.name}/edge/${place}.${fill}.${turn}`;
  const example = judgedExample(drawn, name, outcome.outputs, turn);
  return example && { example, drawn, results: outcome.outputs };
}

/** Quantised outputs with smaller scales, so that results saturate. An operation that fixes its scale refuses them. */
function withFinerOutputs(drawn: RandomOperation, times: number): RandomOperation {
  return {
    ...drawn,
    outputs: drawn.outputs.map((output) => ({ ...output, scale: Math.fround(output.scale / times) })),
  };
}

/** Random examples of an operation, of all its signatures in turn. */
export function* randomRound(
  operation: Operation,
  seed: number,
  count: number,
  wants: Wants = () => true,
): Generator<ArithmeticExample> {
  const signatures = signaturesOf(operation);
  for (let index = 0; index < count; index++) {
    const random = createRandom(seed * 0x1_0001 + operation.code * 0x101 + index * 0x3_ffff);
    // Other seeds begin with other signatures.
    const signature = elementAt(signatures, (seed * 20 + index) % signatures.length);
    if (!wants(signature, "random")) continue;
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
