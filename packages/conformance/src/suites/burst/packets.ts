/**
 * Packets that are not requests: VTS's removeDatum, addDatum and mutateDatum, at every place of a good packet. Each is
 * answered by an error without shapes and durations, and the burst goes on.
 */
import { requestData, requestWords, resultData, resultWords, writeRequest } from "@nnhal/driver-core/burst";
import { ErrorStatus, type FmqRequestDatum, MeasureTiming } from "@nnhal/types";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectSame, expectThat, mismatch } from "../check.ts";
import { trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { openRawBurst, type RawBurst } from "./open.ts";

const { NONE } = ErrorStatus;

const operandInformation = {
  hasNoValue: false,
  location: { poolIndex: 0, offset: 0, length: 0 },
  numberOfDimensions: 10,
};

/** One datum of each kind that is wrong nearly everywhere. */
const badData: readonly FmqRequestDatum[] = [
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

type Packet = readonly FmqRequestDatum[];

interface Mutation {
  readonly name: string;
  mutate(good: Packet): readonly { readonly what: string; readonly packet: Packet }[];
}

const mutations: readonly Mutation[] = [
  {
    name: "removeDatum",
    mutate: (good) => good.map((_, index) => ({ what: `without datum ${index}`, packet: good.toSpliced(index, 1) })),
  },
  {
    name: "addDatum",
    mutate: (good) =>
      [...good.keys(), good.length].flatMap((index) =>
        badData.map((bad) => ({ what: `with ${bad.kind} at ${index}`, packet: good.toSpliced(index, 0, bad) })),
      ),
  },
  {
    name: "mutateDatum",
    mutate: (good) =>
      good.flatMap((datum, index) =>
        badData
          .filter((bad) => !isSame(bad, datum))
          .map((bad) => ({ what: `with ${bad.kind} for datum ${index}`, packet: good.with(index, bad) })),
      ),
  },
];

/** Another value of the same dimension is a packet like the one before. */
function isSame(bad: FmqRequestDatum, datum: FmqRequestDatum): boolean {
  const isDimension = bad.kind === datum.kind && bad.kind.endsWith("DimensionValue");
  return isDimension || JSON.stringify(bad) === JSON.stringify(datum);
}

/** A burst, and a packet that it executes; its dimensions are in it, so that there are data of all kinds. */
async function ready(bench: Bench) {
  const small = await smallModel(bench);
  const burst = await openRawBurst(bench, await prepare(bench, small.model));
  const trial = trialFor(small, [sampleValues(small.type, 6)], [2, 3]);
  const outputs = trial.request.outputs.map((output) => ({ ...output, dimensions: [2, 3] }));
  const request = { ...trial.request, outputs };
  const slots = request.pools.map((pool) =>
    pool.kind === "memory" ? burst.slotOf(pool.memory) : mismatch("no memory"),
  );
  return { burst, trial, good: requestData(writeRequest(request, MeasureTiming.YES, slots)) };
}

async function answersError(burst: RawBurst, what: string, packet: Packet | Int32Array): Promise<void> {
  const result = await burst.ask(packet);
  expectThat(result.status !== NONE, () => `a packet ${what}: it is executed`);
  expectExecution(`a packet ${what}`, result, result.status);
  expectThat(result.outputShapes.length === 0, () => `a packet ${what}: there are output shapes`);
  expectThat(!burst.hasMore(), () => `a packet ${what}: it is answered more than once`);
}

async function goesOn(burst: RawBurst, good: Packet): Promise<void> {
  expectExecution("the good packet afterwards", await burst.ask(good), NONE);
}

export const packetCases: readonly SuiteCase[] = [
  ...group("packets", "1.2", {
    async "a good packet is executed"(bench) {
      const { burst, trial, good } = await ready(bench);
      expectExecution("the good packet", await burst.ask(good), NONE);
      trial.check("the good packet");
    },
    async "a result holds its fields, and nothing in the padding"(bench) {
      const { burst, good } = await ready(bench);
      burst.send(good);
      const words = await burst.receiveWords();
      const data = resultData(words);
      const kinds = data.map(({ kind }) => kind);
      const dimensions = Array.from({ length: kinds.length - 3 }, () => "operandDimensionValue");
      expectSame("the data of a result", kinds, [
        "packetInformation",
        "operandInformation",
        ...dimensions,
        "executionTiming",
      ]);
      expectThat(kinds.length === 3 || kinds.length === 5, () => `a result of one output has ${kinds.length} data`);
      expectSame("the words of a result", [...words], [...resultWords(data)]);
    },
    async "a packet of zeros"(bench) {
      const { burst, good } = await ready(bench);
      await answersError(burst, "of zeros", new Int32Array(requestWords(good).length));
      await goesOn(burst, good);
    },
    async "a packet of random words"(bench) {
      const { burst, good } = await ready(bench);
      let state = 1;
      for (let turn = 0; turn < 50; turn++) {
        const words = Int32Array.from(requestWords(good));
        for (let index = 0; index < words.length; index++) {
          state = Math.imul(state, 1_103_515_245) + 12_345;
          words[index] = state;
        }
        await answersError(burst, `of random words, ${turn}`, words);
      }
      await goesOn(burst, good);
    },
  }),
  ...casesOf(
    "packets",
    "1.2",
    mutations,
    ({ name }) => name,
    async (bench, { mutate }) => {
      const { burst, good } = await ready(bench);
      for (const { what, packet } of mutate(good)) {
        await answersError(burst, what, packet);
        await goesOn(burst, good);
      }
    },
  ),
];
