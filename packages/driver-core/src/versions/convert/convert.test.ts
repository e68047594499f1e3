import { elementAt } from "@nnhal/operations";
import { controlModel, floorModel, operand } from "@nnhal/test-kit/models";
import {
  type Capabilities,
  ErrorStatus,
  type Model,
  OperandLifeTime,
  OperandType,
  OperationType,
  type Request,
  type V1_0,
  type V1_1,
  type V1_2,
} from "@nnhal/types";
import { nonExtensionOperandPerformance, noPerformanceInfo, update } from "@nnhal/utils";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { convertToV1_0, convertToV1_1, convertToV1_2, convertToV1_3 } from "../index.ts";

const one = { execTime: 1, powerUsage: 1 };
const two = { execTime: 2, powerUsage: 2 };
const three = { execTime: 3, powerUsage: 3 };

const full: Capabilities = {
  relaxedFloat32toFloat16PerformanceScalar: one,
  relaxedFloat32toFloat16PerformanceTensor: two,
  operandPerformance: update(nonExtensionOperandPerformance(one), OperandType.TENSOR_QUANT8_ASYMM, three),
  ifPerformance: two,
  whilePerformance: three,
};

/** Paths of the losses of a conversion, harmless ones in brackets. */
function pathsOf({ lost }: { readonly lost: readonly { readonly path: string; readonly harmless: boolean }[] }) {
  return [...new Set(lost.map(({ path, harmless }) => (harmless ? `(${path})` : path)))];
}

describe("capabilities", () => {
  it("go up with one entry for each operand type of HAL 1.0, and none for what an old device does not do", () => {
    const up = convertToV1_3.capabilities({ float32Performance: one, quantized8Performance: two });
    expect(up).toEqual({
      relaxedFloat32toFloat16PerformanceScalar: one,
      relaxedFloat32toFloat16PerformanceTensor: one,
      operandPerformance: [
        { type: OperandType.FLOAT32, info: one },
        { type: OperandType.INT32, info: two },
        { type: OperandType.UINT32, info: two },
        { type: OperandType.TENSOR_FLOAT32, info: one },
        { type: OperandType.TENSOR_INT32, info: two },
        { type: OperandType.TENSOR_QUANT8_ASYMM, info: two },
        { type: OperandType.OEM, info: two },
        { type: OperandType.TENSOR_OEM_BYTE, info: two },
      ],
      ifPerformance: noPerformanceInfo,
      whilePerformance: noPerformanceInfo,
    });
  });

  it("go up from HAL 1.1 with the relaxed performance", () => {
    const from = { float32Performance: one, quantized8Performance: two, relaxedFloat32toFloat16Performance: three };
    const up = convertToV1_3.capabilities(from);
    expect(up.relaxedFloat32toFloat16PerformanceScalar).toBe(three);
    expect(up.relaxedFloat32toFloat16PerformanceTensor).toBe(three);
  });

  it("lose on the way down what the older version cannot tell apart", () => {
    const to12 = convertToV1_2.capabilities(full);
    expect(to12.value.operandPerformance).toHaveLength(16);
    expect("ifPerformance" in to12.value).toBe(false);
    expect(pathsOf(to12)).toEqual(["(operandPerformance)", "(ifPerformance)", "(whilePerformance)"]);
    const to11 = convertToV1_1.capabilities(full);
    expect(to11.value).toEqual({
      float32Performance: one,
      quantized8Performance: three,
      relaxedFloat32toFloat16Performance: two,
    });
    expect(pathsOf(to11)).toContain("relaxedFloat32toFloat16PerformanceScalar");
    expect(pathsOf(to11)).toContain("operandPerformance");
    const to10 = convertToV1_0.capabilities(full);
    expect(to10.value).toEqual({ float32Performance: one, quantized8Performance: three });
    expect(pathsOf(to10)).toContain("relaxedFloat32toFloat16PerformanceTensor");
  });

  const info = fc.record({
    execTime: fc.float({ min: 0.5, max: 8, noNaN: true }),
    powerUsage: fc.float({ min: 0.5, max: 8, noNaN: true }),
  });

  it("of old devices come back unchanged, and nothing is lost", () => {
    fc.assert(
      fc.property(info, info, info, (float32Performance, quantized8Performance, relaxed) => {
        const of10: V1_0.Capabilities = { float32Performance, quantized8Performance };
        expect(convertToV1_0.capabilities(convertToV1_3.capabilities(of10))).toEqual({ value: of10, lost: [] });
        const of11: V1_1.Capabilities = { ...of10, relaxedFloat32toFloat16Performance: relaxed };
        expect(convertToV1_1.capabilities(convertToV1_3.capabilities(of11))).toEqual({ value: of11, lost: [] });
        const of12: V1_2.Capabilities = {
          relaxedFloat32toFloat16PerformanceScalar: float32Performance,
          relaxedFloat32toFloat16PerformanceTensor: relaxed,
          operandPerformance: nonExtensionOperandPerformance(quantized8Performance, "1.2"),
        };
        expect(convertToV1_2.capabilities(convertToV1_3.capabilities(of12))).toEqual({ value: of12, lost: [] });
        expect(convertToV1_2.capabilities(of10).value).toEqual(
          convertToV1_2.capabilities(convertToV1_3.capabilities(of10)).value,
        );
      }),
    );
  });
});

