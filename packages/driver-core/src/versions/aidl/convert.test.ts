import { controlModel, floorModel } from "@nnhal/test-kit/models";
import {
  aidlVersions,
  type Capabilities,
  DEVICE_TYPE_UNKNOWN,
  DeviceType,
  type Memory,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  type Request,
} from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { nonExtensionOperandPerformance } from "@nnhal/utils";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allocateBlob, allocateHardwareBuffer } from "../../memory/hardware-buffer.ts";
import { memoryOf } from "../../memory/memory.ts";
import { complianceWith } from "../compliant-with.ts";
import { consumersOf } from "./consumers.ts";
import { convertFromAidl, convertToAidl1 } from "./convert.ts";
import { conversionsToAidl } from "./write.ts";

const { OEM, TENSOR_OEM_BYTE } = OperandType;

/** The paths of the losses of a conversion, those of harmless ones in brackets. */
function pathsOf({ lost }: { readonly lost: readonly { readonly path: string; readonly harmless: boolean }[] }) {
  return lost.map(({ path, harmless }) => (harmless ? `(${path})` : path));
}

/** The result of a conversion; undefined if it refuses the value. */
function unlessRefused<Value>(convert: () => Value): Value | undefined {
  try {
    return convert();
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return undefined;
  }
}

const file: Memory = {
  name: "mmap_fd",
  size: 12,
  handle: { kind: "fileDescriptor", fd: 3, protection: 1, offset: 64 },
};
const image = allocateHardwareBuffer({ width: 2, height: 3, layers: 1, format: 1, usage: 0x33n, stride: 4 });
const blob = allocateBlob(16);

/** Memories that AIDL can express. */
const expressible: readonly Memory[] = [memoryOf(new Uint8Array(8)), file, blob, image];

/** Memories that it cannot, with the path of the loss. */
const inexpressible: readonly Memory[] = [
  { name: "ashmem", size: 0, handle: { kind: "buffer", buffer: new ArrayBuffer(0), byteOffset: 0 } },
  { name: "ashmem", size: 8, handle: null },
  { name: "other", size: 8, handle: { kind: "buffer", buffer: new ArrayBuffer(8), byteOffset: 0 } },
  { ...file, handle: { kind: "fileDescriptor", fd: 3, protection: 7, offset: 0 } },
  { ...file, size: 0 },
  { ...file, handle: { kind: "buffer", buffer: new ArrayBuffer(12), byteOffset: 0 } },
  { ...blob, size: 15 },
  { ...image, size: 1 },
];

const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
const int32 = fc.integer({ min: 0, max: 0x7fff_ffff });

/** A value that a conversion keeps, or one that it loses. */
interface Part<Value> {
  readonly value: Value;
  readonly isLost: boolean;
}

const keep = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Part<Value>> =>
  arbitrary.map((value) => ({ value, isLost: false }));
const loseConnection = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Part<Value>> =>
  arbitrary.map((value) => ({ value, isLost: true }));

const memories = fc.oneof(keep(fc.constantFrom(...expressible)), loseConnection(fc.constantFrom(...inexpressible)));

const operandTypesInAidl = Object.values(OperandType).filter((type) => type !== OEM && type !== TENSOR_OEM_BYTE);

const types = fc.oneof(
  { weight: 4, arbitrary: keep(fc.constantFrom(...operandTypesInAidl)) },
  keep(fc.integer({ min: 0x1_0000, max: 0x7fff_ffff })),
  loseConnection(fc.constantFrom<number>(OEM, TENSOR_OEM_BYTE)),
  loseConnection(fc.integer({ min: 0x8000_0000, max: 0xffff_ffff })),
);

const extents = fc.oneof(
  { weight: 4, arbitrary: keep(fc.array(int32, { maxLength: 4 })) },
  loseConnection(fc.array(fc.integer({ min: 0x8000_0000, max: 0xffff_ffff }), { minLength: 1, maxLength: 1 })),
);

