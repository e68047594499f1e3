/** Operations of extensions: threads help with those of nnhal.tflite, and a vendor's own are computed by one thread. */
import { type ExtensionDefinition, extensionCode, type Operation } from "@nnhal/operations";
import { defineExtension } from "@nnhal/operations/authoring";
import { tfliteOperations } from "@nnhal/operations/tflite";
import { constant, modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { ErrorStatus, type Model, OperandLifeTime } from "@nnhal/types";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compile, openThreads, runOn, sessionOf, someFloats, withLateness } from "./networks.test-helper.ts";
import type { Team } from "./team.ts";

const conv3d: Operation | undefined = tfliteOperations.find(({ name }) => name === "CONV_3D");
if (conv3d === undefined) throw new Error("there is no CONV_3D");

const filter = someFloats(4 * 27);
const ints = [0, 1, 1, 1, 0, 1, 1, 1];
const operandValues = new Uint8Array([
  ...new Uint8Array(filter.buffer),
  ...new Uint8Array(Int32Array.from(ints).buffer),
]);

/** CONV_3D of an extension whose prefix is 1. */
function modelWith(name: string): Model {
  const operands = [
    operand({ dimensions: [1, 4, 6, 5, 1], lifetime: OperandLifeTime.SUBGRAPH_INPUT }),
    constant("TENSOR_FLOAT32", 0, filter.byteLength, { dimensions: [3, 3, 3, 1, 4] }),
    operand({ dimensions: [], lifetime: OperandLifeTime.NO_VALUE }),
    ...ints.map((_, at) => constant("INT32", filter.byteLength + 4 * at, 4)),
    operand({ dimensions: [1, 4, 6, 5, 4], lifetime: OperandLifeTime.SUBGRAPH_OUTPUT }),
  ];
  const output = operands.length - 1;
  const inputs = operands.slice(0, output).map((_, index) => index);
  const type = extensionCode(1, conv3d?.code ?? 0);
  return modelOf(subgraphOf(operands, [{ type, inputs, outputs: [output] }]), {
    operandValues,
    extensionNameToPrefix: [{ name, prefix: 1 }],
  });
}

let team: Team;
beforeAll(async () => {
  team = await openThreads(2);
});
afterAll(() => team.close());

it.each([
  ["nnhal.tflite", 3],
  ["com.example.other", 0],
])("a kernel of %s is divided %i times in 3 runs", async (name, expected) => {
  const extension: ExtensionDefinition = defineExtension({ name, operations: [conv3d] });
  let divided = 0;
  const late = withLateness(team);
  const watched: Team = {
    ...late,
    compute(...given) {
      divided++;
      return late.compute(...given);
    },
  };
  const model = modelWith(name);
  const [alone, together] = [await sessionOf(undefined, [extension]), await sessionOf(watched, [extension])];
  const [one, several] = [await compile(alone, model, [extension]), await compile(together, model, [extension])];
  for (const from of [1, 2, 3]) {
    const inputs = [new Uint8Array(someFloats(120, from).buffer)];
    const result = await runOn(one, model, inputs);
    expect(result.result.status).toBe(ErrorStatus.NONE);
    expect(await runOn(several, model, inputs)).toEqual(result);
  }
  expect(divided).toBe(expected);
});
