/** Conversions to AIDL and back are the identity on all that a version can express, and report every part that it cannot. */

import {
  aidlVersions,
  type Capabilities,
  ErrorStatus,
  type HalVersion,
  type Hints,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperandTypeRange,
  OperationType,
  TIMING_NOT_MEASURED,
  type Timing,
} from "@nnhal/types";
import { nonExtensionOperandPerformance } from "@nnhal/utils";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readHints, writeHints } from "../../guard/hints.ts";
import { complianceWith } from "../compliant-with.ts";
import { convertFromAidl } from "./convert.ts";
import { exceptionOf, outcomeOf } from "./exceptions.ts";
import { readBufferRole } from "./read.ts";
import { deadlineConverter, readDuration, readTiming, writeDuration, writeTiming } from "./time.ts";
import { conversionsToAidl, writeBufferRole } from "./write.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, TENSOR_QUANT8_ASYMM, TENSOR_QUANT8_ASYMM_SIGNED, INT32, BOOL } = OperandType;

/** Operations with the version that they need, and the types of their operands. */
const operations: readonly (readonly [type: number, since: HalVersion, inputs: readonly number[], output: number])[] = [
  [OperationType.RELU, "1.0", [TENSOR_FLOAT32], TENSOR_FLOAT32],
  [OperationType.HARD_SWISH, "1.3", [TENSOR_FLOAT32], TENSOR_FLOAT32],
  [OperationType.RSQRT, "1.2", [TENSOR_FLOAT32], TENSOR_FLOAT32],
  [OperationType.RSQRT, "aidl3", [TENSOR_QUANT8_ASYMM], TENSOR_QUANT8_ASYMM],
  [OperationType.RSQRT, "aidl3", [TENSOR_QUANT8_ASYMM_SIGNED], TENSOR_QUANT8_ASYMM_SIGNED],
  [OperationType.RESHAPE, "1.0", [TENSOR_FLOAT32, TENSOR_INT32], TENSOR_FLOAT32],
  [OperationType.RESHAPE, "aidl2", [TENSOR_INT32, TENSOR_INT32], TENSOR_INT32],
  [OperationType.BATCH_MATMUL, "aidl2", [TENSOR_FLOAT32, TENSOR_FLOAT32, BOOL, BOOL], TENSOR_FLOAT32],
  [OperationType.PACK, "aidl2", [INT32, TENSOR_FLOAT32, TENSOR_FLOAT32], TENSOR_FLOAT32],
  [OperationType.MIRROR_PAD, "aidl3", [TENSOR_FLOAT32, TENSOR_INT32, INT32], TENSOR_FLOAT32],
  [OperationType.REVERSE, "aidl3", [TENSOR_FLOAT32, TENSOR_INT32], TENSOR_FLOAT32],
];

/** A model of some operations, each with operands of its own. */
function modelOf(rows: typeof operations): Model {
  const operands: Operand[] = [];
  const add = (type: number, lifetime: Operand["lifetime"]) =>
    operands.push({
      ...{ type, lifetime, dimensions: [], numberOfConsumers: lifetime === OperandLifeTime.SUBGRAPH_INPUT ? 1 : 0 },
      ...{ scale: 0, zeroPoint: 0, location: { poolIndex: 0, offset: 0, length: 0 }, extraParams: { kind: "none" } },
    }) - 1;
  const made = rows.map(([type, , inputs, output]) => ({
    type,
    inputs: inputs.map((input) => add(input, OperandLifeTime.SUBGRAPH_INPUT)),
    outputs: [add(output, OperandLifeTime.SUBGRAPH_OUTPUT)],
  }));
  return {
    main: {
      operands,
      operations: made,
      inputIndexes: made.flatMap(({ inputs }) => inputs),
      outputIndexes: made.flatMap(({ outputs }) => outputs),
    },
    ...{ referenced: [], operandValues: new Uint8Array(0), pools: [], extensionNameToPrefix: [] },
    relaxComputationFloat32toFloat16: false,
  };
}

const rows = fc.array(fc.constantFrom(...operations), { minLength: 1, maxLength: 5 });

describe.each(aidlVersions)("%s", (version) => {
  const to = conversionsToAidl(version);

  it("keeps the operations that it has, and reports each that it has not", () => {
    fc.assert(
      fc.property(rows, (list) => {
        const model = modelOf(list);
        const { value, lost: losses } = to.model(model);
        const expected = list.flatMap(([, since], index) => (since > version ? [`main.operations[${index}]`] : []));
        expect(losses.map(({ path }) => path)).toEqual(expected);
        expect(losses.every(({ harmless }) => !harmless)).toBe(true);
        expect(complianceWith(version).model(model)).toBe(expected.length === 0);
        // The shape has room for all of them: a service refuses those of later versions.
        expect(convertFromAidl.model(value)).toEqual(model);
      }),
    );
  });

  it("keeps capabilities without the OEM's types, and reports those", () => {
    const numbers = fc.double({ min: 1e-3, max: 1e3, noNaN: true });
    const info = fc.record({ execTime: numbers, powerUsage: numbers });
    const all = nonExtensionOperandPerformance({ execTime: 1, powerUsage: 1 });
    const table = fc.tuple(fc.subarray([...all]), fc.array(info, { minLength: all.length, maxLength: all.length }));
    const rest = fc.record({
      relaxedFloat32toFloat16PerformanceScalar: info,
      relaxedFloat32toFloat16PerformanceTensor: info,
      ifPerformance: info,
      whilePerformance: info,
    });
    fc.assert(
      fc.property(rest, table, (others, [types, infos]) => {
        const operandPerformance = types.map(({ type }, index) => ({ type, info: infos[index] ?? infos[0] }));
        const given = { ...others, operandPerformance } as Capabilities;
        const { value, lost: losses } = to.capabilities(given);
        const isOem = ({ type }: { readonly type: number }) => type >= OperandTypeRange.OEM_MIN;
        expect(losses).toHaveLength(types.filter(isOem).length);
        expect(losses.every(({ harmless }) => harmless)).toBe(true);
        const kept = given.operandPerformance.filter((entry) => !isOem(entry));
        expect(value).toEqual({ ...given, operandPerformance: kept });
      }),
    );
  });
});

