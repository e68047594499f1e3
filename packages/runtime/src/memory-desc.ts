/**
 * MemoryDesc: the future uses of a memory, which determine its best place (NNAPI: ANeuralNetworksMemoryDesc).
 */
import { allocateBlob, allocateMemory } from "@nnhal/driver-core/memory";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { combineDimensions, defaultLogger, type Logger } from "@nnhal/utils";
import { allocateOrThrow, expectDimensions, expectRight } from "./checks.ts";
import type { CompiledModel } from "./compiled-model.ts";
import { expectKind } from "./given.ts";
import type { GuardedDevice } from "./guard/device.ts";
import {
  type DeviceBuffer,
  describedContent,
  isSameOperand,
  type MemoryContent,
  type MemoryOperand,
  type Role,
} from "./memory-content.ts";
import { sizeOfData } from "./operand-facts.ts";
import { allocateFor, type WeightedRole } from "./plan/device-memory.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/** A role, and how likely an execution has it. */
interface UsedRole extends Role {
  readonly frequency: number;
}

/**
 * A descriptor. Roles are added, then `finish` makes it immutable. `Memory.createFromDesc` can be called any number of times.
 *
 * Methods throw a NeuralNetworksError: BAD_STATE after `finish`, BAD_DATA for an argument that breaks a rule. A call
 * that throws leaves the descriptor as it was.
 */
export class MemoryDesc {
  readonly #roles: UsedRole[] = [];
  #operand: MemoryOperand | undefined;
  #dimensions: readonly number[] = [];
  #isFinished = false;

  /** The memory may be an input of a finished compilation. `frequency`: how likely, within (0, 1]. Default: 1. */
  addInputRole(compilation: CompiledModel, index: number, frequency = 1): void {
    this.#addRole("addInputRole", { compilation, side: "input", index, frequency });
  }

  /** The memory may be an output of a finished compilation. */
  addOutputRole(compilation: CompiledModel, index: number, frequency = 1): void {
    this.#addRole("addOutputRole", { compilation, side: "output", index, frequency });
  }

  /** Sets the extents of the value, 0 for unknown ones. They must not contradict the roles. */
  setDimensions(dimensions: readonly number[]): void {
    const what = "MemoryDesc.setDimensions";
    this.#expectOpen(what);
    expectDimensions(dimensions, what);
    this.#dimensions = combine(this.#dimensions, dimensions, this.#operand, what);
  }

