/**
 * Burst: executions of one compilation in rapid succession (NNAPI: ANeuralNetworksBurst).
 */
import type { BurstExecutionResult, BurstController as HalBurst } from "@nnhal/driver-core/burst";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type Memory as HalMemory,
  type Request,
} from "@nnhal/types";
import { whenCollected } from "@nnhal/utils";
import type { Abandoned } from "./bounds.ts";
import { type BurstStage, createBurstStage } from "./burst-stage.ts";
import { close } from "./close.ts";
import type { CompiledModel, Executing, ExecutionTarget } from "./compiled-model.ts";
import { type ExecutionRun, throwUnlessDone } from "./execution-run.ts";
import { expectKind } from "./given.ts";
import type { OpenedBurst } from "./guard/burst.ts";
import type { GuardedModel } from "./guard/prepared-model.ts";
import type { Memory } from "./memory.ts";
import { isRecoverable } from "./plan/recoverable.ts";
import { expect, ResultCode } from "./result-code.ts";

/**
 * A burst of a compilation, for `Execution.burstCompute`. If one device has the whole model, and serves bursts, requests go
 * to its burst: directly if the device is in this thread, else through queues. All other requests, and those that a burst
 * cannot carry, are executed without a burst.
 *
 * Throws a NeuralNetworksError: BAD_STATE for a compilation that is not finished, and for use out of turn.
 */
export class Burst {
  readonly #compilation: CompiledModel;
  readonly #queues: HalBurst | undefined;
  /** For the caller's arrays, if the device does not see them. */
  readonly #stage: BurstStage | undefined;
  readonly #remembered = new WeakSet<Memory>();
  /** Memories can outlive bursts, and bursts can outlive memories: neither keeps the other alive. */
  readonly #forget: (pool: HalMemory) => void;
  readonly #cancelFinalizer: () => void;
  #state: "idle" | "busy" | "closed" = "idle";

  private constructor(compilation: CompiledModel, opened: OpenedBurst | undefined) {
    const queues = opened?.burst ?? undefined;
    this.#compilation = compilation;
    this.#queues = queues;
    this.#forget = (pool) => void queues?.freeMemory(pool);
    const { allocateShared } = opened ?? {};
    this.#stage = allocateShared && createBurstStage(allocateShared, this.#forget);
    this.#cancelFinalizer = whenCollected(this, queues, close);
  }

  /** Starts a burst of a finished compilation. */
  static async create(compilation: CompiledModel): Promise<Burst> {
    expectKind(compilation, "Compilation", "Burst.create", "compilation");
    return new Burst(compilation, await queuesTo(compilation.executable.whole, compilation));
  }

  /** Ends the burst, after the execution under way. */
  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#cancelFinalizer();
    void this.#queues?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** For Execution: computes it, as `burstCompute` says. */
  async compute(run: ExecutionRun): Promise<void> {
    const what = "burstCompute";
    const { compilation, arguments: args } = run;
    run.expectReady(what);
    args.expectValues(what);
    this.take(compilation);
    const executable = run.start(what);
    const execute: Executing["execute"] = (...request) => this.run(executable, ...request, args.memories);
    await run.execute(what, run.options(), { execute }, throwUnlessDone);
  }

  /** For Execution: takes the burst's turn. Throws BAD_DATA for another compilation, BAD_STATE if the turn is taken. */
  take(compilation: object): void {
    const what = "burstCompute";
    const isOwn = compilation === this.#compilation;
    expect(isOwn, ResultCode.BAD_DATA, () => `${what}: the burst is of another compilation than the execution`);
    const isIdle = this.#state === "idle";
    const why = this.#state === "closed" ? "is closed" : "runs another execution";
    expect(isIdle, ResultCode.BAD_STATE, () => `${what}: the burst ${why}`);
    this.#state = "busy";
  }

  /**
   * For Execution: runs a request and returns the turn. `memories`: the application's memories in the request, which the
   * device may remember until they are closed. It forgets all other pools.
   */
  async run(
    { preparedModel, canFallBack }: ExecutionTarget,
    request: Request,
    options: ExecuteOptions,
    memories: ReadonlyMap<HalMemory, Memory>,
  ): Promise<ExecutionResult> {
    const ordinarily = () => preparedModel.execute(request, options);
    try {
      if (this.#queues === undefined) return await ordinarily();
      const staged = this.#stage?.enter(request, (memory) => !memories.has(memory));
      const sent = staged?.request ?? request;
      const answer: BurstExecutionResult & Abandoned = await this.#queues.compute(sent, options);
      if (answer.abandoned !== undefined) this.#stage?.leave();
      const { fallback, ...result } = answer;
      if (fallback) return await ordinarily();
      // Outputs that are long enough are complete, even if another is not.
      if (result.outputShapes.length > 0) staged?.finish();
      for (const pool of sent.pools) {
        if (pool.kind !== "memory" || pool.memory === this.#stage?.memory) continue;
        const memory = memories.get(pool.memory);
        // The queues forget it before the next request.
        if (memory === undefined) void this.#queues.freeMemory(pool.memory);
        else this.#remember(memory, pool.memory);
      }
      return canFallBack && isRecoverable(result.status) ? await ordinarily() : result;
    } finally {
      if (this.#state === "busy") this.#state = "idle";
    }
  }

  #remember(memory: Memory, pool: HalMemory): void {
    if (this.#remembered.has(memory)) return;
    this.#remembered.add(memory);
    memory.whenClosed(this.#forget);
    whenCollected(memory, { queues: this.#queues, pool }, forget);
  }
}

function forget({ queues, pool }: { readonly queues: HalBurst | undefined; readonly pool: HalMemory }): void {
  void queues?.freeMemory(pool);
}

async function queuesTo(
  model: GuardedModel | undefined,
  { log }: Pick<CompiledModel, "log">,
): Promise<OpenedBurst | undefined> {
  if (model?.openBurst === undefined) return undefined;
  const opened = await model.openBurst();
  const { status, message, burst } = opened;
  if (status === ErrorStatus.NONE && burst !== null) return opened;
  log.VLOG("EXECUTION", `there is no burst, executions run without it: ${message ?? `status ${status}`}`);
  return undefined;
}
