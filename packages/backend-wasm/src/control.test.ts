/** IF and WHILE beside those of the public vectors: limits of time, caches, and subgraphs that are refused. */
import { type GraphView, viewModel } from "@nnhal/backend";
import { modelOf, operand, reference, subgraphOf } from "@nnhal/test-kit/models";
import {
  ErrorStatus,
  ExecutionPreference,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  Priority,
  type Subgraph,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { backend } from "./wasm-backend.ts";

const { TENSOR_INT32, TENSOR_BOOL8, INT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY } = OperandLifeTime;
const { ADD, IF, LESS, WHILE } = OperationType;

const whole = (lifetime: Operand["lifetime"], dimensions = [1]) =>
  operand({ type: TENSOR_INT32, dimensions, lifetime });
const truth = operand({ type: TENSOR_BOOL8, dimensions: [1], lifetime: SUBGRAPH_OUTPUT });
const zero = operand({
  type: INT32,
  dimensions: [],
  lifetime: CONSTANT_COPY,
  location: { poolIndex: 0, offset: 0, length: 4 },
});
const operandValues = new Uint8Array(4);

/** Counts, and the limit. */
const isLess = subgraphOf(
  [whole(SUBGRAPH_INPUT), whole(SUBGRAPH_INPUT), whole(SUBGRAPH_INPUT), truth],
  [{ type: LESS, inputs: [0, 1], outputs: [3] }],
);
/** The count after a step. */
const counted = subgraphOf(
  [whole(SUBGRAPH_INPUT), whole(SUBGRAPH_INPUT), whole(SUBGRAPH_INPUT), zero, whole(SUBGRAPH_OUTPUT)],
  [{ type: ADD, inputs: [0, 2, 3], outputs: [4] }],
);

function loopModel(body: Subgraph, step = [1]): Model {
  const main = subgraphOf(
    [
      reference(0),
      reference(1),
      whole(SUBGRAPH_INPUT),
      whole(SUBGRAPH_INPUT),
      whole(SUBGRAPH_INPUT, step),
      whole(SUBGRAPH_OUTPUT),
    ],
    [{ type: WHILE, inputs: [0, 1, 2, 3, 4], outputs: [5] }],
  );
  return modelOf(main, { referenced: [isLess, body], operandValues });
}

async function sessionOf() {
  const session = await backend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

const viewOf = (model: Model): GraphView => viewModel({ model, pools: [] });
const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };
const context = { now: () => 0n, loopTimeoutDuration: 10n ** 9n, measure: false, random: () => 0 };
const bytesOf = (value: number) => ({ bytes: new Uint8Array(Int32Array.of(value).buffer), dimensions: [1] });

async function reasonOf(graph: GraphView): Promise<string | undefined> {
  const session = await sessionOf();
  const [view] = graph.operations;
  const support = view && session.supports(view, graph.referenced);
  return support?.supported === false ? support.reason : undefined;
}

describe("WHILE", () => {
  const inputs = [1, 10, 4].map(bytesOf);

  it("runs as often as its condition holds, from a cache too", async () => {
    const session = await sessionOf();
    const graph = viewOf(loopModel(counted));
    const first = await session.compile(graph, options);
    const blobs = await first.serialize?.();
    const second = blobs && (await session.restore?.(blobs, graph, options));
    for (const executable of [first, second]) {
      const output = bytesOf(0);
      expect(await executable?.run(inputs, [output], context)).toMatchObject({ status: ErrorStatus.NONE });
      expect([...new Int32Array(output.bytes.buffer)]).toEqual([13]);
      executable?.close();
    }
  });

  it("ends after its limit of time", async () => {
    const session = await sessionOf();
    const executable = await session.compile(viewOf(loopModel(counted)), options);
    let time = 0n;
    const clock = { ...context, now: () => (time += 1000n), loopTimeoutDuration: 100_000n };
    const endless = [1, 10, 0].map(bytesOf);
    expect(await executable.run(endless, [bytesOf(0)], clock)).toMatchObject({
      status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
      message: "WHILE: the loop took longer than 100000 ns",
    });
    const output = bytesOf(0);
    expect(await executable.run(inputs, [output], context)).toMatchObject({ status: ErrorStatus.NONE });
    expect([...new Int32Array(output.bytes.buffer)]).toEqual([13]);
    executable.close();
  });

  it("exchanges values that its body returns in another order", async () => {
    const session = await sessionOf();
    // (a, b, step) becomes (b, a + step, step), as long as a is less than b.
    const [count, limit, step] = [whole(SUBGRAPH_INPUT), whole(SUBGRAPH_INPUT), whole(SUBGRAPH_INPUT)];
    const body: Subgraph = {
      ...subgraphOf(
        [count, limit, step, zero, whole(SUBGRAPH_OUTPUT)],
        [{ type: ADD, inputs: [0, 2, 3], outputs: [4] }],
      ),
      outputIndexes: [1, 4],
    };
    const main = subgraphOf(
      [
        reference(0),
        reference(1),
        ...inputs.map(() => whole(SUBGRAPH_INPUT)),
        whole(SUBGRAPH_OUTPUT),
        whole(SUBGRAPH_OUTPUT),
      ],
      [{ type: WHILE, inputs: [0, 1, 2, 3, 4], outputs: [5, 6] }],
    );
    const graph = viewOf(modelOf(main, { referenced: [isLess, body], operandValues }));
    const executable = await session.compile(graph, options);
    const outputs = [bytesOf(0), bytesOf(0)];
    expect(await executable.run(inputs, outputs, context)).toMatchObject({ status: ErrorStatus.NONE });
    expect(outputs.map(({ bytes }) => new Int32Array(bytes.buffer)[0])).toEqual([10, 5]);
    executable.close();
  });

  it("is refused if its body changes a shape, or is not known", async () => {
    const growing = subgraphOf(
      [
        whole(SUBGRAPH_INPUT, [0]),
        whole(SUBGRAPH_INPUT),
        whole(SUBGRAPH_INPUT, [2]),
        zero,
        whole(SUBGRAPH_OUTPUT, [0]),
      ],
      [{ type: ADD, inputs: [0, 2, 3], outputs: [4] }],
    );
    const graph = viewOf(loopModel(growing, [2]));
    expect(await reasonOf({ ...graph, referenced: [] })).toBe("WHILE: its subgraphs are not known");
    expect(await reasonOf(graph)).toBe("WHILE: its body changes the shape of value 0");
  });
});

describe("IF", () => {
  it("is refused if subgraphs name each other too often", async () => {
    const depth = 12;
    const leaf = subgraphOf(
      [operand({ ...truth, lifetime: SUBGRAPH_INPUT }), whole(SUBGRAPH_INPUT), zero, whole(SUBGRAPH_OUTPUT)],
      [{ type: ADD, inputs: [1, 1, 2], outputs: [3] }],
    );
    const choice = (named: number) =>
      subgraphOf(
        [
          operand({ ...truth, lifetime: SUBGRAPH_INPUT }),
          reference(named, 1),
          reference(named, 1),
          whole(SUBGRAPH_INPUT),
          whole(SUBGRAPH_OUTPUT),
        ],
        [{ type: IF, inputs: [0, 1, 2, 0, 3], outputs: [4] }],
      );
    const referenced = [leaf, ...Array.from({ length: depth }, (_, place) => choice(place))];
    const graph = viewOf(modelOf(choice(depth), { referenced, operandValues }));
    expect(await reasonOf(graph)).toBe("IF: it reaches more than 256 subgraphs");
    const small = viewOf(modelOf(choice(3), { referenced, operandValues }));
    expect(await reasonOf(small)).toBeUndefined();
  });
});
