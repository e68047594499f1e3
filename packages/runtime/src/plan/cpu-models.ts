/**
 * Fallback to the CPU: the model of a failed step, or the whole model, prepared on the CPU when it is first needed.
 */
import type { Model, PreparedModel, PrepareOptions } from "@nnhal/types";
import type { Logger } from "@nnhal/utils";
import type { GuardedDevice } from "../guard/device.ts";

/** The fallback of failed steps. */
export interface Fallback {
  /** The device that supports every model. */
  readonly cpu: GuardedDevice;
  readonly options: PrepareOptions;
  /** Called for each step or model that runs again. */
  readonly onFallback?: (message: string) => void;
}

/** Models on the CPU. */
export interface CpuModels {
  readonly device: GuardedDevice;
  /** Reports a fallback, and prepares the model once. Resolves with null if that fails. */
  prepare(model: Model, what: string): Promise<PreparedModel | null>;
  close(): void;
}

/** CPU models, each prepared on first use. */
export function cpuModels({ cpu, options, onFallback }: Fallback, log: Logger): CpuModels {
  const prepared = new Map<Model, Promise<PreparedModel | null>>();
  return {
    device: cpu,
    prepare(model, what) {
      const message = `the ${what} runs again on ${cpu.name}`;
      log.VLOG("EXECUTION", message);
      onFallback?.(message);
      let result = prepared.get(model);
      if (result === undefined) {
        result = cpu.prepareModel(model, options).then(({ status, message = `status ${status}`, preparedModel }) => {
          if (preparedModel === null) log.warning(`the ${what} cannot be prepared on ${cpu.name}: ${message}`);
          return preparedModel;
        });
        prepared.set(model, result);
      }
      return result;
    },
    close() {
      for (const result of prepared.values()) void result.then((preparedModel) => preparedModel?.close());
    },
  };
}
