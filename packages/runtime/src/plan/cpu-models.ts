/**
 * What a failing step or model falls back to: the same model on the CPU, prepared when it is first needed.
 */
import type { Model, PreparedModel, PrepareOptions } from "@nnhal/types";
import type { Logger } from "@nnhal/utils";
import type { GuardedDevice } from "../guard/device.ts";

/** What a failing step falls back to. */
export interface Fallback {
  /** The device that takes every model. */
  readonly cpu: GuardedDevice;
  readonly options: PrepareOptions;
  /** Told of each step or model that had to be run again. */
  readonly onFallback?: (message: string) => void;
}

/** Models on the CPU. */
export interface CpuModels {
  readonly device: GuardedDevice;
  /** Says that something falls back and prepares it, once; null where that fails. */
  prepare(model: Model, what: string): Promise<PreparedModel | null>;
  close(): void;
}

/** No model yet. */
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
