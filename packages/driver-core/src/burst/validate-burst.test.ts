/**
 * The packets that Android's VTS sends to a burst (reference B.1.4): a good packet with one datum removed, added or changed.
 * Each is answered by an error without shapes or times, and the burst goes on.
 */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, type FmqRequestDatum, MeasureTiming, type PreparedModel } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import { prepareAdd } from "./add-model.test-helper.ts";
import { requestData, resultData, resultWords } from "./data.ts";
import { createLocalBurst } from "./local.ts";
import { adder, rawBurst } from "./raw-burst.test-helper.ts";
import { writeRequest } from "./request-codec.ts";
import { writeResult } from "./result-codec.ts";
import { wordsPerSlot } from "./ring.ts";

const operandInformation = {
  hasNoValue: false,
  location: { poolIndex: 0, offset: 0, length: 0 },
  numberOfDimensions: 10,
};

const badData: FmqRequestDatum[] = [
  {
    kind: "packetInformation",
    packetInformation: { packetSize: 10, numberOfInputOperands: 10, numberOfOutputOperands: 10, numberOfPools: 10 },
  },
  { kind: "inputOperandInformation", inputOperandInformation: operandInformation },
  { kind: "inputOperandDimensionValue", inputOperandDimensionValue: 0 },
  { kind: "outputOperandInformation", outputOperandInformation: operandInformation },
  { kind: "outputOperandDimensionValue", outputOperandDimensionValue: 0 },
  { kind: "poolIdentifier", poolIdentifier: 0x7fff_ffff },
  { kind: "measureTiming", measureTiming: MeasureTiming.YES },
];

type Mutation = readonly [what: string, packet: FmqRequestDatum[]];

function* removals(good: readonly FmqRequestDatum[]): Generator<Mutation> {
  for (const index of good.keys()) yield [`without datum ${index}`, good.toSpliced(index, 1)];
}

function* additions(good: readonly FmqRequestDatum[]): Generator<Mutation> {
  for (let index = 0; index <= good.length; index++) {
    for (const bad of badData) yield [`with ${bad.kind} at ${index}`, good.toSpliced(index, 0, bad)];
  }
}

function* changes(good: readonly FmqRequestDatum[]): Generator<Mutation> {
  for (const [index, datum] of good.entries()) {
    for (const bad of badData) {
      const isOnlyAnotherDimension = bad.kind === datum.kind && bad.kind.endsWith("DimensionValue");
      if (isOnlyAnotherDimension || JSON.stringify(bad) === JSON.stringify(datum)) continue;
      yield [`with ${bad.kind} for datum ${index}`, good.toSpliced(index, 1, bad)];
    }
  }
}

describe("ValidateBurst", () => {
  const { memory, request, values } = adder();
  /** The adder's request; its dimensions stay in it, so that there are data of all kinds. */
  const slots = [0];
  const good = requestData(writeRequest(request, MeasureTiming.YES, slots));

  it.each([
    ["removeDatum", [...removals(good)], 9],
    ["addDatum", [...additions(good)], 70],
    ["mutateDatum", [...changes(good)], 59],
  ] as const)("%s", async (_name, mutations, count) => {
    expect(mutations).toHaveLength(count);
    const burst = rawBurst(await prepareAdd());
    expect(burst.memories.slotOf(memory, memory)).toBe(slots[0]);
    for (const [what, packet] of mutations) {
      const { status, outputShapes, timing } = await burst.ask(packet);
      expect(status, what).not.toBe(ErrorStatus.NONE);
      expect({ outputShapes, timing }, what).toEqual({ outputShapes: [], timing: notMeasured });
      expect(burst.hasMore(), what).toBe(false);
      values.set([2, 3, 0]);
      expect((await burst.ask(good)).status, `the good packet after one ${what}`).toBe(ErrorStatus.NONE);
      expect(values[2]).toBe(5);
    }
    await burst.context.close();
  });

  it("a result that does not fit a queue of 8", async () => {
    // The adder's result has four data; eight outputs of rank 1 have eighteen.
    const shapes = Array.from({ length: 8 }, () => ({ dimensions: [1], isSufficient: true }));
    const model: Pick<PreparedModel, "execute"> = {
      execute: async () => ({ status: ErrorStatus.NONE, outputShapes: shapes, timing: notMeasured }),
    };
    const many = { ...request, outputs: shapes.map(() => elementAt(request.outputs, 0)) };
    const regular = await createLocalBurst(model, { direct: false });
    expect(await regular.burst?.compute(many)).toMatchObject({ status: ErrorStatus.NONE, fallback: false });
    const small = await createLocalBurst(model, { direct: false, resultCapacity: 8 });
    expect(await small.burst?.compute(many)).toMatchObject({
      status: ErrorStatus.GENERAL_FAILURE,
      outputShapes: [],
      timing: notMeasured,
      fallback: false,
    });
    await regular.burst?.close();
    await small.burst?.close();
  });

  it("a result holds nothing but its fields", async () => {
    const burst = rawBurst(await prepareAdd());
    burst.memories.slotOf(memory, memory);
    burst.send(good);
    const data = await burst.receive();
    expect(data.map(({ kind }) => kind)).toEqual([
      "packetInformation",
      "operandInformation",
      "operandDimensionValue",
      "executionTiming",
    ]);
    const words = resultWords(data);
    expect([...words.subarray(wordsPerSlot, 2 * wordsPerSlot)]).toEqual([2, 1, 1, 0, 0, 0, 0, 0]);
    expect(
      resultData(
        writeResult({
          status: 0,
          outputShapes: [{ dimensions: [1], isSufficient: true }],
          timing: notMeasured,
        }),
      ).slice(0, 3),
    ).toEqual(data.slice(0, 3));
    await burst.context.close();
  });

  it.each([
    ["inputs", false],
    ["outputs", false],
    ["inputs", true],
    ["outputs", true],
  ] as const)("a request without one of its %s (direct: %s)", async (side, direct) => {
    const { burst } = await createLocalBurst(await prepareAdd(), { direct });
    const fewer = { ...request, [side]: request[side].slice(1) };
    expect(await burst?.compute(fewer, { measure: MeasureTiming.YES, keys: ["key"] })).toMatchObject({
      status: ErrorStatus.INVALID_ARGUMENT,
      outputShapes: [],
      timing: notMeasured,
      fallback: false,
    });
    // A key that is known, one that is not, and the first again.
    await burst?.freeMemory("key");
    await burst?.freeMemory("other");
    await burst?.freeMemory("key");
    expect(await burst?.compute(request)).toMatchObject({ status: ErrorStatus.NONE, fallback: false });
    await burst?.close();
  });
});
