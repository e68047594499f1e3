/** The facts of a driver or device: queries never throw or stay pending for ever, and their answers keep the rules of the HAL. */
import type { Device, SupportedOperations } from "@nnhal/types";
import { attempt, refuseUnreadable } from "../guard/attempt.ts";
import { failedSupport } from "../guard/failed.ts";
import { timedGuard } from "../guard/guard.ts";
import { guardQueries, type Queries, readSupportedOperations } from "../guard/queries.ts";
import type { AnswerLimits } from "../guard/wait.ts";

/** The queries of a device. */
export type Facts = Queries & Pick<Device, "getSupportedOperations">;

/** See the file's head. `name`: names the device in messages. `limits`: of waits for what can come later. */
export function guardFacts(own: Facts, name: string, limits: AnswerLimits): Facts {
  const guard = timedGuard(name, limits);
  return {
    ...guardQueries(own, { prefix: `${name}: `, mayLackType: true }),
    getSupportedOperations(model) {
      const refusal = refuseUnreadable(() => {
        void model.main.operations.length;
        return undefined;
      });
      if (refusal !== undefined) return failedSupport(refusal);
      const method = "getSupportedOperations";
      return attempt<SupportedOperations | Promise<SupportedOperations>>(
        `${name}: ${method}`,
        () => {
          const answer: unknown = own.getSupportedOperations(model);
          if (!(answer instanceof Promise)) return readSupportedOperations(answer, model);
          return guard.call(method, async () => readSupportedOperations(await answer, model), failedSupport);
        },
        failedSupport,
      );
    },
  };
}
