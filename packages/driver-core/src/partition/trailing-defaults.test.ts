/**
 * Trailing inputs of every operation that may leave some out, as its definition says.
 */
import {
  type Operation as Definition,
  elementAt,
  type Form,
  halTypeName,
  operations,
  type Param,
  typesOfRow,
} from "@nnhal/operations";
import { type Model, type Operand, OperandLifeTime, OperandType, OperationType, type Subgraph } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { whyUnsupported } from "./ask-and-plan.ts";
import { plan } from "./partition.ts";
import { capabilitiesOf, deviceOf, modelOf } from "./planning.test-helper.ts";
import { withoutTrailingDefaults } from "./trailing-defaults.ts";

const { CONSTANT_COPY, CONSTANT_REFERENCE, SUBGRAPH_INPUT, SUBGRAPH_OUTPUT } = OperandLifeTime;

/** The forms that have parameters with defaults, with their legal numbers of inputs. */
const cases = operations.flatMap((definition: Definition) =>
  definition.forms.flatMap((form, index) => {
    const { params, counts } = form;
    const required = params.filter((param) => param.default === undefined).length;
    if (required === params.length) return [];
    const legal = counts ?? params.map((_, place) => place + 1).filter((count) => count >= required);
    return [{ name: `${definition.name}, form ${index}`, definition, form, required, legal: [...legal] }];
  }),
);

/** A model of one operation with all inputs of a form, where the scalars with defaults have some values. */
function modelWith(
  { code }: Definition,
  form: Form,
  valueFor: (param: Param, place: number) => number,
  change: Partial<Operand> = {},
): Model {
  const types = typesOfRow(form, elementAt(form.types, 0));
  const values: number[] = [];
  const operandOf = (param: Param, place: number, isOutput: boolean): Operand => {
    const type = OperandType[halTypeName(types.get(param) ?? "TENSOR_FLOAT32")];
    const isConstant = param.default !== undefined;
    const offset = 4 * values.length;
    if (isConstant) values.push(valueFor(param, place));
    return {
      type,
      dimensions: param.kind === "tensor" ? [1] : [],
      numberOfConsumers: isOutput ? 0 : 1,
      scale: 0,
      zeroPoint: 0,
      lifetime: isOutput ? SUBGRAPH_OUTPUT : isConstant ? CONSTANT_COPY : SUBGRAPH_INPUT,
      location: { poolIndex: 0, offset: isConstant ? offset : 0, length: isConstant ? 4 : 0 },
      extraParams: { kind: "none" },
      ...(isConstant && change),
    };
  };
  const inputs = form.params.map((param, place) => operandOf(param, place, false));
  const outputs = form.outputs.map((param, place) => operandOf(param, place, true));
  const indexes = [...inputs, ...outputs].map((_, index) => index);
  const main: Subgraph = {
    operands: [...inputs, ...outputs],
    operations: [{ type: code, inputs: indexes.slice(0, inputs.length), outputs: indexes.slice(inputs.length) }],
    inputIndexes: indexes.filter((index) => inputs[index]?.lifetime === SUBGRAPH_INPUT),
    outputIndexes: indexes.slice(inputs.length),
  };
  return { ...modelOf(main), operandValues: new Uint8Array(Int32Array.from(values).buffer) };
}

const inputCount = (model: Model) => elementAt(withoutTrailingDefaults(model).main.operations, 0).inputs.length;
const byDefault = ({ default: value }: Param) => Number(value);

it("are those of the operations that Android's runtime shortens", () => {
  expect([...new Set(cases.map(({ definition }) => definition.name))].sort()).toEqual([
    "AVERAGE_POOL_2D",
    "BATCH_TO_SPACE_ND",
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "DEPTH_TO_SPACE",
    "L2_NORMALIZATION",
    "L2_POOL_2D",
    "LOCAL_RESPONSE_NORMALIZATION",
    "MAX_POOL_2D",
    "RESIZE_BILINEAR",
    "RESIZE_NEAREST_NEIGHBOR",
    "SOFTMAX",
    "SPACE_TO_BATCH_ND",
    "SPACE_TO_DEPTH",
  ]);
});

