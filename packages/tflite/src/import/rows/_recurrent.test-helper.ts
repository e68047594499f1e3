/**
 * Models of one recurrent operator.
 */
import {
  changeModel,
  expectValid,
  firstOperator,
  firstSubgraph,
  oneOperator,
  showSubgraph,
  type TensorGiven,
} from "../../_model.test-helper.ts";
import type { ImportedModel } from "../imported-model.ts";

/** Names the tensors of a list p0, p1, …; undefined is an omitted one. */
function nameTensors(tensors: readonly (TensorGiven | undefined)[]) {
  const names = tensors.map((tensor, place) => (tensor ? `p${place}` : ""));
  const given = Object.fromEntries(tensors.flatMap((tensor, place) => (tensor ? [[`p${place}`, tensor]] : [])));
  return { names, given };
}

/** A model of one recurrent operator, with states and intermediate tensors. */
export function recurrent(
  name: string,
  tensors: readonly (TensorGiven | undefined)[],
  outputs: Readonly<Record<string, TensorGiven>>,
  options = {},
  intermediates: Readonly<Record<string, TensorGiven>> = {},
) {
  const { names, given } = nameTensors(tensors);
  const model = oneOperator(name, given, outputs, options);
  const inner = firstSubgraph(oneOperator(name, intermediates, {})).tensors;
  return changeModel(model, ({ tensors: own, inputs }) => {
    const indexOf = (tensor: string) => own.findIndex((one) => one.name === tensor);
    const operator = {
      ...firstOperator(model),
      inputs: names.map((tensor) => (tensor === "" ? -1 : indexOf(tensor))),
      ...(inner.length > 0 && { intermediates: inner.map((_, i) => own.length + i) }),
    };
    const kept = inputs.filter((input) => own[input]?.name !== "p18" || !own[input].isVariable);
    return { tensors: [...own, ...inner], operators: [operator], inputs: kept };
  });
}

/** The operations of an import, which is valid. */
export function lines(imported: ImportedModel): string[] {
  expectValid(imported);
  return showSubgraph(imported.model, imported.model.main);
}
