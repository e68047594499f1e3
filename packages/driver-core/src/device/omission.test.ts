/**
 * Which inputs a request may omit.
 */
import { type GraphView, viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { ErrorStatus, type Model, type Operand, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { prepareOn } from "../domains/relu-model.test-helper.ts";
import { openDevice } from "./device.ts";
import { absModel, absRequest } from "./fake-backend.test-helper.ts";
import { mandatoryInputs } from "./omission.ts";

const { INVALID_ARGUMENT } = ErrorStatus;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, SUBGRAPH } = OperandLifeTime;
const nowhere = { poolIndex: 0, offset: 0, length: 0 };

function operand(lifetime: number, facts: Partial<Operand> = {}): Operand {
  const type = OperandType.TENSOR_FLOAT32;
  const none = { kind: "none" } as const;
  return {
    type,
    dimensions: [2],
    numberOfConsumers: 1,
    scale: 0,
    zeroPoint: 0,
    lifetime,
    location: nowhere,
    extraParams: none,
    ...facts,
  };
}

const graphOf = (model: Model): GraphView => viewModel({ model, pools: [] });

/** Two inputs; a subgraph hands the second to an operation. */
function ifModel(inner: readonly number[]): Model {
  const condition = operand(SUBGRAPH_INPUT, { type: OperandType.TENSOR_BOOL8, dimensions: [1] });
  const branch = (index: number) =>
    operand(SUBGRAPH, { type: OperandType.SUBGRAPH, dimensions: [], location: { ...nowhere, offset: index } });
  const subgraph = (read: number) => ({
    operands: [operand(SUBGRAPH_INPUT), operand(SUBGRAPH_INPUT), operand(SUBGRAPH_OUTPUT)],
    operations: [{ type: OperationType.ABS, inputs: [read], outputs: [2] }],
    inputIndexes: [0, 1],
    outputIndexes: [2],
  });
  return {
    ...absModel,
    main: {
      operands: [
        condition,
        branch(0),
        branch(1),
        operand(SUBGRAPH_INPUT),
        operand(SUBGRAPH_INPUT),
        operand(SUBGRAPH_OUTPUT),
      ],
      operations: [{ type: OperationType.IF, inputs: [0, 1, 2, 3, 4], outputs: [5] }],
      inputIndexes: [0, 3, 4],
      outputIndexes: [5],
    },
    referenced: inner.map(subgraph),
  };
}

describe("mandatoryInputs", () => {
  it("names what needs an input, and lets one be omitted that nothing reads", () => {
    expect(mandatoryInputs(graphOf(absModel))).toEqual(["operation 1, ABS, needs it as input"]);
    const main = {
      ...absModel.main,
      operands: [...absModel.main.operands, operand(SUBGRAPH_INPUT)],
      inputIndexes: [2, 0],
    };
    expect(mandatoryInputs(graphOf({ ...absModel, main }))).toEqual([undefined, "operation 1, ABS, needs it as input"]);
  });

  it("lets one be omitted that is optional to the operation that reads it", () => {
    const main = {
      operands: [
        operand(SUBGRAPH_INPUT, { dimensions: [2, 2] }),
        operand(SUBGRAPH_INPUT, { type: OperandType.TENSOR_INT32 }),
        operand(SUBGRAPH_OUTPUT),
      ],
      operations: [{ type: OperationType.TRANSPOSE, inputs: [0, 1], outputs: [2] }],
      inputIndexes: [0, 1],
      outputIndexes: [2],
    };
    expect(mandatoryInputs(graphOf({ ...absModel, main }))).toEqual([
      "operation 1, TRANSPOSE, needs it as input",
      undefined,
    ]);
  });

  it("looks into every branch of an IF", () => {
    const inside = "inside operation 1, IF, operation 1, ABS, needs it as input";
    const condition = "operation 1, IF, needs it as condition";
    expect(mandatoryInputs(graphOf(ifModel([0, 0])))).toEqual([condition, inside, undefined]);
    expect(mandatoryInputs(graphOf(ifModel([1, 1])))).toEqual([condition, undefined, inside]);
    expect(mandatoryInputs(graphOf(ifModel([0, 1])))).toEqual([condition, inside, inside]);
  });
});

it("a request that omits a mandatory input is INVALID_ARGUMENT, and names input, operand and operation", async () => {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const model = await prepareOn(device, absModel);
  const { request } = absRequest();
  const omitted = { hasNoValue: true, location: nowhere, dimensions: [] };
  const refused = {
    status: INVALID_ARGUMENT,
    message: "input 0 (operand 0) is omitted, and operation 1, ABS, needs it as input",
  };
  await expect(model.execute({ ...request, inputs: [omitted] })).resolves.toMatchObject(refused);
  await expect(model.executeFenced?.({ ...request, inputs: [omitted] }, [])).resolves.toMatchObject(refused);
});
