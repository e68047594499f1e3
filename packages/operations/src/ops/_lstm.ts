/**
 * The operands of an LSTM cell, with all that the HAL lets it have: coupled input and forget gates (CIFG), peepholes, projection,
 * clipping, layer normalisation, an auxiliary input. LSTM runs it once, the sequence operations along time.
 */
import { ensure, OperationError } from "../fail.ts";
import { ensureShape } from "../shape.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";
import { cellActivation } from "./_gate-activation.ts";

/** The operands of one gate. */
export interface Gate<T extends TensorInfo = Tensor> {
  /** [units, inputs] */
  readonly input: T;
  /** [units, outputs] */
  readonly recurrent: T;
  /** [units, auxiliary inputs] */
  readonly auxiliary?: T | undefined;
  /** Peephole: [units] */
  readonly cell?: T | undefined;
  /** [units] */
  readonly bias: T;
  /** Layer normalisation: [units] */
  readonly norm?: T | undefined;
}

/** The operands of a cell. Without an input gate the forget gate is coupled to it (CIFG). */
export interface LstmCell<T extends TensorInfo = Tensor> {
  readonly inputGate: Gate<T> | undefined;
  readonly forgetGate: Gate<T>;
  readonly cellGate: Gate<T>;
  readonly outputGate: Gate<T>;
  /** [outputs, units] */
  readonly projection?: T | undefined;
  /** [outputs] */
  readonly projectionBias?: T | undefined;
}

/** The operands of a cell by the HAL's roles, as LSTM and UNIDIRECTIONAL_SEQUENCE_LSTM name them. */
export interface LstmOperands<T extends TensorInfo> {
  readonly inputToInputWeights: T | undefined;
  readonly inputToForgetWeights: T;
  readonly inputToCellWeights: T;
  readonly inputToOutputWeights: T;
  readonly recurrentToInputWeights: T | undefined;
  readonly recurrentToForgetWeights: T;
  readonly recurrentToCellWeights: T;
  readonly recurrentToOutputWeights: T;
  readonly cellToInputWeights: T | undefined;
  readonly cellToForgetWeights: T | undefined;
  readonly cellToOutputWeights: T | undefined;
  readonly inputGateBias: T | undefined;
  readonly forgetGateBias: T;
  readonly cellBias: T;
  readonly outputGateBias: T;
  readonly projectionWeights: T | undefined;
  readonly projectionBias: T | undefined;
  readonly inputLayerNormWeights?: T | undefined;
  readonly forgetLayerNormWeights?: T | undefined;
  readonly cellLayerNormWeights?: T | undefined;
  readonly outputLayerNormWeights?: T | undefined;
  readonly auxiliaryToInputWeights?: T | undefined;
  readonly auxiliaryToForgetWeights?: T | undefined;
  readonly auxiliaryToCellWeights?: T | undefined;
  readonly auxiliaryToOutputWeights?: T | undefined;
}

/** Sizes of a cell. */
export interface LstmSizes {
  readonly inputs: number;
  readonly units: number;
  readonly outputs: number;
}

