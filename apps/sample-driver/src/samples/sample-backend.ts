/**
 * The backend of a sample device: the reference; the device takes a part of its operations and reports the figures of the
 * table.
 */
import {
  type Backend,
  type BackendSession,
  type Executable,
  type GraphView,
  type OperationView,
  partialBackend,
} from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { any, defineOperation, tensor, variadic } from "@nnhal/operations/authoring";
import {
  type Capabilities,
  ErrorStatus,
  OperandType,
  operandTypeNames,
  operationTypes,
  type PerformanceInfo,
} from "@nnhal/types";
import { environmentProperties, getProp, type PropertySource } from "@nnhal/utils";
import { denies } from "./deny.ts";
import { type Figures, firstDataOperand, type Sample, sampleVersion } from "./table.ts";

/** Turns denials on: see `denies`. */
export const SAMPLE_SUPPORTED_PROPERTY = "debug.nn.sample.supported";

/** Options of a sample device. */
export interface SampleOptions {
  /** The name that the device is served under. Default: that of the table. */
  readonly name?: string | undefined;
  /** The source of `debug.nn.sample.supported`. Default: the environment variable NNHAL_SAMPLE_SUPPORTED. */
  readonly properties?: PropertySource | undefined;
}

/** The backend of a row of the table. A device over it must have no compilation caching. */
export function sampleBackend(sample: Sample, options: SampleOptions = {}): Backend {
  const { name = sample.name, properties = environmentProperties } = options;
  const mayDeny = name.startsWith("sample");
  const whole = sample.hasOem ? withOem(referenceBackend) : referenceBackend;
  return partialBackend(whole, {
    name: sample.name.replaceAll(/[^a-z0-9]/g, ""),
    version: sampleVersion,
    capabilities: sampleCapabilities(sample),
    whyNot(operation) {
      const reason = whyNotTaken(sample, operation);
      if (reason !== undefined) return `${name}: ${reason}`;
      const isDenied = mayDeny && getProp(properties, SAMPLE_SUPPORTED_PROPERTY) === 1 && denies(name, operation);
      return isDenied ? `${name}: ${operation.definition.name} is denied by ${SAMPLE_SUPPORTED_PROPERTY}` : undefined;
    },
  });
}

/** The capabilities of a row, for every operand type. */
export function sampleCapabilities({ rest, float32 = rest, relaxed = rest }: Sample): Capabilities {
  const info = ([execTime, powerUsage]: Figures): PerformanceInfo => ({ execTime, powerUsage });
  const floats: readonly number[] = [OperandType.FLOAT32, OperandType.TENSOR_FLOAT32];
  return {
    relaxedFloat32toFloat16PerformanceScalar: info(relaxed),
    relaxedFloat32toFloat16PerformanceTensor: info(relaxed),
    operandPerformance: [...operandTypeNames.keys()]
      .filter((type) => type !== OperandType.SUBGRAPH)
      .sort((a, b) => a - b)
      .map((type) => ({ type, info: info(floats.includes(type) ? float32 : rest) })),
    ifPerformance: info(rest),
    whilePerformance: info(rest),
  };
}

function whyNotTaken({ operations, firstTypes }: Sample, { definition, inputs }: OperationView): string | undefined {
  const { name } = definition;
  if (operations !== undefined && !operations.includes(name)) return `${name} is not one of its operations`;
  if (firstTypes === undefined) return undefined;
  const place = firstDataOperand[name] ?? 0;
  const { type = "absent" } = inputs[place] ?? {};
  if (typeof type === "string" && firstTypes.includes(type)) return undefined;
  return `${name}: input ${place} is ${typeof type === "string" ? type : type.name}, and it takes ${firstTypes.join(" and ")}`;
}

/** OEM_OPERATION with any operands and one output. No engine here can compute it. */
const oemOperation = defineOperation({
  name: "OEM_OPERATION",
  code: operationTypes.OEM_OPERATION.code,
  summary: "An operation that only a device's maker knows.",
  params: [variadic(any("inputs"))],
  outputs: [tensor("output")],
  types: [
    ["1.0", "OEM"],
    ["1.0", "TENSOR_OEM_BYTE"],
    ["1.0", "TENSOR_FLOAT32"],
    ["1.0", "TENSOR_QUANT8_ASYMM"],
  ],
});

/** A backend that also prepares models with OEM_OPERATION; their executions fail. */
function withOem(backend: Backend): Backend {
  return {
    ...backend,
    async open() {
      const session = await backend.open();
      return "unavailable" in session ? session : oemSession(session);
    },
  };
}

function oemSession(session: BackendSession): BackendSession {
  return {
    ...session,
    oemOperation,
    supports: (operation) => (isOem(operation) ? { supported: true } : session.supports(operation)),
    compile: async (graph, options) => (hasOem(graph) ? failing : session.compile(graph, options)),
  };
}

const isOem = ({ definition }: OperationView) => definition.code === oemOperation.code && !definition.extension;

/** Returns true if OEM_OPERATION is anywhere in a model. */
function hasOem({ operations, referenced }: GraphView): boolean {
  return [operations, ...referenced.map((subgraph) => subgraph.operations)].some((each) => each.some(isOem));
}

const failing: Executable = {
  run: () => ({
    status: ErrorStatus.GENERAL_FAILURE,
    message: "OEM_OPERATION cannot be executed on the CPU",
    outputShapes: [],
  }),
  close() {},
};