describe("models", () => {
  const relaxed: Model = { ...floorModel(), relaxComputationFloat32toFloat16: true };
  const mapped: Model = { ...floorModel(), extensionNameToPrefix: [{ name: "com.example", prefix: 1 }] };

  it("have in each version the fields of that version", () => {
    const common = ["inputIndexes", "operandValues", "operands", "operations", "outputIndexes", "pools"];
    const fieldsOf = (value: object) => Object.keys(value).sort();
    expect(fieldsOf(convertToV1_0.model(relaxed).value)).toEqual(common);
    const relax = "relaxComputationFloat32toFloat16";
    expect(fieldsOf(convertToV1_1.model(relaxed).value)).toEqual([...common, relax]);
    expect(fieldsOf(convertToV1_2.model(relaxed).value)).toEqual(["extensionNameToPrefix", ...common, relax]);
    expect("extraParams" in elementAt(convertToV1_1.model(relaxed).value.operands, 0)).toBe(false);
    expect("extraParams" in elementAt(convertToV1_2.model(relaxed).value.operands, 0)).toBe(true);
  });

  it("lose permission to relax below HAL 1.1, which does no harm", () => {
    expect(pathsOf(convertToV1_0.model(relaxed))).toEqual(["(relaxComputationFloat32toFloat16)"]);
    expect(convertToV1_1.model(relaxed).lost).toEqual([]);
    expect(convertToV1_3.model(convertToV1_1.model(relaxed).value)).toEqual(relaxed);
    expect(convertToV1_3.model(convertToV1_0.model(relaxed).value)).toEqual(floorModel());
  });

  it("lose the names of extensions below HAL 1.2", () => {
    expect(pathsOf(convertToV1_1.model(mapped))).toEqual(["(extensionNameToPrefix[0])"]);
    expect(convertToV1_2.model(mapped)).toEqual({
      value: expect.objectContaining({ operands: mapped.main.operands }),
      lost: [],
    });
    expect(convertToV1_3.model(convertToV1_2.model(mapped).value)).toEqual(mapped);
  });

  it("convert even where the version cannot express them, and say what it cannot", () => {
    const warnings: string[] = [];
    const { value, lost } = convertToV1_2.model(controlModel, (warning) => warnings.push(warning));
    expect(value.operations).toBe(controlModel.main.operations);
    expect(value.operands).toBe(controlModel.main.operands);
    expect(lost.map(({ message }) => message)).toEqual([
      "main.operands[7]: SUBGRAPH needs HAL 1.3",
      "main.operands[7]: lifetime SUBGRAPH needs HAL 1.3",
      "main.operands[8]: SUBGRAPH needs HAL 1.3",
      "main.operands[8]: lifetime SUBGRAPH needs HAL 1.3",
      "main.operations[1]: IF needs HAL 1.3",
      "referenced: a model with 2 referenced subgraphs needs HAL 1.3",
    ]);
    expect(warnings).toEqual([
      "converting a model to HAL 1.2 loses something: main.operands[7]: SUBGRAPH needs HAL 1.3; " +
        "main.operands[7]: lifetime SUBGRAPH needs HAL 1.3; main.operands[8]: SUBGRAPH needs HAL 1.3; and 3 more",
    ]);
    const to10 = convertToV1_0.model(controlModel);
    expect(pathsOf(to10)).toEqual(expect.arrayContaining(["main.operands[2]", "main.operations[0]"]));
    expect(to10.lost.map(({ message }) => message)).toContain(
      "main.operands[2]: extraParams of kind channelQuant needs HAL 1.2",
    );
  });

  it("give no warning where nothing is lost", () => {
    const warnings: string[] = [];
    convertToV1_0.model(floorModel(), (warning) => warnings.push(warning));
    expect(warnings).toEqual([]);
  });

  it("of one older version convert to another", () => {
    const of10 = convertToV1_0.model(floorModel()).value;
    expect(convertToV1_1.model(of10).value).toEqual({ ...of10, relaxComputationFloat32toFloat16: false });
    expect(convertToV1_2.model(convertToV1_1.model(of10).value)).toEqual(convertToV1_2.model(floorModel()));
    expect(convertToV1_3.model(of10)).toEqual(floorModel());
  });
});

