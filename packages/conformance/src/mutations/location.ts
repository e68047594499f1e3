/**
 * The mutation of where operands say that their values lie. Sums of offset and length that only 32 bits would take for
 * small are among them.
 */
import { elementAt } from "@nnhal/operations";
import { type DataLocation, type Model, type Operand, OperandLifeTime } from "@nnhal/types";
import { sizeOf } from "./constant.ts";
import { invalid, type ModelMutation } from "./mutation.ts";
import { operandSites, withOperand } from "./site.ts";

const GREATEST_UINT32 = 0xffff_ffff;

export const operandLocation: ModelMutation = {
  name: "operandLocation",
  says: "A value lies outside of its pool, or is not as long as it must be, or an operand without a value has a place.",
  *mutate(model) {
    for (const site of operandSites(model)) {
      const { location } = site.operand;
      for (const changes of wrongLocations(model, site.operand)) {
        const [field, value] = elementAt(Object.entries(changes), 0);
        const name = `${site.label} has location.${field} ${value}`;
        yield invalid(name, withOperand(site, { location: { ...location, ...changes } }));
      }
    }
  },
};

function wrongLocations(model: Model, operand: Operand): readonly Partial<DataLocation>[] {
  switch (operand.lifetime) {
    case OperandLifeTime.CONSTANT_COPY:
      return [{ poolIndex: 1 }, ...beyond(operand, model.operandValues.length)];
    case OperandLifeTime.CONSTANT_REFERENCE: {
      const { poolIndex } = operand.location;
      return [
        { poolIndex: model.pools.length },
        { poolIndex: GREATEST_UINT32 },
        ...beyond(operand, elementAt(model.pools, poolIndex).size),
      ];
    }
    case OperandLifeTime.SUBGRAPH:
      return [{ poolIndex: 1 }, { offset: model.referenced.length }, { offset: GREATEST_UINT32 }, { length: 1 }];
    default:
      return [{ poolIndex: 1 }, { offset: 1 }, { length: 1 }];
  }
}

function beyond(operand: Operand, size: number): Partial<DataLocation>[] {
  const { length } = operand.location;
  // Of a type whose size the HAL does not know, any length within the pool is right.
  const lengths = sizeOf(operand) === 0 ? [] : [{ length: length - 1 }, { length: length + 1 }];
  return [{ offset: size - length + 1 }, { offset: GREATEST_UINT32 }, { length: GREATEST_UINT32 }, ...lengths];
}
