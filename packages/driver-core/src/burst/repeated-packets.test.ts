import { ErrorStatus, MeasureTiming, type Request, type RequestArgument } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { describe, expect, it } from "vitest";
import { allocateMemory } from "../memory/memory.ts";
import { mostWords, requestDecoder, resultDecoder } from "./repeated-packets.ts";
import { readRequest, writeRequest } from "./request-codec.ts";
import { type BurstResultPacket, writeResult } from "./result-codec.ts";

const { NO, YES } = MeasureTiming;
const argument = (offset: number, dimensions: readonly number[] = [2]): RequestArgument => ({
  hasNoValue: false,
  location: { poolIndex: 0, offset, length: 8 },
  dimensions,
});
const pools: Request["pools"] = [{ kind: "memory", memory: allocateMemory(16) }];
const request: Request = { inputs: [argument(0)], outputs: [argument(8)], pools };
const result: BurstResultPacket = {
  status: ErrorStatus.NONE,
  outputShapes: [{ dimensions: [2], isSufficient: true }],
  timing: notMeasured,
};

/** Writes requests as an end of a burst does: with one buffer for all. */
function requestEncoder() {
  const scratch = new Int32Array(mostWords);
  return (given: Request, measure: MeasureTiming, slots: readonly number[]) =>
    writeRequest(given, measure, slots, scratch);
}

describe("writeRequest", () => {
  it("writes what the request is, whatever the last one was", () => {
    const encode = requestEncoder();
    const many = Array.from({ length: 80 }, (_, index) => argument(index));
    const all: [Request, MeasureTiming, number[]][] = [
      [request, NO, [3]],
      [request, NO, [3]],
      [structuredClone({ ...request, pools: [] }), NO, [3]],
      [request, YES, [3]],
      [request, NO, [4]],
      [request, NO, [4, 4]],
      [{ ...request, inputs: [argument(4)] }, NO, [4]],
      [{ ...request, inputs: [argument(4, [3])] }, NO, [4]],
      [{ ...request, inputs: [argument(4, [3, 1])] }, NO, [4]],
      [{ ...request, outputs: [{ ...argument(8), hasNoValue: true }] }, NO, [4]],
      [{ ...request, inputs: [] }, NO, [4]],
      // Too long to be kept.
      [{ ...request, inputs: many }, NO, [4]],
      [{ ...request, inputs: many }, NO, [4]],
      [request, NO, [3]],
    ];
    for (const [given, measure, slots] of all) {
      expect([...encode(given, measure, slots)]).toEqual([...writeRequest(given, measure, slots)]);
    }
  });

  it("sees a change of the same object", () => {
    const encode = requestEncoder();
    const location = { poolIndex: 0, offset: 0, length: 8 };
    const dimensions = [2];
    const changing: Request = { ...request, inputs: [{ hasNoValue: false, location, dimensions }] };
    const packetNow = () => [...encode(changing, NO, [1])];
    const first = packetNow();
    location.offset = 4;
    const second = packetNow();
    dimensions[0] = 3;
    expect(new Set([first, second, packetNow()].map(String)).size).toBe(3);
  });

  it("does not keep a request that a packet cannot hold", () => {
    const encode = requestEncoder();
    const wrong = { ...request, inputs: [argument(-1)] };
    for (let time = 0; time < 2; time++) expect(() => encode(wrong, NO, [1])).toThrow(RangeError);
    expect(encode(request, NO, [1])).toHaveLength(7 * 8);
  });
});

describe("requestDecoder", () => {
  it("reads a repeated packet once, and each other packet", () => {
    const decode = requestDecoder();
    const packet = writeRequest(request, NO, [3]);
    const other = writeRequest(request, YES, [3]);
    const first = decode(packet);
    expect(first).toEqual({ inputs: request.inputs, outputs: request.outputs, slots: [3], measure: NO });
    // The words of a ring are used again.
    expect(decode(packet.slice())).toBe(first);
    expect(decode(other)).toMatchObject({ measure: YES });
    expect(decode(packet)).toEqual(readRequest(packet));
  });

  it("refuses what is malformed each time, also after a valid packet", () => {
    const decode = requestDecoder();
    const packet = writeRequest(request, NO, [3]);
    decode(packet);
    const changed = packet.slice();
    changed[1] = 99;
    for (let time = 0; time < 2; time++) {
      expect(decode(changed)).toMatchObject({ malformed: expect.stringContaining("packetSize is 99") });
    }
    expect(decode(packet.subarray(0, 9))).toHaveProperty("malformed");
    expect(decode(packet)).toMatchObject({ slots: [3] });
  });

  it("returns what no user can change for another", () => {
    const decode = requestDecoder();
    const content = decode(writeRequest(request, NO, [3]));
    if ("malformed" in content) throw new Error(content.malformed);
    // A user without types.
    const { location } = content.inputs[0] as { location: { offset: number } };
    expect(() => {
      location.offset = 4;
    }).toThrow(TypeError);
  });
});

describe("writeResult and resultDecoder", () => {
  it("agree, whatever the last result was", () => {
    const [scratch, decode] = [new Int32Array(mostWords), resultDecoder()];
    const all: BurstResultPacket[] = [
      result,
      structuredClone(result),
      result,
      { ...result, timing: { timeOnDevice: 1n, timeInDriver: 2n } },
      { ...result, outputShapes: [{ dimensions: [3], isSufficient: true }] },
      { ...result, outputShapes: [{ dimensions: [3, 1], isSufficient: true }] },
      { ...result, outputShapes: [...result.outputShapes, ...result.outputShapes] },
      {
        status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
        outputShapes: [{ dimensions: [3], isSufficient: false }],
        timing: notMeasured,
      },
      { status: ErrorStatus.GENERAL_FAILURE, outputShapes: [], timing: notMeasured },
      { ...result, outputShapes: Array.from({ length: 70 }, () => ({ dimensions: [1], isSufficient: true })) },
      result,
    ];
    for (const given of all) {
      const packet = writeResult(given, scratch);
      expect([...packet]).toEqual([...writeResult(given)]);
      expect(decode(packet)).toEqual(given);
    }
  });
});
