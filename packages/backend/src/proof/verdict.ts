/**
 * The verdict of the known results on an engine: the kinds of computations that they prove, and the operations that an engine refuses if a kind
 * is wrong. What fails is refused, or stated if the HAL leaves it open.
 */
import { type AnyArgs, isExtensionType } from "@nnhal/operations";
import { operandTypes } from "@nnhal/types";
import { choiceRefusal, chooseForm, type FormChoice, type SelfCheck } from "../self-check.ts";
import {
  digits,
  functions,
  infinities,
  layersOf8Bits,
  longSums,
  numbersOf8Bits,
  type ProbeCase,
  tinyNumbers,
} from "./float32-cases.ts";

/** A kind of computation: its forms, best first, each with the cases that prove it, and the operations that need one that holds. */
interface Kind {
  readonly subject: string;
  /** A form without cases always holds. */
  readonly forms: Readonly<Record<string, readonly ProbeCase[]>>;
  /** Returns whether an operation is refused if no form holds. Default: none is refused. */
  needs?(name: string, args: AnyArgs, outputs: AnyArgs): boolean;
}

const layers: readonly string[] = [
  "BATCH_MATMUL",
  "CONV_2D",
  "DEPTHWISE_CONV_2D",
  "FULLY_CONNECTED",
  "GROUPED_CONV_2D",
  "TRANSPOSE_CONV_2D",
];

const kinds: readonly Kind[] = [
  { subject: "float32 numbers", forms: { "of 24 digits": digits }, needs: () => true },
  {
    subject: "long sums",
    forms: { "in float32": longSums },
    needs: (name) => layers.includes(name) || name === "MEAN" || name.startsWith("REDUCE_"),
  },
  {
    subject: "8-bit layers",
    forms: { "of whole numbers in float32": layersOf8Bits },
    needs: (name, args) => layers.includes(name) && hasQuantised(args),
  },
  {
    subject: "8-bit numbers",
    forms: { "as real numbers": numbersOf8Bits },
    needs: (_, args, outputs) => hasQuantised(args) || hasQuantised(outputs),
  },
  { subject: "infinities and NaN", forms: { kept: infinities, "not kept": [] } },
  { subject: "numbers below 2^-126 and -0", forms: { kept: tinyNumbers, "flushed to 0": [] } },
];

/** The name of a form of a kind in the outcome. */
const keyOf = (subject: string, form: string) => `${subject} ${form}`;

/** The key of a function in the outcome. */
export const functionKey = (name: string) => `function ${name}`;

/** Cases that prove one form: the form fails with the first of them. */
export interface ProvenForm {
  /** Its name in the outcome. */
  readonly key: string;
  readonly cases: readonly ProbeCase[];
}

/** The forms of all kinds. */
export function formsOfKinds(): ProvenForm[] {
  return kinds.flatMap(({ subject, forms }) =>
    Object.entries(forms).map(([form, cases]) => ({ key: keyOf(subject, form), cases })),
  );
}

/** A form for each function. */
export function formsOfFunctions(): ProvenForm[] {
  return functions.map((each) => ({ key: functionKey(each.name), cases: [each] }));
}

/** The outcome of a self-check, for an engine. */
export interface Verdict {
  readonly choices: readonly FormChoice[];
  /** Why an operation is refused; undefined if it is not. */
  refusalOf(name: string, args: AnyArgs, outputs: AnyArgs): string | undefined;
}

/** The verdict of an outcome by the keys of forms. */
export function verdictOf(check: SelfCheck): Verdict {
  const chosen = kinds.map((kind) => ({ kind, choice: choiceOf(kind, check) }));
  const wrong = functions.flatMap(({ name }) => {
    const choice = chooseForm(`results of ${name}`, [functionKey(name)], check);
    return choice.reason === undefined ? [] : [{ name, choice }];
  });
  return {
    choices: [...chosen, ...wrong].map(({ choice }) => choice),
    refusalOf(name, args, outputs) {
      const needed = chosen.find(
        ({ kind, choice }) => choice.chosen === undefined && kind.needs?.(name, args, outputs) === true,
      );
      const choice = (needed ?? wrong.find((each) => each.name === name))?.choice;
      return choice && choiceRefusal(choice);
    },
  };
}

function choiceOf({ subject, forms }: Kind, check: SelfCheck): FormChoice {
  const names = Object.keys(forms);
  const failures = Object.fromEntries(names.map((form) => [form, check.failures[keyOf(subject, form)]]));
  return chooseForm(subject, names, { ...check, failures });
}

function hasQuantised(args: AnyArgs): boolean {
  return Object.values(args)
    .flat()
    .some((value) => {
      if (typeof value !== "object" || value === null || !("type" in value)) return false;
      const { type } = value;
      if (isExtensionType(type)) return false;
      const { quantisation } = operandTypes[type];
      return quantisation === "asymmetric" || quantisation === "symmetric" || quantisation === "perChannel";
    });
}

/** The error in an engine's result of a case; undefined if it is correct. */
export function caseFailure(
  { name, expected, orElse, allowance = 0 }: ProbeCase,
  elements: ArrayLike<number>,
): string | undefined {
  const failure = differenceOf(name, expected, elements, allowance);
  return orElse !== undefined && differenceOf(name, orElse, elements, allowance) === undefined ? undefined : failure;
}

/** The first element that differs, as text. An allowance of 0 means equal to the bit. */
export function differenceOf(
  name: string,
  expected: readonly number[],
  elements: ArrayLike<number>,
  allowance = 0,
): string | undefined {
  if (elements.length !== expected.length) {
    return `${name}: expected ${expected.length} elements, got ${elements.length}`;
  }
  for (const [place, right] of expected.entries()) {
    const given = elements[place] ?? Number.NaN;
    const isRight =
      allowance === 0
        ? Object.is(given, right)
        : Math.abs(given - right) <= allowance * Math.max(1, Math.abs(right)) || Object.is(given, right);
    if (!isRight) return `${name}: expected ${show(right)}, got ${show(given)}`;
  }
  return undefined;
}

function show(value: number): string {
  return Object.is(value, -0) ? "-0" : `${value}`;
}
