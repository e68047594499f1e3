/**
 * The rehearsal of an execution. JavaScript compiles a function when it is first called, which for all that a request passes on
 * its way to the backend and back takes longer than small networks do: so it is called before somebody waits.
 */
import { type Executable, viewModel } from "@nnhal/backend";
import {
  ErrorStatus,
  ExecutionPreference,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  Priority,
  type RequestArgument,
  type RequestMemoryPool,
} from "@nnhal/types";
import { noTracer, silentLogger } from "@nnhal/utils";
import { createBufferDomain } from "../domains/allocate.ts";
import { memoryOf } from "../memory/memory.ts";
import { createBreather } from "../schedule/breather.ts";
import { createScheduler } from "../schedule/scheduler.ts";
import { systemTimer } from "../schedule/timer.ts";
import { createClient } from "./client.ts";
import type { DeviceContext } from "./context.ts";
import { guardExecutable } from "./guarded-executable.ts";
import { preparedModel } from "./prepared-model.ts";
import type { ModelRecord } from "./record.ts";
import { steadyClock } from "./steady-clock.ts";

/** Computes nothing. */
const executable: Executable = {
  run: (_inputs, outputs) => ({
    status: ErrorStatus.NONE,
    outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })),
  }),
  close() {},
};

const operand = (lifetime: number): Operand => ({
  type: OperandType.TENSOR_FLOAT32,
  dimensions: [1],
  numberOfConsumers: 0,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: { poolIndex: 0, offset: 0, length: 0 },
  extraParams: { kind: "none" },
});

const argument = (poolIndex: number): RequestArgument => ({
  hasNoValue: false,
  location: { poolIndex, offset: 0, length: 4 },
  dimensions: [],
});

/** A model of one float in and one out that computes nothing, to rehearse with. */
export const rehearsalModel: Model = {
  main: {
    operands: [operand(OperandLifeTime.SUBGRAPH_INPUT), operand(OperandLifeTime.SUBGRAPH_OUTPUT)],
    operations: [],
    inputIndexes: [0],
    outputIndexes: [1],
  },
  referenced: [],
  operandValues: new Uint8Array(0),
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
};

/**
 * Executes a request that computes nothing, on the device's own way, and gives the status. Nobody sees it: it is neither logged
 * nor traced, and is no work for the device's scheduler.
 */
export async function rehearse({
  name,
  session,
  operationByCode,
  random,
}: Pick<DeviceContext, "name" | "session" | "operationByCode" | "random">): Promise<ErrorStatus> {
  const model = rehearsalModel;
  const graph = viewModel({ model, pools: [], operationByCode });
  const record: ModelRecord = {
    model,
    graph,
    mandatory: [],
    executable: guardExecutable(executable, graph, { timer: systemTimer, complain() {}, onAbandoned() {} }),
    preference: ExecutionPreference.FAST_SINGLE_ANSWER,
    priority: Priority.MEDIUM,
  };
  const prepared = preparedModel(record, {
    name,
    session,
    operationByCode,
    now: steadyClock,
    timer: systemTimer,
    random,
    scheduler: createScheduler({ concurrency: 1, now: steadyClock, timer: systemTimer }),
    caching: undefined,
    idleAfter: 0n,
    overrun: 0n,
    breather: createBreather(),
    client: createClient(),
    domain: createBufferDomain(0),
    log: silentLogger,
    trace: noTracer,
  });
  const pools = [0, 1].map((): RequestMemoryPool => ({ kind: "memory", memory: memoryOf(new Uint8Array(4)) }));
  const { status } = await prepared.execute({ inputs: [argument(0)], outputs: [argument(1)], pools });
  prepared.close();
  return status;
}
