/** Prepared models whose calls end in time: see bounds.ts. */
import { loadOnce } from "@nnhal/utils";
import { boundExecution, type Watch, watchFenced } from "./bounds.ts";
import type { GuardedModel } from "./guard/prepared-model.ts";

const reusables = loadOnce(() => import("./guard/reusable.ts"));

/** A prepared model whose calls end in time. Calls without a deadline or watchdog cost nothing more. */
export function watchModel(own: GuardedModel, watch: Watch): GuardedModel {
  const { executeFenced, openBurst, configureExecutionBurst, createReusableExecution } = own;
  return {
    execute: (request, options) =>
      boundExecution(own.execute(request, options), options?.deadline, watch, (answer) => answer),
    ...(executeFenced && {
      executeFenced: (request, waitFor, options = {}) =>
        watchFenced(executeFenced(request, waitFor, options), waitFor, options, watch),
    }),
    ...(configureExecutionBurst && { configureExecutionBurst }),
    ...(createReusableExecution && {
      createReusableExecution: async (...setUp) =>
        (await reusables()).watchReusable(await createReusableExecution(...setUp), watch),
    }),
    ...(openBurst && {
      async openBurst() {
        const created = await openBurst();
        const { burst } = created;
        if (burst === null) return created;
        const compute: typeof burst.compute = (request, options) =>
          boundExecution(burst.compute(request, options), options?.deadline, watch, (answer) => ({
            ...answer,
            fallback: false,
          }));
        return { ...created, burst: { ...burst, compute } };
      },
    }),
    close: () => own.close(),
  };
}