const extraParams = fc.oneof(
  fc.constant<Operand["extraParams"]>({ kind: "none" }),
  fc
    .record({ scales: fc.array(fc.float({ min: 1, noNaN: true })), channelDim: int32 })
    .map((channelQuant): Operand["extraParams"] => ({ kind: "channelQuant", channelQuant })),
  fc.uint8Array({ maxLength: 4 }).map((extension): Operand["extraParams"] => ({ kind: "extension", extension })),
);

const operands = fc.record({
  type: types,
  dimensions: extents,
  scale: fc.float({ noNaN: true }),
  zeroPoint: fc.integer(),
  lifetime: fc.constantFrom(...Object.values(OperandLifeTime)),
  poolIndex: int32,
  offset: uint32,
  length: uint32,
  extraParams,
});

/** Subgraphs of one operation, which reads each operand as often as the operand counts; and the number of losses. */
const subgraphs = fc.array(operands, { minLength: 1, maxLength: 4 }).map((list) => {
  const inputs = list.flatMap((_, index) => new Array<number>(index % 3).fill(index));
  const consumers = consumersOf([{ inputs }]);
  return {
    losses: list.filter(({ type, dimensions }) => type.isLost || dimensions.isLost).length,
    subgraph: {
      operands: list.map(({ type, dimensions, poolIndex, offset, length, ...same }, index) => ({
        ...same,
        type: type.value,
        dimensions: dimensions.value,
        location: { poolIndex, offset, length },
        numberOfConsumers: consumers.get(index) ?? 0,
      })),
      operations: [{ type: 0x1_0001, inputs, outputs: [0] }],
      inputIndexes: [0],
      outputIndexes: [0],
    },
  };
});

const models = fc
  .record({
    main: subgraphs,
    referenced: fc.array(subgraphs, { maxLength: 2 }),
    operandValues: fc.uint8Array({ maxLength: 8 }),
    pools: fc.array(memories, { maxLength: 3 }),
    relaxComputationFloat32toFloat16: fc.boolean(),
    prefix: fc.oneof(
      keep(fc.integer({ min: 1, max: 0x7fff })),
      loseConnection(fc.integer({ min: 0x8000, max: 0xffff })),
    ),
  })
  .map(({ main, referenced, pools, prefix, ...same }) => {
    const model: Model = {
      ...same,
      main: main.subgraph,
      referenced: referenced.map(({ subgraph }) => subgraph),
      pools: pools.map(({ value }) => value),
      extensionNameToPrefix: [{ name: "com.example", prefix: prefix.value }],
    };
    const flaws = [main, ...referenced].reduce((sum, { losses }) => sum + losses, 0);
    return { model, flaws: flaws + pools.filter(({ isLost }) => isLost).length + (prefix.isLost ? 1 : 0) };
  });

