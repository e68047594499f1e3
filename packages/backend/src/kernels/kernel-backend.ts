/**
 * A backend from a table of kernels. This module handles the graph, shapes, lifetimes of tensors and control flow; the engine
 * only computes.
 */
import { bindInputs, bindOutputs, type OperandInfo } from "@nnhal/operations";
import type { DeviceType } from "@nnhal/types";
import type { Backend, BackendSession, Executable, OpenOptions, Support, Unavailable } from "../contract.ts";
import type { OperationView } from "../graph.ts";
import type { KernelEngine } from "./kernel.ts";
import { createPlaces } from "./places.ts";
import { closePlans, idlePlans, isOmitted, kernelOf, nameOf, planKernels } from "./plan.ts";
import { checkOf, runKernels, type Session } from "./run.ts";
import { drive } from "./steps.ts";
import type { Memory } from "./values.ts";
import { runOnZeros, type WarmRuns } from "./warm-up.ts";

/** Options of `kernelBackend`. */
export interface KernelBackendOptions<Handle> {
  /** Lower case letters and digits. */
  readonly name: string;
  readonly deviceType: DeviceType;
  /** Loads the engine, or resolves with the reason why that is not possible. */
  open(options?: OpenOptions): Promise<KernelEngine<Handle> | Unavailable>;
}

/** Creates a backend from an engine of kernels. */
export function kernelBackend<Handle>({ name, deviceType, open }: KernelBackendOptions<Handle>): Backend {
  // All sessions run the same code.
  const warmRuns: WarmRuns = new Map();
  return {
    name,
    deviceType,
    async open(options) {
      const engine = await open(options);
      return "unavailable" in engine ? engine : sessionOver(engine, name, warmRuns);
    },
  };
}

function sessionOver<Handle>(engine: KernelEngine<Handle>, name: string, warmRuns: WarmRuns): BackendSession {
  const memory: Memory<Handle> = { engine, used: 0 };
  const places = createPlaces(memory);
  const session: Session<Handle> = { memory, places };
  return {
    version: engine.version,
    capabilities: engine.capabilities,
    ...(engine.powerBasis !== undefined && { powerBasis: engine.powerBasis }),
    ...(engine.choices && { choices: engine.choices }),
    ...(engine.deviceType !== undefined && { deviceType: engine.deviceType }),
    ...(engine.missing && { missing: engine.missing }),
    ...(engine.extensions && { extensions: engine.extensions.map(({ extension }) => extension) }),
    ...(engine.oem && { oemOperation: engine.oem.operation }),
    supports: (operation) => supports(engine, operation, name),
    async compile(graph, options): Promise<Executable> {
      const check = checkOf(options, "the deadline passed while the model was prepared");
      const plan = await drive(planKernels(graph, memory), check);
      try {
        if (engine.warmsUp !== false) await runOnZeros(plan, session, warmRuns, { ...options, check });
      } catch (error) {
        closePlans(plan);
        throw error;
      }
      return {
        run: (inputs, outputs, context) => runKernels(plan, session, inputs, outputs, context),
        releaseScratch() {
          idlePlans(plan);
          engine.releaseScratch?.();
        },
        close: () => closePlans(plan),
      };
    },
    ...(!engine.isHost && { allocate: (value) => places.allocate(value) }),
    close: async () => engine.close(),
  };
}

function supports<Handle>(engine: KernelEngine<Handle>, operation: OperationView, name: string): Support {
  const { definition, match, inputs, outputs } = operation;
  if (definition.controlFlow) return { supported: true };
  const refuse = (reason: string): Support => ({ supported: false, reason: `${nameOf(definition)}: ${reason}` });
  const kernel = kernelOf(engine, operation);
  if (kernel === undefined) return refuse(`${name} has no kernel for it`);
  if (definition.dynamic && engine.extentsOf === undefined)
    return refuse(`${name} does not run operations whose shapes depend on the data`);
  const operands = inputs.map((input): OperandInfo | undefined => (isOmitted(input) ? undefined : input));
  const bound = [bindInputs(match.form, operands), bindOutputs(match.form, outputs)] as const;
  const reason = kernel.refuse?.(...bound);
  if (reason !== undefined) return refuse(reason);
  const dispatches = kernel.dispatches?.(...bound);
  return { supported: true, ...(dispatches !== undefined && { dispatches }) };
}
