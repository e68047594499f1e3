import { ErrorStatus, type FmqRequestDatum, MeasureTiming, type Request, type RequestArgument } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { burstRequest, burstResult } from "./arbitraries.test-helper.ts";
import { requestData, requestWords, resultData, resultWords } from "./data.ts";
import { type BurstRequest, readRequest, requestPacketSize, writeRequest } from "./request-codec.ts";
import { burstStatus, readResult, writeResult } from "./result-codec.ts";
import { wordsPerSlot } from "./ring.ts";

function packetOf({ inputs, outputs, slots, measure }: BurstRequest): FmqRequestDatum[] {
  return requestData(writeRequest({ inputs, outputs, pools: [] }, measure, slots));
}

const argument: RequestArgument = {
  hasNoValue: false,
  location: { poolIndex: 1, offset: 2, length: 3 },
  dimensions: [4, 5],
};
const omitted: RequestArgument = {
  hasNoValue: true,
  location: { poolIndex: 0, offset: 0, length: 0 },
  dimensions: [],
};

describe("request packets", () => {
  it("have the HAL's data in the HAL's order", () => {
    const request: Request = { inputs: [argument, omitted], outputs: [{ ...argument, dimensions: [7] }], pools: [] };
    expect(requestData(writeRequest(request, MeasureTiming.YES, [-3, 8]))).toEqual([
      {
        kind: "packetInformation",
        packetInformation: { packetSize: 10, numberOfInputOperands: 2, numberOfOutputOperands: 1, numberOfPools: 2 },
      },
      {
        kind: "inputOperandInformation",
        inputOperandInformation: { hasNoValue: false, location: argument.location, numberOfDimensions: 2 },
      },
      { kind: "inputOperandDimensionValue", inputOperandDimensionValue: 4 },
      { kind: "inputOperandDimensionValue", inputOperandDimensionValue: 5 },
      {
        kind: "inputOperandInformation",
        inputOperandInformation: { hasNoValue: true, location: omitted.location, numberOfDimensions: 0 },
      },
      {
        kind: "outputOperandInformation",
        outputOperandInformation: { hasNoValue: false, location: argument.location, numberOfDimensions: 1 },
      },
      { kind: "outputOperandDimensionValue", outputOperandDimensionValue: 7 },
      { kind: "poolIdentifier", poolIdentifier: -3 },
      { kind: "poolIdentifier", poolIdentifier: 8 },
      { kind: "measureTiming", measureTiming: MeasureTiming.YES },
    ]);
  });

  it("come back as they went", () => {
    fc.assert(
      fc.property(burstRequest, (request) => {
        const data = packetOf(request);
        expect(requestWords(data)).toEqual(writeRequest({ ...request, pools: [] }, request.measure, request.slots));
        expect(readRequest(requestWords(data))).toEqual(request);
      }),
    );
  });

  it("consist of whole slots: one word less or more is malformed", () => {
    const words = requestWords(
      packetOf({ inputs: [argument], outputs: [argument], slots: [0], measure: MeasureTiming.NO }),
    );
    for (const length of [words.length - 1, words.length + 1]) {
      const other = new Int32Array(length);
      other.set(words.subarray(0, length));
      expect(readRequest(other)).toEqual({ malformed: `the packet has ${length} words, which are not whole slots` });
    }
  });

  it("are as long as requestPacketSize says", () => {
    fc.assert(
      fc.property(burstRequest, ({ inputs, outputs, slots, measure }) => {
        const pools = slots.map((token) => ({ kind: "token", token }) as const);
        const request = { inputs, outputs, pools };
        expect(requestData(writeRequest(request, measure, slots))).toHaveLength(requestPacketSize(request));
      }),
    );
  });

  it("are malformed when cut off behind any datum, or any word less or more", () => {
    fc.assert(
      fc.property(burstRequest, (request) => {
        const words = requestWords(packetOf(request));
        for (let end = 0; end < words.length; end += wordsPerSlot) {
          expect(readRequest(words.subarray(0, end))).toHaveProperty("malformed");
        }
        expect(readRequest(Int32Array.of(...words, 0, 0, 0, 0, 0, 0, 0, 0))).toHaveProperty("malformed");
        expect(readRequest(Int32Array.of(...words, ...words.subarray(-8)))).toHaveProperty("malformed");
      }),
    );
  });

  it("never crash a reader, whichever words are damaged", () => {
    fc.assert(
      fc.property(
        burstRequest,
        fc.array(fc.tuple(fc.nat(), fc.integer()), { minLength: 1, maxLength: 4 }),
        (request, damage) => {
          const words = requestWords(packetOf(request));
          for (const [at, value] of damage) words[at % words.length] = value;
          const read = readRequest(words);
          // A damaged packet that is still read as a request has as many data as before: nothing is invented.
          if (!("malformed" in read)) expect(packetOf(read)).toHaveLength(words.length / wordsPerSlot);
          else expect(read.malformed).not.toBe("");
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("never crash a reader, whatever the words are", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.integer(), fc.integer({ min: 0, max: 8 })), { maxLength: 64 }), (values) => {
        const words = Int32Array.from(values.slice(0, values.length - (values.length % wordsPerSlot)));
        expect(readRequest(words)).toBeDefined();
      }),
    );
  });

  const good = () => packetOf({ inputs: [argument], outputs: [argument], slots: [0, 1], measure: MeasureTiming.NO });

  it("make no room for counts that the packet cannot hold", () => {
    for (const count of [11, 0x7fff_ffff, 0xffff_ffff]) {
      const [first, ...rest] = good();
      if (first?.kind !== "packetInformation") throw new Error("no packetInformation");
      for (const field of ["numberOfInputOperands", "numberOfOutputOperands", "numberOfPools"] as const) {
        const packetInformation = { ...first.packetInformation, [field]: count };
        expect(readRequest(requestWords([{ kind: "packetInformation", packetInformation }, ...rest]))).toEqual({
          malformed: expect.stringMatching(/^datum 0: \d+ operands, pools and measureTiming where 9 data are left$/),
        });
      }
      const inputOperandInformation = { ...argument, numberOfDimensions: count };
      expect(
        readRequest(
          requestWords([first, { kind: "inputOperandInformation", inputOperandInformation }, ...rest.slice(1)]),
        ),
      ).toEqual({ malformed: `datum 1: ${count} dimensions where 8 data are left` });
    }
  });

  it("say which datum is wrong, and how", () => {
    const swapped = good();
    swapped.splice(7, 3, ...swapped.slice(7, 10).reverse());
    expect(readRequest(requestWords(swapped))).toEqual({
      malformed: "datum 7: expected poolIdentifier, got measureTiming",
    });
    expect(readRequest(requestWords(good().slice(1)))).toEqual({
      malformed: "datum 0: expected packetInformation, got inputOperandInformation",
    });
    expect(readRequest(requestWords(good().slice(0, -1)))).toEqual({
      malformed: "packetSize is 10 where the packet has 9 data",
    });
    expect(readRequest(requestWords([]))).toEqual({
      malformed: "datum 0: expected packetInformation, got the end of the packet",
    });
  });

  it.each([
    ["a kind of 0", 0, 0, "datum 0: expected packetInformation, got the kind 0, which does not exist"],
    ["a kind beyond the last", 0, 8, "datum 0: expected packetInformation, got the kind 8, which does not exist"],
    ["hasNoValue of 2", 9, 2, "datum 1: hasNoValue: expected 0 or 1, got 2"],
    ["measureTiming of -1", 9 * 8 + 1, -1, "datum 9: measureTiming: expected 0 or 1, got -1"],
  ])("refuse %s", (_what, at, value, malformed) => {
    const words = requestWords(good());
    words[at] = value;
    expect(readRequest(words)).toEqual({ malformed });
  });

  it.each([-1, 2 ** 32, 0.5, Number.NaN, Number.POSITIVE_INFINITY])("cannot be made with a length of %d", (length) => {
    const wrong = { ...argument, location: { ...argument.location, length } };
    const packet = () => packetOf({ inputs: [wrong], outputs: [], slots: [], measure: MeasureTiming.NO });
    expect(packet).toThrow(`length is ${length}, which is not a uint32`);
  });
});