describe.each(aidlVersions)("conversions to %s and back", (version) => {
  const to = conversionsToAidl(version);

  it("are the identity on models that the version can express, and report every other part", () => {
    fc.assert(
      fc.property(models, ({ model, flaws }) => {
        const { value, lost: losses } = to.model(model);
        const wrong = new Set(
          losses.filter(({ harmless }) => !harmless).map(({ path }) => path.replace(/\.dimensions.*/, "")),
        );
        expect(wrong.size).toBe(flaws);
        expect(complianceWith(version).model(model)).toBe(flaws === 0);
        if (flaws === 0) expect(convertFromAidl.model(value)).toEqual(model);
        else expect(unlessRefused(() => convertFromAidl.model(value))).not.toEqual(model);
      }),
    );
  });

  it("are the identity on requests, padding included", () => {
    const argument = fc.record({
      hasNoValue: fc.boolean(),
      location: fc.record(
        { poolIndex: int32, offset: uint32, length: uint32, padding: fc.integer({ min: 1, max: 0xffff_ffff }) },
        { requiredKeys: ["poolIndex", "offset", "length"] },
      ),
      dimensions: extents,
    });
    const pool = fc.oneof(
      memories.map(({ value: memory, isLost }) => ({ value: { kind: "memory", memory } as const, isLost })),
      keep(fc.integer({ min: 1, max: 0x7fff_ffff }).map((token) => ({ kind: "token", token }) as const)),
      loseConnection(fc.constant({ kind: "token", token: 0x8000_0000 } as const)),
    );
    const lists = fc.tuple(fc.array(argument, { maxLength: 3 }), fc.array(argument, { maxLength: 3 }));
    fc.assert(
      fc.property(lists, fc.array(pool, { maxLength: 3 }), ([inputs, outputs], pools) => {
        const plain = (list: typeof inputs) =>
          list.map(({ dimensions, ...same }) => ({ ...same, dimensions: dimensions.value }));
        const request: Request = {
          inputs: plain(inputs),
          outputs: plain(outputs),
          pools: pools.map(({ value }) => value),
        };
        const flaws = [...inputs.map(({ dimensions }) => dimensions), ...outputs.map(({ dimensions }) => dimensions)];
        const count = [...flaws, ...pools].filter(({ isLost }) => isLost).length;
        const { value, lost: losses } = to.request(request);
        expect(losses.filter(({ harmless }) => !harmless)).toHaveLength(count);
        expect(complianceWith(version).request(request)).toBe(count === 0);
        if (count === 0) expect(convertFromAidl.request(value)).toEqual(request);
        else expect(unlessRefused(() => convertFromAidl.request(value))).not.toEqual(request);
      }),
    );
  });
});

describe("losses", () => {
  it("are none of the small models", () => {
    for (const model of [floorModel(), controlModel]) {
      expect(convertToAidl1.model(model).lost).toEqual([]);
      expect(convertFromAidl.model(convertToAidl1.model(model).value)).toEqual(model);
    }
  });

  it("name OEM_OPERATION, which no version of AIDL has", () => {
    const { main, ...rest } = floorModel();
    const operations = main.operations.map((operation) => ({ ...operation, type: OperationType.OEM_OPERATION }));
    const { lost: losses } = convertToAidl1.model({ ...rest, main: { ...main, operations } });
    expect(losses).toEqual(
      operations.map((_, index) => ({
        path: `main.operations[${index}]`,
        message: `main.operations[${index}]: OEM_OPERATION exists in HAL 1.0 to 1.3 only`,
        harmless: false,
      })),
    );
  });

  it("of a wrong count of consumers are harmless", () => {
    const { main, ...rest } = floorModel();
    const operandsOf = main.operands.map((one, index) => (index === 0 ? { ...one, numberOfConsumers: 9 } : one));
    const conversion = convertToAidl1.model({ ...rest, main: { ...main, operands: operandsOf } });
    expect(pathsOf(conversion)).toEqual(["(main.operands[0].numberOfConsumers)"]);
    expect(convertFromAidl.model(conversion.value)).toEqual(floorModel());
  });

  it("of capabilities are the OEM's types, which no client asks for", () => {
    const info = { execTime: 1, powerUsage: 2 };
    const full: Capabilities = {
      relaxedFloat32toFloat16PerformanceScalar: info,
      relaxedFloat32toFloat16PerformanceTensor: info,
      operandPerformance: nonExtensionOperandPerformance(info),
      ifPerformance: info,
      whilePerformance: info,
    };
    const { value, lost: losses } = convertToAidl1.capabilities(full);
    expect(pathsOf({ lost: losses })).toEqual(["(operandPerformance)", "(operandPerformance)"]);
    expect(value.operandPerformance.map(({ type }) => type)).toEqual(
      full.operandPerformance.map(({ type }) => type).filter((type) => type < OEM),
    );
    expect(convertToAidl1.capabilities(value)).toEqual({ value, lost: [] });
  });

  it("of a type are only that it is not known", () => {
    expect(convertToAidl1.deviceType(DeviceType.GPU)).toEqual({ value: DeviceType.GPU, lost: [] });
    expect(convertToAidl1.deviceType(DEVICE_TYPE_UNKNOWN)).toMatchObject({ value: DeviceType.OTHER, lost: [{}] });
  });

  it("of a BLOB without a description are harmless: it gets one", () => {
    const plain: Memory = { ...blob, handle: { kind: "buffer", buffer: new ArrayBuffer(16), byteOffset: 0 } };
    const conversion = convertToAidl1.model({ ...floorModel(), pools: [plain] });
    expect(pathsOf(conversion)).toEqual(["(pools[0])"]);
    expect(convertFromAidl.model(conversion.value).pools).toMatchObject([{ name: blob.name, size: 16 }]);
  });
});

