/**
 * The prepared model of a compilation, which executions borrow: it is closed once it is given back by all of them.
 */
import { inSection, type Tracer } from "@nnhal/utils";
import type { ExecutionTarget } from "./compiled-model.ts";
import type { Divided } from "./plan/divide.ts";

/** See the file's head. */
export class LentModel {
  readonly divided: Divided;
  /** The target of executions. */
  readonly target: ExecutionTarget;
  readonly #trace: Tracer;
  /** Executions that are running. */
  #loans = 0;
  #state: "open" | "closing" | "closed" = "open";

  /** `isObserved`: the application observes steps, so that even a device with the whole model is called by the plan. */
  constructor(divided: Divided, isObserved: boolean, trace: Tracer) {
    const { preparedModel, canFallBack, whole } = divided;
    this.divided = divided;
    this.target = { preparedModel, canFallBack, ...(whole && !isObserved && { whole }) };
    this.#trace = trace;
  }

  lend(): ExecutionTarget {
    this.#loans++;
    return this.target;
  }

  giveBack(): void {
    this.#loans--;
    this.#closeWhenIdle();
  }

  close(): void {
    if (this.#state === "open") this.#state = "closing";
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    if (this.#state !== "closing" || this.#loans > 0) return;
    this.#state = "closed";
    inSection(this.#trace, "LR", "PT", "Compilation.close", () => this.divided.preparedModel.close());
  }
}