const time = fc.bigInt({ min: 0n, max: (2n ** 63n - 1n) / 1000n });
const measured = fc.oneof(time, fc.constant(TIMING_NOT_MEASURED));

describe("values of all versions", () => {
  it("keep times of executions that are ordered, and refuse others", () => {
    fc.assert(
      fc.property(measured, measured, (timeOnDevice, timeInDriver) => {
        const timing: Timing = { timeOnDevice, timeInDriver };
        const isOrdered =
          timeOnDevice === TIMING_NOT_MEASURED || timeInDriver === TIMING_NOT_MEASURED || timeOnDevice <= timeInDriver;
        if (isOrdered) expect(readTiming(writeTiming(timing))).toEqual(timing);
        else expect(() => readTiming(writeTiming(timing))).toThrow("more than");
      }),
    );
  });

  it("round nanoseconds up to microseconds, and keep them from then on", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 62n }), (ns) => {
        const read = readTiming({ timeOnDeviceNs: -1n, timeInDriverNs: ns });
        const { timeInDriverNs } = writeTiming(read);
        expect(timeInDriverNs >= ns && timeInDriverNs < ns + 1000n).toBe(true);
        expect(readTiming(writeTiming(read))).toEqual(read);
      }),
    );
  });

  it.each(Object.values(ErrorStatus).filter((status) => status !== ErrorStatus.NONE))("keep status %s", (status) => {
    fc.assert(
      fc.property(fc.string(), (message) => {
        expect(outcomeOf(exceptionOf({ status, message })).status).toBe(status);
      }),
    );
  });

  it("keep deadlines and durations, whatever the clocks", () => {
    const times = fc.bigInt({ min: 2n ** 50n, max: 2n ** 60n });
    fc.assert(
      fc.property(
        times,
        fc.bigInt({ min: 0n, max: 2n ** 49n }),
        fc.bigInt({ min: 0n, max: 2n ** 49n }),
        (at, now, boot) => {
          for (const clocks of [{}, { bootClock: () => boot }]) {
            const deadlines = deadlineConverter(clocks, () => now);
            expect(deadlines.read(deadlines.write(at))).toBe(at);
            expect(deadlines.read(deadlines.write(undefined))).toBeUndefined();
          }
          expect(readDuration(writeDuration(at), "duration")).toBe(at);
        },
      ),
    );
    expect(readDuration(writeDuration(undefined), "duration")).toBeUndefined();
    for (const wrong of [-2n, 2n ** 63n]) expect(() => readDuration(wrong, "duration")).toThrow(RangeError);
  });

  it("keep roles of buffers", () => {
    const index = fc.integer({ min: 0, max: 0x7fff_ffff });
    const frequency = fc.double({ min: 1e-9, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.record({ modelIndex: index, ioIndex: index, frequency }), (role) => {
        expect(readBufferRole(writeBufferRole(role), "role")).toEqual(role);
      }),
    );
  });

  it("keep hints whose tokens have names", () => {
    const prefixes = fc.uniqueArray(fc.integer({ min: 1, max: 0x7fff }), { minLength: 1, maxLength: 4 });
    const codes = fc.uniqueArray(fc.tuple(fc.nat(3), fc.integer({ min: 0, max: 0xffff })), {
      ...{ minLength: 1, maxLength: 6 },
      selector: ([place, code]) => `${place} ${code}`,
    });
    fc.assert(
      fc.property(prefixes, codes, fc.uint8Array({ maxLength: 4 }), (list, pairs, value) => {
        const extensionNameToPrefix = list.map((prefix) => ({ name: `com.example.x${prefix}`, prefix }));
        const tokens = new Set(pairs.map(([place, code]) => (list[place % list.length] ?? 1) * 0x1_0000 + code));
        const hints: Hints = { pairs: [...tokens].map((token) => ({ token, value })), extensionNameToPrefix };
        const written = writeHints(hints);
        expect(readHints(written.pairs, written, "hints")).toEqual(hints);
        const unknown = 0x7fff_0000;
        if (list.includes(0x7fff)) return;
        expect(() => readHints([{ token: unknown, value }], written, "hints")).toThrow("a prefix of");
      }),
    );
  });
});