describe.each(cases)("trailing inputs of $name", ({ definition, form, required, legal }) => {
  it("go if all have their defaults, with the constants", () => {
    const model = modelWith(definition, form, byDefault);
    expect(inputCount(model)).toBe(required);
    const {
      operands,
      operations: [operation],
      inputIndexes,
      outputIndexes,
    } = withoutTrailingDefaults(model).main;
    const outputs = model.main.outputIndexes.map((index) => model.main.operands[index]);
    expect(operands).toEqual([...model.main.operands.slice(0, required), ...outputs]);
    expect(outputIndexes).toEqual(outputs.map((_, index) => required + index));
    expect(operation).toEqual({ type: definition.code, inputs: inputIndexes, outputs: outputIndexes });
  });

  it("stay up to the last that has another value", () => {
    for (let kept = required; kept < form.params.length; kept++) {
      const model = modelWith(definition, form, (param, place) => byDefault(param) + Number(place === kept));
      const least = legal.find((count) => count > kept);
      expect(inputCount(model), `with another value of ${elementAt(form.params, kept).name}`).toBe(least);
    }
  });

  it("stay if they are not small constants", () => {
    for (const lifetime of [CONSTANT_REFERENCE, SUBGRAPH_INPUT]) {
      const model = modelWith(definition, form, byDefault, { lifetime });
      expect(withoutTrailingDefaults(model)).toBe(model);
    }
  });
});

describe("a model with trailing defaults", () => {
  const { definition, form, required } = elementAt(cases, 0);
  const model = modelWith(definition, form, byDefault);

  it("is shortened once, in its subgraphs too, and as it was it stays", () => {
    const before = elementAt(model.main.operations, 0).inputs.length;
    const short = withoutTrailingDefaults(model);
    expect(withoutTrailingDefaults(model)).toBe(short);
    expect(withoutTrailingDefaults(short)).toBe(short);
    expect(elementAt(model.main.operations, 0).inputs).toHaveLength(before);
    const outer = { ...modelOf({ ...model.main, operations: [] }), referenced: [model.main] };
    const { referenced } = withoutTrailingDefaults({ ...outer, operandValues: model.operandValues });
    expect(elementAt(elementAt(referenced, 0).operations, 0).inputs).toHaveLength(required);
  });

  it("keeps constants that something else reads", () => {
    const { operands, operations } = model.main;
    const last = elementAt(operations, 0).inputs.at(-1) ?? -1;
    const reader = { type: OperationType.ABS, inputs: [last], outputs: [0] };
    const shared = operands.map((operand, index) => (index === last ? { ...operand, numberOfConsumers: 2 } : operand));
    const main = { ...model.main, operands: shared, operations: [...operations, reader] };
    const short = withoutTrailingDefaults({ ...model, main }).main;
    expect(elementAt(short.operations, 0).inputs).toHaveLength(required);
    const kept = elementAt(elementAt(short.operations, 1).inputs, 0);
    expect(short.operands[kept]).toEqual({ ...operands[last], numberOfConsumers: 1 });
  });

  it("goes to a device that knows nothing of them", async () => {
    const old = deviceOf("old", capabilitiesOf(1));
    const device: typeof old = {
      ...old,
      getSupportedOperations(asked) {
        const answer = old.getSupportedOperations(asked);
        const supported = asked.main.operations.map(({ inputs }) => inputs.length <= required);
        return { ...answer, supported };
      },
    };
    expect(await whyUnsupported(model, [device])).toEqual([undefined]);
    expect(plan(model, [device])).toMatchObject({ steps: [{ device: 0, model: withoutTrailingDefaults(model) }] });
  });
});
