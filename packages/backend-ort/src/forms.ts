/**
 * The forms of operators that this backend writes, and the choice among them. Products of bytes have two: processors with instructions for
 * them (VNNI) want signed weights. On others such products can saturate in 16 bits, and unsigned weights are exact.
 */
import { choiceRefusal, chooseForm, type FormChoice, type FormFailures, type SelfCheck } from "@nnhal/backend/proof";

/** Operators that multiply bytes, by the kernels that the engine has for them. */
export const productKinds = ["convolution", "grouped convolution", "depthwise convolution", "matrix product"] as const;
export type ProductKind = (typeof productKinds)[number];

/** The types of activations and weights: signed weights, or unsigned ones. */
export const weightForms = ["u8s8", "u8u8"] as const;
export type WeightForm = (typeof weightForms)[number];

/** Operators that have one form each. */
export const operatorForms = {
  "float sums": ["Conv", "ConvTranspose", "Gemm", "MatMul"],
  "float functions": ["Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Elu", "Relu", "Clip"],
  "8-bit arithmetic": ["QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearAveragePool", "QuantizeLinear"],
} as const;
export type OperatorForm = keyof typeof operatorForms;

/** The name of a form in self-checks. `u8s8 pair` is the sum of two products, which witnesses the processor. */
export type FormName = "u8s8 pair" | `${WeightForm} ${ProductKind}` | OperatorForm;

/** The forms that are used. */
export interface Forms {
  readonly choices: readonly FormChoice<FormName>[];
  /** The form of products of bytes; a refusal if none is right. */
  products(kind: ProductKind): WeightForm | { readonly refused: string };
  /** Why an operator must not be used; undefined if it may. */
  refusalOf(operator: string): string | undefined;
}

/** The outcome of a self-check that is not made. */
export const allHold: SelfCheck<FormName> = { processor: "", failures: {} };

/** Chooses forms. `unsignedWeights`: whether products have unsigned weights on any processor. */
export function chooseForms(check: SelfCheck<FormName>, unsignedWeights = false): Forms {
  const kinds = new Map(
    productKinds.map((kind) => {
      const choice = chooseForm(`8-bit ${kind}s`, formsOf(kind, unsignedWeights), check);
      const isWanted = unsignedWeights && choice.reason === undefined;
      return [kind, isWanted ? { ...choice, reason: "unsigned weights are asked for" } : choice];
    }),
  );
  const refusals = new Map<string, string>();
  const others = Object.entries(operatorForms).map(([form, operators]) => {
    // The names of the table are those of its type.
    const choice = chooseForm(form, [form as OperatorForm], check);
    const refusal = choiceRefusal(choice);
    if (refusal !== undefined) for (const operator of operators) refusals.set(operator, refusal);
    return choice;
  });
  return {
    // Operators that have one form are worth a word only if it is wrong.
    choices: [...kinds.values(), ...others.filter(({ reason }) => reason !== undefined)],
    products(kind) {
      const choice = kinds.get(kind);
      const form = weightForms.find((each) => choice?.chosen === `${each} ${kind}`);
      return form ?? { refused: (choice && choiceRefusal(choice)) ?? `${kind}s are unknown` };
    },
    refusalOf: (operator) => refusals.get(operator),
  };
}

/** The forms of products, best first. */
function formsOf(kind: ProductKind, unsignedWeights: boolean): readonly FormName[] {
  const forms = unsignedWeights ? (["u8u8"] as const) : weightForms;
  return forms.map((form): FormName => `${form} ${kind}`);
}

/** Forms that are right on every processor that was tried: unsigned weights. */
export const portableForms: Forms = chooseForms(allHold, true);

export type Failures = FormFailures<FormName>;