describe("values of AIDL that have no canonical form", () => {
  const good = convertToAidl1.model({ ...floorModel(), pools: [file] }).value;
  const first = good.main.operands[0];
  if (first === undefined) throw new Error("the model has no operand");
  const withOperand = (more: Partial<AIDL1.Operand>): AIDL1.Model => ({
    ...good,
    main: { ...good.main, operands: [{ ...first, ...more }, ...good.main.operands.slice(1)] },
  });
  const at = (more: Partial<AIDL1.DataLocation>) => withOperand({ location: { ...first.location, ...more } });
  const withPool = (pool: AIDL1.Memory): AIDL1.Model => ({ ...good, pools: [pool] });
  const mapped = { length: 12, prot: 1, fd: 3, offset: 64 };

  it("are none of a good model", () => expect(() => convertFromAidl.model(good)).not.toThrow());

  it.each<[string, AIDL1.Model]>([
    ["a negative extent", withOperand({ dimensions: [-1] })],
    ["a negative type", withOperand({ type: -1 })],
    ["a type of the OEM", withOperand({ type: TENSOR_OEM_BYTE })],
    ["a negative lifetime", withOperand({ lifetime: -1 })],
    ["lifetime 7", withOperand({ lifetime: 7 })],
    ["a negative pool", at({ poolIndex: -1 })],
    ["a negative offset", at({ offset: -1 })],
    ["a negative length", at({ length: -1 })],
    ["a negative padding", at({ padding: -1 })],
    ["an offset of 33 bits", at({ offset: 2 ** 32 })],
    ["a length of 33 bits", at({ length: 2 ** 32 })],
    ["a padding of 33 bits", at({ padding: 2 ** 32 })],
    ["a negative channelDim", withOperand({ extraParams: { channelQuant: { scales: [1], channelDim: -1 } } })],
    ["a prefix of 16 bits", { ...good, extensionNameToPrefix: [{ name: "com.example", prefix: 0x8000 }] }],
    ["a negative input", { ...good, main: { ...good.main, inputIndexes: [-1] } }],
    ["a negative operation", { ...good, main: { ...good.main, operations: [{ type: -1, inputs: [], outputs: [] }] } }],
    ["a file without a descriptor", withPool({ mappableFile: { ...mapped, fd: null } })],
    ["a file of 0 bytes", withPool({ mappableFile: { ...mapped, length: 0 } })],
    ["a file at a negative offset", withPool({ mappableFile: { ...mapped, offset: -1 } })],
    ["a file that can be executed", withPool({ mappableFile: { ...mapped, prot: 4 } })],
    [
      "shared memory of 0 bytes",
      withPool({ ashmem: { fd: { kind: "fileDescriptor", fd: 3, protection: 3, offset: 0 }, size: 0 } }),
    ],
  ])("%s", (_what, model) => expect(() => convertFromAidl.model(model)).toThrow(RangeError));

  it.each([
    [0, 3, 2 ** 32 - 1],
    [0, 0, 1],
  ])("are none at the bounds: offset %s, length %s, padding %s", (offset, length, padding) => {
    const { location } = convertFromAidl.model(at({ offset, length, padding })).main.operands[0] ?? {};
    expect(location).toEqual({ poolIndex: first.location.poolIndex, offset, length, padding });
  });

  it("are none of files with protections 0 to 3", () => {
    for (const prot of [0, 1, 2, 3]) {
      expect(() => convertFromAidl.model(withPool({ mappableFile: { ...mapped, prot } }))).not.toThrow();
    }
  });
});