describe("operands", () => {
  it("lose extraParams, and names of what the version does not know", () => {
    const extraParams = { kind: "channelQuant", channelQuant: { scales: [1], channelDim: 0 } } as const;
    const perChannel = operand({ type: OperandType.TENSOR_QUANT8_SYMM_PER_CHANNEL, dimensions: [1], extraParams });
    const { extraParams: _none, ...expected } = perChannel;
    const converted = convertToV1_0.operand(perChannel);
    expect(converted.value).toEqual(expected);
    expect(converted.lost.map(({ message }) => message)).toEqual([
      "operand: TENSOR_QUANT8_SYMM_PER_CHANNEL needs HAL 1.2",
      "operand: extraParams of kind channelQuant needs HAL 1.2",
    ]);
    expect(convertToV1_2.operand(perChannel)).toEqual({ value: perChannel, lost: [] });
    expect(convertToV1_3.operand(expected)).toEqual({ ...perChannel, extraParams: { kind: "none" } });
  });
});

describe("codes", () => {
  it("stay, and are named where the version does not know them", () => {
    const warnings: string[] = [];
    const warn = (warning: string) => warnings.push(warning);
    expect(convertToV1_0.operandLifeTime(OperandLifeTime.SUBGRAPH, warn).value).toBe(OperandLifeTime.SUBGRAPH);
    expect(convertToV1_1.operationType(OperationType.PRELU, warn).value).toBe(OperationType.PRELU);
    expect(convertToV1_1.operationType(OperationType.DIV, warn).lost).toEqual([]);
    expect(convertToV1_2.operationType(0x1_0002, warn).lost).toEqual([]);
    expect(warnings).toEqual([
      "converting a lifetime to HAL 1.0 loses something: lifetime: lifetime SUBGRAPH needs HAL 1.3",
      "converting an operation type to HAL 1.1 loses something: operation: PRELU needs HAL 1.2",
    ]);
    expect(convertToV1_3.operationType(OperationType.PRELU)).toBe(OperationType.PRELU);
    expect(convertToV1_3.operandLifeTime(OperandLifeTime.SUBGRAPH)).toBe(OperandLifeTime.SUBGRAPH);
  });

  it.each(Object.entries(ErrorStatus))("status %s reaches old callers as one that they know", (name, status) => {
    const isOld = status <= ErrorStatus.INVALID_ARGUMENT;
    for (const to of [convertToV1_0, convertToV1_1, convertToV1_2]) {
      const { value, lost } = to.errorStatus(status);
      expect(value).toBe(isOld ? status : ErrorStatus.GENERAL_FAILURE);
      expect(lost.map(({ message }) => message)).toEqual(isOld ? [] : [`status: ${name} needs HAL 1.3`]);
    }
    expect(convertToV1_3.errorStatus(status)).toBe(status);
  });

  it("that are not a status are failures", () => {
    const { value, lost } = convertToV1_0.errorStatus(77 as ErrorStatus);
    expect(value).toBe(ErrorStatus.GENERAL_FAILURE);
    expect(elementAt(lost, 0).message).toBe("status: status 77 exists in no HAL version");
  });
});

describe("requests", () => {
  const ashmem = {
    name: "ashmem",
    size: 4,
    handle: { kind: "buffer", buffer: new ArrayBuffer(4), byteOffset: 0 },
  } as const;
  const location = { poolIndex: 0, offset: 0, length: 4 };
  const input = { hasNoValue: false, location, dimensions: [1] };
  const request: Request = { inputs: [input], outputs: [], pools: [{ kind: "memory", memory: ashmem }] };

  it("have memories for pools before HAL 1.3, and go there and back", () => {
    for (const to of [convertToV1_0, convertToV1_1, convertToV1_2]) {
      const { value, lost } = to.request(request);
      expect(value).toEqual({ inputs: [input], outputs: [], pools: [ashmem] });
      expect(lost).toEqual([]);
      expect(convertToV1_3.request(value)).toEqual(request);
      expect(to.request(value).value).toEqual(value);
    }
    expect(convertToV1_3.request(request)).toEqual(request);
  });

  it("lose tokens, and kinds of memory that the version does not know", () => {
    const blob = { ...ashmem, name: "hardware_buffer_blob" };
    const newer: Request = {
      ...request,
      pools: [
        { kind: "token", token: 3 },
        { kind: "memory", memory: blob },
      ],
    };
    const to12 = convertToV1_2.request(newer);
    expect(to12.value.pools).toEqual([{ name: "", size: 0, handle: null }, blob]);
    expect(to12.lost.map(({ message }) => message)).toEqual(["pools[0]: a pool given by token 3 needs HAL 1.3"]);
    expect(convertToV1_0.request(newer).lost.map(({ message }) => message)).toEqual([
      "pools[0]: a pool given by token 3 needs HAL 1.3",
      'pools[1]: memory of kind "hardware_buffer_blob" needs HAL 1.2',
    ]);
  });
});
