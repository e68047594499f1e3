/**
 * The rehearsal of setting arguments, as the devices rehearse executions: JavaScript compiles a function when it is first called, which
 * takes longer than small networks do. So it is called before somebody waits.
 */
import { type Operand, OperandLifeTime, OperandType, type Request } from "@nnhal/types";
import { nowhere } from "./draft-operand.ts";
import { createArguments } from "./execution-arguments.ts";
import { halOperandFacts } from "./operand-facts.ts";
import { bytesOf } from "./value.ts";

const operand = (lifetime: number): Operand => ({
  type: OperandType.TENSOR_FLOAT32,
  dimensions: [1],
  numberOfConsumers: 0,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: nowhere,
  extraParams: { kind: "none" },
});

/** Sets the arguments of an execution that nobody sees, and gives the request that they make. */
export function rehearseArguments(): Request {
  const what = "rehearseArguments";
  const args = createArguments({
    hal: {
      main: {
        operands: [operand(OperandLifeTime.SUBGRAPH_INPUT), operand(OperandLifeTime.SUBGRAPH_OUTPUT)],
        operations: [],
        inputIndexes: [0],
        outputIndexes: [1],
      },
    },
    factsOf: halOperandFacts,
  });
  for (const side of ["input", "output"] as const) {
    const { name } = args.factsAt(side, 0, what);
    args.set(side, 0, bytesOf(new Float32Array(1), name, what), [], what);
  }
  args.expectAllSet(what);
  args.expectValues(what);
  args.retain();
  const request = args.request();
  const shapes = args.initialShapes();
  args.whyImpossible(shapes);
  args.end(shapes);
  return request;
}