/** The cell that some operands form. Throws an OperationError if an operand is there without others that it requires. */
export function lstmCell<T extends TensorInfo>(o: LstmOperands<T>): LstmCell<T> {
  const hasInputGate = o.inputToInputWeights !== undefined;
  allOrNone("input gate", [o.inputToInputWeights, o.recurrentToInputWeights, o.inputGateBias]);
  allOrNone("peephole", [o.cellToForgetWeights, o.cellToOutputWeights]);
  ensure(
    hasInputGate ? !o.cellToInputWeights === !o.cellToForgetWeights : !o.cellToInputWeights,
    () => "cellToInputWeights must be given exactly where there are an input gate and the other peephole weights",
  );
  ensure(
    o.projectionBias === undefined || o.projectionWeights !== undefined,
    () => "a projection bias is given, but no projection weights",
  );
  allOrNone("layer normalisation", [o.forgetLayerNormWeights, o.cellLayerNormWeights, o.outputLayerNormWeights]);
  ensure(
    !o.inputLayerNormWeights === !(hasInputGate && o.forgetLayerNormWeights),
    () => "inputLayerNormWeights must be given exactly where there are an input gate and the other normalisations",
  );
  allOrNone("auxiliary", [o.auxiliaryToForgetWeights, o.auxiliaryToCellWeights, o.auxiliaryToOutputWeights]);
  ensure(
    !o.auxiliaryToInputWeights === !(hasInputGate && o.auxiliaryToForgetWeights),
    () => "auxiliaryToInputWeights must be given exactly where there are an input gate and the other auxiliary weights",
  );
  return {
    inputGate: inputGateOf(o),
    forgetGate: {
      input: o.inputToForgetWeights,
      recurrent: o.recurrentToForgetWeights,
      auxiliary: o.auxiliaryToForgetWeights,
      cell: o.cellToForgetWeights,
      bias: o.forgetGateBias,
      norm: o.forgetLayerNormWeights,
    },
    cellGate: {
      input: o.inputToCellWeights,
      recurrent: o.recurrentToCellWeights,
      auxiliary: o.auxiliaryToCellWeights,
      bias: o.cellBias,
      norm: o.cellLayerNormWeights,
    },
    outputGate: {
      input: o.inputToOutputWeights,
      recurrent: o.recurrentToOutputWeights,
      auxiliary: o.auxiliaryToOutputWeights,
      cell: o.cellToOutputWeights,
      bias: o.outputGateBias,
      norm: o.outputLayerNormWeights,
    },
    projection: o.projectionWeights,
    projectionBias: o.projectionBias,
  };
}

function inputGateOf<T extends TensorInfo>(o: LstmOperands<T>): Gate<T> | undefined {
  if (!o.inputToInputWeights || !o.recurrentToInputWeights || !o.inputGateBias) return undefined;
  return {
    input: o.inputToInputWeights,
    recurrent: o.recurrentToInputWeights,
    auxiliary: o.auxiliaryToInputWeights,
    cell: o.cellToInputWeights,
    bias: o.inputGateBias,
    norm: o.inputLayerNormWeights,
  };
}

function allOrNone(what: string, operands: readonly (TensorInfo | undefined)[]): void {
  const given = operands.filter((operand) => operand !== undefined).length;
  ensure(
    given === 0 || given === operands.length,
    () => `expected all or none of the ${operands.length} ${what} operands, got ${given}`,
  );
}

/** The sizes of a cell, with every operand's shape checked against them. `auxiliaries`: size of the auxiliary input. */
export function lstmSizes(cell: LstmCell<TensorInfo>, inputs: number, auxiliaries?: number): LstmSizes {
  const [units] = cell.outputGate.input.dimensions;
  const outputs = cell.projection?.dimensions[0] ?? cell.outputGate.recurrent.dimensions[1];
  const gates = { input: cell.inputGate, forget: cell.forgetGate, cell: cell.cellGate, output: cell.outputGate };
  for (const [name, gate] of Object.entries(gates)) {
    if (gate === undefined) continue;
    ensureShape(`the ${name} gate's input weights`, gate.input, [units, inputs]);
    ensureShape(`the ${name} gate's recurrent weights`, gate.recurrent, [units, outputs]);
    if (auxiliaries !== undefined)
      ensureShape(`the ${name} gate's auxiliary weights`, gate.auxiliary, [units, auxiliaries]);
    ensureShape(`the ${name} gate's peephole weights`, gate.cell, [units]);
    ensureShape(`the ${name} gate's bias`, gate.bias, [units]);
    ensureShape(`the ${name} gate's normalisation weights`, gate.norm, [units]);
  }
  ensureShape("the projection weights", cell.projection, [outputs, units]);
  ensureShape("the projection bias", cell.projectionBias, [outputs]);
  if (cell.projection === undefined && outputs !== units) {
    throw new OperationError(`the cell has ${units} units and ${outputs} outputs, but no projection`);
  }
  return { inputs, units, outputs };
}

/** Settings of a cell. A clip of 0 is off. */
export interface LstmSettings {
  readonly activation: number;
  readonly cellClip: number;
  readonly projectionClip: number;
}

/** Refuses settings that mean nothing. */
export function ensureSettings({ activation, cellClip, projectionClip }: LstmSettings): void {
  cellActivation(activation);
  ensure(cellClip >= 0, () => `the cell clip is ${cellClip}, less than 0`);
  ensure(projectionClip >= 0, () => `the projection clip is ${projectionClip}, less than 0`);
}
