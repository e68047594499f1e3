/**
 * The probes of this backend: one model with all forms, which runs once when the engine opens.
 */
import type { OpenOptions } from "@nnhal/backend";
import { checkForms, currentProcessor, type Probe, type SelfCheck } from "@nnhal/backend/proof";
import type { Ort } from "../engine.ts";
import {
  type FormName,
  type OperatorForm,
  operatorForms,
  productKinds,
  type WeightForm,
  weightForms,
} from "../forms.ts";
import { operatorTrials } from "./operators.ts";
import { addProduct, type ProductCase, productCases, witness } from "./products.ts";
import { type AddTrial, runTrials } from "./trial.ts";

/** Proves the forms of an engine. */
export type CheckEngine = (engine: Ort, options?: OpenOptions) => Promise<SelfCheck<FormName>>;

/** The self-check of an engine on this processor. */
export const checkEngine: CheckEngine = (engine, options) =>
  checkForms({
    engine: `nnhal-ort-1 onnxruntime ${engine.env.versions.node}`,
    processor: currentProcessor(),
    probes: probesOf(engine),
    outcomes: options?.outcomes,
  });

/** The probes, on an engine. The first one also starts it, which takes as long as preparing a network. */
export function probesOf(engine: Ort): readonly Probe<FormName>[] {
  return [
    {
      forms: ["u8s8 pair"],
      isWitness: true,
      async run() {
        const { "u8s8 convolution": failure } = await runTrials(engine, trialsOf([witness], "u8s8"));
        return { "u8s8 pair": failure };
      },
    },
    {
      forms: [
        ...weightForms.flatMap((form) => productKinds.map((kind): FormName => `${form} ${kind}`)),
        // The keys of the table are the forms.
        ...(Object.keys(operatorForms) as OperatorForm[]),
      ],
      async run() {
        // Weights that are inputs of a model are unsigned in any case; constant ones only if signed ones are wrong.
        const variable = productCases.filter(({ isVariable }) => isVariable);
        const trials = [...trialsOf(productCases, "u8s8"), ...trialsOf(variable, "u8u8"), ...operatorTrials];
        const found = await runTrials(engine, trials);
        const needed = productCases.filter(({ kind }) => found[`u8s8 ${kind}`] !== undefined);
        return { ...(await runTrials(engine, trialsOf(needed, "u8u8"))), ...found };
      },
    },
  ];
}

function trialsOf(cases: readonly ProductCase[], form: WeightForm): readonly AddTrial[] {
  return cases.map(
    (one): AddTrial =>
      (builder) =>
        addProduct(builder, one, form),
  );
}