describe("result packets", () => {
  it("have the HAL's data in the HAL's order", () => {
    const outputShapes = [
      { dimensions: [2, 3], isSufficient: true },
      { dimensions: [], isSufficient: false },
    ];
    const timing = { timeOnDevice: 5n, timeInDriver: 6n };
    expect(resultData(writeResult({ status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE, outputShapes, timing }))).toEqual([
      { kind: "packetInformation", packetInformation: { packetSize: 6, errorStatus: 3, numberOfOperands: 2 } },
      { kind: "operandInformation", operandInformation: { isSufficient: true, numberOfDimensions: 2 } },
      { kind: "operandDimensionValue", operandDimensionValue: 2 },
      { kind: "operandDimensionValue", operandDimensionValue: 3 },
      { kind: "operandInformation", operandInformation: { isSufficient: false, numberOfDimensions: 0 } },
      { kind: "executionTiming", executionTiming: timing },
    ]);
  });

  it("come back as they went", () => {
    fc.assert(
      fc.property(burstResult, (result) => {
        const data = resultData(writeResult(result));
        expect(resultWords(data)).toEqual(writeResult(result));
        expect(readResult(resultWords(data))).toEqual(result);
      }),
    );
  });

  it("are malformed when cut off behind any datum, or followed by one more", () => {
    fc.assert(
      fc.property(burstResult, (result) => {
        const words = writeResult(result);
        for (let end = 0; end < words.length; end += wordsPerSlot) {
          expect(readResult(words.subarray(0, end))).toHaveProperty("malformed");
        }
        expect(readResult(Int32Array.of(...words, ...words.subarray(-8)))).toHaveProperty("malformed");
      }),
    );
  });

  it("never crash a reader, whichever words are damaged", () => {
    fc.assert(
      fc.property(
        burstResult,
        fc.array(fc.tuple(fc.nat(), fc.integer()), { minLength: 1, maxLength: 4 }),
        (result, damage) => {
          const words = writeResult(result);
          for (const [at, value] of damage) words[at % words.length] = value;
          const read = readResult(words);
          if (!("malformed" in read)) expect(resultData(writeResult(read))).toHaveLength(words.length / wordsPerSlot);
          else expect(read.malformed).not.toBe("");
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("have zeros wherever no field lies: nothing leaks into them", () => {
    const used = { 1: [1, 2, 3], 2: [1, 2], 3: [1], 4: [1, 2, 3, 4] };
    fc.assert(
      fc.property(burstResult, (result) => {
        const words = writeResult(result);
        for (let at = 0; at < words.length; at += wordsPerSlot) {
          const fields = Object.entries(used).find(([kind]) => Number(kind) === words[at])?.[1] ?? [];
          for (let word = 1; word < wordsPerSlot; word++) {
            if (!fields.includes(word)) expect(words[at + word]).toBe(0);
          }
        }
      }),
    );
  });

  it.each([
    ["a status of HAL 1.3", 2, 5, "datum 0: errorStatus is 5, which HAL 1.2 does not know"],
    ["a negative status", 2, -1, "datum 0: errorStatus is -1, which HAL 1.2 does not know"],
    ["isSufficient of 256", 9, 256, "datum 1: isSufficient: expected 0 or 1, got 256"],
    ["a kind that does not exist", 8, 5, "datum 1: expected operandInformation, got the kind 5, which does not exist"],
    ["more operands than data", 3, -1, "datum 0: 4294967296 operands and executionTiming where 3 data are left"],
    ["more dimensions than data", 10, 3, "datum 1: 3 dimensions where 2 data are left"],
  ])("refuse %s", (_what, at, value, malformed) => {
    const outputShapes = [{ dimensions: [2], isSufficient: true }];
    const words = writeResult({ status: ErrorStatus.NONE, outputShapes, timing: notMeasured });
    words[at] = value;
    expect(readResult(words)).toEqual({ malformed });
  });

  it("carry the statuses of HAL 1.3 as GENERAL_FAILURE, and all older ones as they are", () => {
    for (const status of Object.values(ErrorStatus)) {
      expect(burstStatus(status)).toBe(status > 4 ? ErrorStatus.GENERAL_FAILURE : status);
    }
  });
});
