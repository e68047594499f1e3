/**
 * A backend out of a table of kernels: the graph, the shapes, the life of every tensor and the control flow are taken care of
 * here, the engine only computes.
 */
import { bindInputs, bindOutputs, byteLength, elementCount, type OperandInfo } from "@nnhal/operations";
import { type DeviceType, ErrorStatus, operandTypes } from "@nnhal/types";
import type {
  Backend,
  BackendSession,
  Executable,
  InputBuffer,
  OutputBuffer,
  RunContext,
  Support,
  Unavailable,
} from "../contract.ts";
import type { GraphView, OperationView } from "../graph.ts";
import type { KernelEngine } from "./kernel.ts";
import { createPlaces, type Places } from "./places.ts";
import { closePlans, isOmitted, type KernelPlan, planKernels } from "./plan.ts";
import { runKernels } from "./run.ts";

/** What a backend of kernels is made of. */
export interface KernelBackendOptions<Handle> {
  /** Lower case letters and digits. */
  readonly name: string;
  readonly deviceType: DeviceType;
  /** Loads the engine, or says what stands in its way. */
  open(): Promise<KernelEngine<Handle> | Unavailable>;
}

/** Turns kernels into a backend. */
export function kernelBackend<Handle>({ name, deviceType, open }: KernelBackendOptions<Handle>): Backend {
  return {
    name,
    deviceType,
    async open() {
      const engine = await open();
      return "unavailable" in engine ? engine : sessionOver(engine, name);
    },
  };
}

function sessionOver<Handle>(engine: KernelEngine<Handle>, name: string): BackendSession {
  const places = createPlaces(engine);
  return {
    version: engine.version,
    capabilities: engine.capabilities,
    ...(engine.deviceType !== undefined && { deviceType: engine.deviceType }),
    ...(engine.missing && { missing: engine.missing }),
    supports: (operation) => supports(engine, operation, name),
    async compile(graph): Promise<Executable> {
      const plan = planKernels(graph, engine);
      try {
        await runOnZeros(plan, engine, places);
      } catch (error) {
        closePlans(plan);
        throw error;
      }
      return {
        run: (inputs, outputs, context) => runKernels(plan, engine, places, inputs, outputs, context),
        close: () => closePlans(plan),
      };
    },
    allocate: (value) => places.allocate(value),
    close: async () => engine.close(),
  };
}

function supports<Handle>(
  { kernels }: KernelEngine<Handle>,
  { definition, match, inputs, outputs }: OperationView,
  name: string,
): Support {
  if (definition.controlFlow) return { supported: true };
  const refuse = (reason: string): Support => ({ supported: false, reason: `${definition.name}: ${reason}` });
  const kernel = kernels[definition.name];
  if (kernel === undefined) return refuse(`${name} has no kernel for it`);
  if (definition.dynamic) return refuse(`${name} does not run operations whose shapes depend on the data`);
  const operands = inputs.map((input): OperandInfo | undefined => (isOmitted(input) ? undefined : input));
  const bound = [bindInputs(match.form, operands), bindOutputs(match.form, outputs)] as const;
  const reason = kernel.refuse?.(...bound);
  if (reason !== undefined) return refuse(reason);
  const launches = kernel.launches?.(...bound);
  return { supported: true, ...(launches !== undefined && { launches }) };
}

/**
 * Runs before the first execution, and nanoseconds after which no further one begins: engines compile and reserve at the first, and
 * JavaScript is slow for the first few, which matters where a run takes no longer than compiling does.
 */
const warmUp = { least: 3, most: 24, time: 50_000_000n, mostTime: 1_000_000_000n };

/**
 * Runs the graph on zeros where its shapes are known, and releases the constants that only the preparation needed. What goes
 * wrong here may be due to the zeros; if not, the execution says so.
 */
async function runOnZeros<Handle>(
  plan: KernelPlan<Handle>,
  engine: KernelEngine<Handle>,
  places: Places<Handle>,
): Promise<void> {
  const plans = [plan, ...plan.referenced];
  for (const { constants } of plans) constants.trim();
  const { graph } = plan;
  const inputs = graph.inputs.map((index) => bufferFor(graph, index));
  if (inputs.some((input) => input === undefined)) return;
  const outputs = graph.outputs.map((index): OutputBuffer => {
    const dimensions = graph.operands[index]?.dimensions ?? [];
    return bufferFor(graph, index) ?? { bytes: new Uint8Array(0), dimensions };
  });
  const context: RunContext = {
    now: steadyClock,
    loopTimeoutDuration: warmUp.mostTime / 10n,
    measure: false,
    random: () => 0.5,
  };
  const start = steadyClock();
  for (let run = 0; run < warmUp.most; run++) {
    const mostTime = run < warmUp.least ? warmUp.mostTime : warmUp.time;
    if (steadyClock() - start >= mostTime) return;
    const { status } = await runKernels(plan, engine, places, inputs, outputs, context);
    if (status !== ErrorStatus.NONE && status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) return;
    if (run === 0) for (const { constants } of plans) constants.trim();
  }
}

function steadyClock(): bigint {
  return BigInt(Math.round(performance.now() * 1e6));
}

/** Zeros for an operand; undefined where its extents are not known. */
function bufferFor({ operands }: GraphView, index: number): (InputBuffer & OutputBuffer) | undefined {
  const operand = operands[index];
  if (operand === undefined || operand.dimensions.includes(0)) return undefined;
  const { type, dimensions } = operand;
  if (operandTypes[type].kind === "tensor" && dimensions.length === 0) return undefined;
  return { bytes: new Uint8Array(byteLength(type, elementCount(dimensions))), dimensions };
}