  /** Makes the descriptor immutable. Throws BAD_DATA if it has no role. */
  finish(): void {
    this.#expectOpen("MemoryDesc.finish");
    expect(this.#roles.length > 0, ResultCode.BAD_DATA, () => "MemoryDesc.finish: no role was added");
    this.#isFinished = true;
  }

  /** For this package: the logger of the first compilation. */
  get log(): Logger {
    return this.#roles[0]?.compilation.log ?? defaultLogger;
  }

  /** For Memory.createFromDesc. */
  async allocate(): Promise<MemoryContent> {
    const what = "Memory.createFromDesc";
    const operand = this.#operand;
    const isReady = this.#isFinished && operand !== undefined;
    expect(isReady, ResultCode.BAD_STATE, () => `${what}: the descriptor is not finished`);
    const roles = this.#roles;
    const dimensions = this.#dimensions;
    const description = { roles, operand, dimensions };
    const onDevice = await allocateOnDevice(roles, dimensions, this.log);
    if ("buffer" in onDevice) return describedContent(onDevice, description);
    const size = sizeOfData(operand.facts, dimensions);
    const isExplicit = roles.some(({ compilation }) => compilation.isExplicit);
    const mayFallBack = size !== undefined && size > 0 && !isExplicit;
    if (!mayFallBack) {
      const why = isExplicit ? "a compilation is for an explicit list of devices" : "its size is not known";
      throw new NeuralNetworksError(
        onDevice.code,
        `${what}: ${onDevice.message}; plain bytes cannot be used, since ${why}`,
      );
    }
    // Drivers older than HAL 1.3 know no hardware buffers made by the runtime.
    const isRecent = roles.every(({ compilation }) => compilation.usedDevices.every(isOfHal1_3));
    const plain = allocateOrThrow(size, what, isRecent ? allocateBlob : allocateMemory);
    return describedContent({ plain }, description);
  }

  #addRole(method: string, role: UsedRole): void {
    const what = `MemoryDesc.${method}`;
    const { compilation, side, index, frequency } = role;
    this.#expectOpen(what);
    expectKind(compilation, "Compilation", what, "compilation");
    const isReady = compilation.isFinished;
    expect(isReady, ResultCode.BAD_DATA, () => `${what}: the compilation is not finished, or failed or was closed`);
    const { operands, inputIndexes, outputIndexes } = compilation.hal.main;
    const indexes = side === "input" ? inputIndexes : outputIndexes;
    const operandIndex = indexes[index];
    expect(
      operandIndex !== undefined,
      ResultCode.BAD_DATA,
      () => `${what}: there is no ${side} ${index}, the model has ${indexes.length}`,
    );
    const isTwice = this.#roles.some(
      (other) => other.compilation === compilation && other.side === side && other.index === index,
    );
    expect(!isTwice, ResultCode.BAD_DATA, () => `${what}: ${side} ${index} of this compilation is a role already`);
    expectRight(frequency > 0 && frequency <= 1, what, "a frequency, a number within (0, 1]", frequency);
    const { type, scale, zeroPoint, extraParams, dimensions } = elementAt(operands, operandIndex);
    const facts = compilation.factsOf(type);
    expect(facts !== undefined, ResultCode.BAD_DATA, () => `${what}: nothing describes operand type ${type}`);
    const operand: MemoryOperand = { facts, scale, zeroPoint, extraParams };
    expect(
      this.#operand === undefined || isSameOperand(this.#operand, operand),
      ResultCode.BAD_DATA,
      () => `${what}: ${side} ${index} has another type or quantisation than the roles before it`,
    );
    this.#dimensions = combine(this.#dimensions, dimensions, operand, what);
    this.#operand = operand;
    this.#roles.push(role);
  }

  #expectOpen(what: string): void {
    expect(!this.#isFinished, ResultCode.BAD_STATE, () => `${what}: the descriptor is finished`);
  }
}

function combine(
  known: readonly number[],
  more: readonly number[],
  operand: MemoryOperand | undefined,
  what: string,
): readonly number[] {
  const isScalar = operand !== undefined && operand.facts.kind !== "tensor";
  const result = isScalar && known.length + more.length > 0 ? undefined : combineDimensions(known, more);
  const needed = isScalar ? "none, for a scalar" : `[${known}]`;
  expect(
    result !== undefined,
    ResultCode.BAD_DATA,
    () => `${what}: the dimensions [${isScalar ? [...known, ...more] : more}] contradict those known so far, ${needed}`,
  );
  return [...result];
}

function isOfHal1_3({ halVersion }: GuardedDevice): boolean {
  return halVersion >= "1.3";
}

/** Allocates on the only device that has all roles, or reports why there is none. */
async function allocateOnDevice(
  roles: readonly UsedRole[],
  dimensions: readonly number[],
  log: Logger,
): Promise<DeviceBuffer | { readonly code: ResultCode; readonly message: string }> {
  const weighted: WeightedRole[] = [];
  for (const { compilation, side, index, frequency } of roles) {
    const uses = compilation.rolesOf(side, index) ?? [];
    if (uses.length === 0) return failWith(`no device uses ${side} ${index} of a compilation by itself`);
    weighted.push(...uses.map((role) => ({ role, frequency })));
  }
  const { status, message = `status ${status}`, buffer, token } = await allocateFor({ dimensions }, weighted, log);
  if (status !== ErrorStatus.NONE) return failWith(message, convertErrorStatusToResultCode(status));
  // The guard has checked that.
  if (buffer === null) return failWith("the device answered NONE without a buffer");
  return { buffer, token };
}

function failWith(message: string, code: ResultCode = ResultCode.OP_FAILED) {
  return { code, message };
}
