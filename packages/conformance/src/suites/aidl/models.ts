/** Preparations through AIDL: callbacks and exceptions, configurations and hints, and models that break a rule. */
import { convertToAidl4 } from "@nnhal/driver-core/versions";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, OperandType, OperationType } from "@nnhal/types";
import type { AIDL1, AIDL4 } from "@nnhal/types/aidl";
import { type Bench, smallModel } from "../bench.ts";
import { expectThat, statusName } from "../check.ts";
import { ifModel } from "../control-flow-models.ts";
import { buildSmallModel, smallOperations } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import {
  aidlOf,
  ask,
  askFor,
  expectRefusal,
  type Launched,
  launch,
  type Preparation,
  preparationsOf,
  prepareBy,
} from "./driver.ts";
import { prepareSmall } from "./trial.ts";
import { waysOf } from "./ways.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;
const { MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;

async function writtenModel(bench: Bench): Promise<AIDL1.Model> {
  return convertToAidl4.model((await smallModel(bench)).model).value;
}

/** Ends the case unless a preparation was refused: its callback heard the status, and then the call threw the same. */
function expectRefused(what: string, { thrown, status, model }: Launched, ...allowed: readonly ErrorStatus[]): void {
  expectThat(allowed.includes(status), () => {
    return `${what}: its callback: expected ${allowed.map(statusName).join(" or ")}, got ${statusName(status)}`;
  });
  expectThat(thrown.status === status, () => {
    return `${what}: its callback heard ${statusName(status)}, and the call ends with ${statusName(thrown.status)}`;
  });
  expectThat(model === null, () => `${what}: a prepared model beside the error`);
}

const wrongSettings: readonly (readonly [what: string, settings: Preparation])[] = [
  ["preference -1", { preference: -1 as 0 }],
  ["preference 3", { preference: 3 as 0 }],
  ["priority -1", { priority: -1 as 0 }],
  ["priority 3", { priority: 3 as 0 }],
  ["a deadline of -2", { deadlineNs: -2n }],
];

const preparationCases = [
  ...casesOf(
    "preparations",
    "aidl1",
    wrongSettings,
    ([what]) => `${what} is INVALID_ARGUMENT, told to the callback and thrown`,
    async (bench, [what, settings]) => {
      const model = await writtenModel(bench);
      for (const way of preparationsOf(bench))
        expectRefused(`IDevice.${way}, ${what}`, await prepareBy(bench, way, model, settings), INVALID_ARGUMENT);
    },
  ),
  ...group("preparations", "aidl1", {
    async "a model is prepared, and its callback gets it once"(bench) {
      const { small } = await prepareSmall(bench);
      for (const way of preparationsOf(bench)) {
        const { thrown, status } = await prepareBy(bench, way, convertToAidl4.model(small.model).value);
        expectThat(thrown.status === NONE, () => `IDevice.${way}: it throws ${statusName(thrown.status)}`);
        expectThat(status === NONE, () => `IDevice.${way}: its callback heard ${statusName(status)}`);
      }
    },
    async "a deadline that has passed is told to the callback alone"(bench) {
      const model = await writtenModel(bench);
      for (const way of preparationsOf(bench)) {
        const { thrown, status } = await prepareBy(bench, way, model, { deadlineNs: 0n });
        expectThat(
          thrown.status === NONE,
          () => `IDevice.${way} after its deadline: it throws ${statusName(thrown.status)}`,
        );
        const isOne = [NONE, MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT].some((each) => each === status);
        expectThat(isOne, () => `IDevice.${way} after its deadline: its callback heard ${statusName(status)}`);
      }
    },
    async "a null callback is INVALID_ARGUMENT by exception"(bench) {
      const { device } = aidlOf(bench);
      const model = await writtenModel(bench);
      const nothing = [[], [], new Uint8Array(32), null] as const;
      const prepared = await ask(bench, "IDevice.prepareModel", () =>
        device.prepareModel(model, 1, 1, -1n, ...nothing),
      );
      expectRefusal("IDevice.prepareModel without a callback", prepared, INVALID_ARGUMENT);
      const loaded = await ask(bench, "IDevice.prepareModelFromCache", () =>
        device.prepareModelFromCache(-1n, ...nothing),
      );
      expectRefusal("IDevice.prepareModelFromCache without a callback", loaded, INVALID_ARGUMENT);
    },
    async "a cache of another number of files, or of another token, is refused, told to the callback and thrown"(
      bench,
    ) {
      const { device } = aidlOf(bench);
      const load = (files: number, length: number) =>
        launch(bench, "IDevice.prepareModelFromCache", (callback) =>
          device.prepareModelFromCache(-1n, new Array<number>(files).fill(0), [], new Uint8Array(length), callback),
        );
      const { numModelCache } = await askFor(bench, "IDevice.getNumberOfCacheFilesNeeded", () =>
        device.getNumberOfCacheFilesNeeded(),
      );
      for (const length of [31, 33, 0]) {
        const what = `IDevice.prepareModelFromCache, a token of ${length} bytes`;
        expectRefused(what, await load(0, length), INVALID_ARGUMENT, GENERAL_FAILURE);
      }
      const what = "IDevice.prepareModelFromCache, a file too many";
      expectRefused(what, await load(numModelCache + 1, 32), INVALID_ARGUMENT, GENERAL_FAILURE);
    },
    async "getSupportedOperations answers about each operation, supported or not"(bench) {
      const { device } = aidlOf(bench);
      // Not a model that the device was found to support: that needs the same answers.
      const { model } = buildSmallModel(elementAt(smallOperations, 0), { type: "TENSOR_FLOAT32" });
      const answers = await askFor(bench, "IDevice.getSupportedOperations", () =>
        device.getSupportedOperations(convertToAidl4.model(model).value),
      );
      const isRight = Array.isArray(answers) && answers.length === model.main.operations.length;
      expectThat(isRight && answers.every((answer) => typeof answer === "boolean"), () => {
        return `IDevice.getSupportedOperations: expected a boolean for each operation, got ${JSON.stringify(answers)}`;
      });
    },
    async "getSupportedOperations says yes to what is prepared"(bench) {
      const { device } = aidlOf(bench);
      const model = await writtenModel(bench);
      const supported = await askFor(bench, "IDevice.getSupportedOperations", () =>
        device.getSupportedOperations(model),
      );
      const isRight = Array.isArray(supported) && supported.length === model.main.operations.length;
      expectThat(
        isRight,
        () => `IDevice.getSupportedOperations: expected an answer for each operation, got ${String(supported)}`,
      );
      expectThat(
        supported.every((yes) => yes === true),
        () => "IDevice.getSupportedOperations: expected true for each operation",
      );
    },
  }),
];

const name = "org.nnhal_conformance.unknown";
const value = Uint8Array.of(1);
const token = 0x1_0002;
const map = [{ name, prefix: 1 }];

/** Hints that are not valid. */
const wrongHints: readonly (readonly [
  what: string,
  hints: readonly AIDL4.TokenValuePair[],
  map: AIDL4.ExecutionConfig["extensionNameToPrefix"],
])[] = [
  [
    "a token twice",
    [
      { token, value },
      { token, value },
    ],
    map,
  ],
  ["a negative token", [{ token: -1, value }], map],
  ["a token whose prefix has no name", [{ token: 0x2_0002, value }], map],
  ["a token without a prefix", [{ token: 5, value }], map],
  ["a hint without a map", [{ token, value }], []],
];

const hintCases = [
  ...casesOf(
    "hints",
    "aidl4",
    wrongHints,
    ([what]) => `${what} is INVALID_ARGUMENT`,
    async (bench, [what, hints, extensionNameToPrefix]) => {
      const { small, model, trial } = await prepareSmall(bench);
      for (const { name, isConfigured, run } of await waysOf(bench)) {
        if (!isConfigured) continue;
        const settings = { hints: { executionHints: hints, extensionNameToPrefix } };
        expectRefusal(`${name}, ${what}`, await run(bench, model, trial().request, settings), INVALID_ARGUMENT);
      }
      const compiled = { hints: { compilationHints: hints, extensionNameToPrefix } };
      const own = convertToAidl4.model(small.model).value;
      const launched = await prepareBy(bench, "prepareModelWithConfig", own, compiled);
      expectRefused(`IDevice.prepareModelWithConfig, ${what}`, launched, INVALID_ARGUMENT);
    },
  ),
  ...group("hints", "aidl4", {
    async "those of an extension that the driver lacks are ignored"(bench) {
      const { small, model, trial } = await prepareSmall(bench);
      const pairs = [
        { token, value },
        { token: token + 1, value: new Uint8Array(0) },
      ];
      for (const { name, isConfigured, run } of await waysOf(bench)) {
        if (!isConfigured) continue;
        const one = trial();
        one.fill(name.length);
        const hints = { executionHints: pairs, extensionNameToPrefix: map };
        const answer = await run(bench, model, one.request, { hints });
        expectThat(
          answer.status === NONE,
          () => `${name} with hints of an unknown extension: ${statusName(answer.status)}`,
        );
        one.check(`${name} with hints of an unknown extension`);
      }
      const compiled = { hints: { compilationHints: pairs, extensionNameToPrefix: map } };
      const own = convertToAidl4.model(small.model).value;
      const { status } = await prepareBy(bench, "prepareModelWithConfig", own, compiled);
      expectThat(
        status === NONE,
        () => `IDevice.prepareModelWithConfig with hints of an unknown extension: ${statusName(status)}`,
      );
    },
  }),
];

type Change = (right: AIDL1.Model) => AIDL1.Model;

const inMain =
  (change: (main: AIDL1.Subgraph) => Partial<AIDL1.Subgraph>): Change =>
  (model) => ({ ...model, main: { ...model.main, ...change(model.main) } });

const operandOf = (more: (operand: AIDL1.Operand) => Partial<AIDL1.Operand>): Change =>
  inMain(({ operands }) => ({
    operands: operands.map((operand, index) => (index === 0 ? { ...operand, ...more(operand) } : operand)),
  }));

const operationOf = (type: number): Change =>
  inMain(({ operations }) => ({
    operations: operations.map((operation, index) => (index === 0 ? { ...operation, type } : operation)),
  }));

const located = (more: Partial<AIDL1.DataLocation>): Change =>
  operandOf(({ location }) => ({ location: { ...location, ...more } }));

/** Models that break a rule, with the rule in words: rules of AIDL, and parts that HIDL alone has. */
const wrongModels: readonly (readonly [what: string, change: Change])[] = [
  ["an operand of type -1", operandOf(() => ({ type: -1 }))],
  ["an operand of type 16", operandOf(() => ({ type: 16 }))],
  ["an operand of type OEM", operandOf(() => ({ type: OperandType.TENSOR_OEM_BYTE }))],
  ["an operand of a prefix of 16 bits", operandOf(() => ({ type: -0x8000_0000 }))],
  ["a negative extent", operandOf(() => ({ dimensions: [-2, 3] }))],
  ["a lifetime of -1", operandOf(() => ({ lifetime: -1 }))],
  ["a lifetime of 7", operandOf(() => ({ lifetime: 7 }))],
  ["a negative pool", located({ poolIndex: -1 })],
  ["a negative offset", located({ offset: -1 })],
  ["a negative length", located({ length: -1 })],
  ["a negative padding", located({ padding: -1 })],
  ["a padding", located({ padding: 1 })],
  ["an offset of 33 bits", located({ offset: 2 ** 32 })],
  ["a negative input", inMain(() => ({ inputIndexes: [-1] }))],
  ["an input that is not there", inMain(({ operands }) => ({ inputIndexes: [operands.length] }))],
  ["a negative output", inMain(() => ({ outputIndexes: [-1] }))],
  ["operation -1", operationOf(-1)],
  ["operation OEM_OPERATION", operationOf(OperationType.OEM_OPERATION)],
  ["operation 106", operationOf(106)],
  [
    "an operation that reads a negative operand",
    inMain(({ operations }) => ({ operations: operations.map((one) => ({ ...one, inputs: [-1] })) })),
  ],
  ["a prefix of 0", (model) => ({ ...model, extensionNameToPrefix: [{ name, prefix: 0 }] })],
  ["a prefix of 16 bits", (model) => ({ ...model, extensionNameToPrefix: [{ name, prefix: 0x8000 }] })],
  [
    "a prefix twice",
    (model) => ({
      ...model,
      extensionNameToPrefix: [
        { name, prefix: 1 },
        { name: `${name}.too`, prefix: 1 },
      ],
    }),
  ],
  [
    "a name twice",
    (model) => ({
      ...model,
      extensionNameToPrefix: [
        { name, prefix: 1 },
        { name, prefix: 2 },
      ],
    }),
  ],
  [
    "a name that is not one of an extension",
    (model) => ({ ...model, extensionNameToPrefix: [{ name: "Nothing", prefix: 1 }] }),
  ],
  ["a pool without a descriptor", (model) => ({ ...model, pools: [{ ashmem: { fd: null, size: 4 } }] })],
  ["a pool of 0 bytes", (model) => ({ ...model, pools: [{ mappableFile: { length: 0, prot: 1, fd: 0, offset: 0 } }] })],
  [
    "a pool that may be executed",
    (model) => ({ ...model, pools: [{ mappableFile: { length: 1, prot: 4, fd: 0, offset: 0 } }] }),
  ],
];

async function expectWrong(bench: Bench, what: string, wrong: AIDL1.Model): Promise<void> {
  const { device } = aidlOf(bench);
  const asked = await ask(bench, "IDevice.getSupportedOperations", () => device.getSupportedOperations(wrong));
  expectRefusal(`IDevice.getSupportedOperations, ${what}`, asked, INVALID_ARGUMENT);
  for (const way of preparationsOf(bench))
    expectRefused(`IDevice.${way}, ${what}`, await prepareBy(bench, way, wrong), INVALID_ARGUMENT);
}

const modelCases = [
  ...casesOf(
    "models",
    "aidl1",
    wrongModels,
    ([what]) => `${what} is INVALID_ARGUMENT`,
    async (bench, [what, change]) => expectWrong(bench, what, change(await writtenModel(bench))),
  ),
  ...group("models", "aidl1", {
    async "an operation of a later version is INVALID_ARGUMENT"(bench) {
      const { version } = aidlOf(bench);
      const model = await writtenModel(bench);
      const later = [
        ...(version < "aidl2" ? [OperationType.BATCH_MATMUL, OperationType.PACK] : []),
        ...(version < "aidl3" ? [OperationType.MIRROR_PAD, OperationType.REVERSE] : []),
      ];
      for (const type of later) await expectWrong(bench, `operation ${type}`, operationOf(type)(model));
    },
    async "a referenced subgraph without operations is INVALID_ARGUMENT"(bench) {
      const own = convertToAidl4.model(await ifModel(await smallModel(bench))).value;
      const referenced = own.referenced.map((subgraph, index) =>
        index === 0 ? { ...subgraph, operations: [] } : subgraph,
      );
      await expectWrong(bench, "a referenced subgraph without operations", { ...own, referenced });
    },
  }),
];

export const modelAndPreparationCases: readonly SuiteCase[] = [...preparationCases, ...hintCases, ...modelCases];
