/** A device's facts about itself: VTS's BasicTests. */
import {
  type Capabilities,
  DeviceStatus,
  DeviceType,
  deviceStatusNames,
  ErrorStatus,
  MAX_NUMBER_OF_CACHE_FILES,
  OperandType,
  type Outcome,
  operandTypeNames,
  type PerformanceInfo,
} from "@nnhal/types";
import { driverOf } from "../bench.ts";
import { expectStatus, expectThat } from "../check.ts";
import { group, type SuiteCase } from "../suite-case.ts";

const { NONE } = ErrorStatus;

function expectPositive(what: string, { execTime, powerUsage }: PerformanceInfo): void {
  expectThat(execTime > 0 && powerUsage > 0, () => {
    return `${what}: expected execTime and powerUsage above 0, got ${execTime} and ${powerUsage}`;
  });
}

/** Every performance that there is, by name. */
function expectAllPositive(
  call: string,
  answer: Outcome,
  performances: Readonly<Record<string, PerformanceInfo>>,
): void {
  expectStatus(call, answer, NONE);
  for (const [name, info] of Object.entries(performances)) expectPositive(`${call}: ${name}`, info);
}

function expectSortedOperands(call: string, { operandPerformance }: Pick<Capabilities, "operandPerformance">): void {
  operandPerformance.forEach(({ type, info }, index) => {
    const name = operandTypeNames.get(type) ?? `type ${type}`;
    expectPositive(`${call}: ${name}`, info);
    const before = operandPerformance[index - 1]?.type ?? -1;
    expectThat(type > before, () => `${call}: ${name} follows type ${before}, but the list must be sorted`);
  });
}

export const factCases: readonly SuiteCase[] = [
  ...group("facts", "1.0", {
    "getStatus is AVAILABLE"({ device }) {
      const status = device.getStatus();
      expectThat(status === DeviceStatus.AVAILABLE, () => {
        return `getStatus: expected AVAILABLE, got ${deviceStatusNames.get(status) ?? status}`;
      });
    },
    "getCapabilities has performances above 0"(bench) {
      const answer = driverOf(bench, "1.0").getCapabilities();
      const { float32Performance, quantized8Performance } = answer.capabilities;
      expectAllPositive("getCapabilities", answer, { float32Performance, quantized8Performance });
    },
    "capabilities are the same at every call"({ device }) {
      const [first, second] = [device.getCapabilities(), device.getCapabilities()];
      const isSame = JSON.stringify(first) === JSON.stringify(second);
      expectThat(isSame, () => "getCapabilities: a second call answers something else");
    },
  }),
  ...group("facts", "1.1", {
    "getCapabilities_1_1 has performances above 0"(bench) {
      const answer = driverOf(bench, "1.1").getCapabilities_1_1();
      const { float32Performance, quantized8Performance, relaxedFloat32toFloat16Performance } = answer.capabilities;
      const performances = { float32Performance, quantized8Performance, relaxedFloat32toFloat16Performance };
      expectAllPositive("getCapabilities_1_1", answer, performances);
    },
  }),
  ...group("facts", "1.2", {
    "getCapabilities_1_2 has performances above 0, sorted by type"(bench) {
      const answer = driverOf(bench, "1.2").getCapabilities_1_2();
      const { relaxedFloat32toFloat16PerformanceScalar: scalar, relaxedFloat32toFloat16PerformanceTensor: tensor } =
        answer.capabilities;
      expectAllPositive("getCapabilities_1_2", answer, { scalar, tensor });
      expectSortedOperands("getCapabilities_1_2", answer.capabilities);
    },
    "getVersionString is not empty, and stays the same"({ device }) {
      const { version, ...outcome } = device.getVersionString();
      expectStatus("getVersionString", outcome, NONE);
      expectThat(version.length > 0, () => "getVersionString: the version is empty");
      const again = device.getVersionString().version;
      expectThat(version === again, () => `getVersionString: "${version}", and at the next call "${again}"`);
    },
    "getType is a DeviceType"({ device }) {
      const { type, ...outcome } = device.getType();
      expectStatus("getType", outcome, NONE);
      const isKnown = Object.values(DeviceType).some((known) => known === type);
      expectThat(isKnown, () => `getType: ${type} is none of ${Object.values(DeviceType).join(", ")}`);
    },
    "the name has one hyphen, inside"({ device: { name } }) {
      expectThat(
        /^[^-]+-[^-]+$/.test(name),
        () => `the name "${name}" has not exactly one hyphen between other characters`,
      );
    },
    "getSupportedExtensions names them as reversed domains"({ device }) {
      const { extensions, ...outcome } = device.getSupportedExtensions();
      expectStatus("getSupportedExtensions", outcome, NONE);
      for (const { name } of extensions) {
        const isRight = /^[a-z0-9_.]+$/.test(name) && name.includes(".");
        expectThat(
          isRight,
          () => `getSupportedExtensions: "${name}" is not a name of lower case letters, digits, _ and dots`,
        );
      }
    },
    "getNumberOfCacheFilesNeeded is at most 32 of each"({ device }) {
      const { numModelCache, numDataCache, ...outcome } = device.getNumberOfCacheFilesNeeded();
      expectStatus("getNumberOfCacheFilesNeeded", outcome, NONE);
      for (const [what, count] of Object.entries({ numModelCache, numDataCache })) {
        const isRight = Number.isInteger(count) && count >= 0 && count <= MAX_NUMBER_OF_CACHE_FILES;
        expectThat(isRight, () => `getNumberOfCacheFilesNeeded: ${what}: expected 0 to 32, got ${count}`);
      }
    },
  }),
  ...group("facts", "1.3", {
    "getCapabilities_1_3 has performances above 0, of IF and WHILE too, and none of SUBGRAPH"(bench) {
      const call = "getCapabilities_1_3";
      const answer = driverOf(bench, "1.3").getCapabilities_1_3();
      const { ifPerformance, whilePerformance, operandPerformance } = answer.capabilities;
      const { relaxedFloat32toFloat16PerformanceScalar: scalar, relaxedFloat32toFloat16PerformanceTensor: tensor } =
        answer.capabilities;
      expectAllPositive(call, answer, { ifPerformance, whilePerformance, scalar, tensor });
      expectSortedOperands(call, answer.capabilities);
      const hasSubgraph = operandPerformance.some(({ type }) => type === OperandType.SUBGRAPH);
      expectThat(!hasSubgraph, () => `${call}: SUBGRAPH has a performance`);
    },
  }),
];
