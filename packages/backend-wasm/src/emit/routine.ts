/** The code of routines: see `plan/formula.ts`. */
import type { Code, Local } from "../assembler/code.ts";
import type { InstructionName } from "../assembler/instructions.ts";
import type { Formula, FormulaKind, NumberType, Statement } from "../plan/formula.ts";
import { elementBytes, type RoutineOperand, type RoutineStep } from "../plan/plan.ts";
import type { Regions } from "./kernel.ts";
import { count } from "./loops.ts";

/** Where a check that fails leaves its place and the number, before the run ends. No region lies there. */
export const failureAddress = 0;

type PlainName = Extract<InstructionName, `${"i32" | "f64"}.${string}`>;

const instructions: { readonly [Kind in FormulaKind]?: Readonly<Partial<Record<NumberType, PlainName>>> } = {
  add: { i32: "i32.add", f64: "f64.add" },
  sub: { i32: "i32.sub", f64: "f64.sub" },
  mul: { i32: "i32.mul", f64: "f64.mul" },
  div: { i32: "i32.div_s", f64: "f64.div" },
  rem: { i32: "i32.rem_s" },
  min: { f64: "f64.min" },
  max: { f64: "f64.max" },
  and: { i32: "i32.and" },
  or: { i32: "i32.or" },
  xor: { i32: "i32.xor" },
  shl: { i32: "i32.shl" },
  shr: { i32: "i32.shr_s" },
  floor: { f64: "f64.floor" },
  ceil: { f64: "f64.ceil" },
  trunc: { f64: "f64.trunc" },
  nearest: { f64: "f64.nearest" },
  sqrt: { f64: "f64.sqrt" },
  abs: { f64: "f64.abs" },
  neg: { f64: "f64.neg" },
  eq: { i32: "i32.eq", f64: "f64.eq" },
  ne: { i32: "i32.ne", f64: "f64.ne" },
  lt: { i32: "i32.lt_s", f64: "f64.lt" },
  le: { i32: "i32.le_s", f64: "f64.le" },
  gt: { i32: "i32.gt_s", f64: "f64.gt" },
  ge: { i32: "i32.ge_s", f64: "f64.ge" },
  toReal: { i32: "f64.convert_i32_s" },
  toWhole: { f64: "i32.trunc_sat_f64_s" },
};

const loads = {
  u8: "i32.load8_u",
  i8: "i32.load8_s",
  u16: "i32.load16_u",
  i16: "i32.load16_s",
  i32: "i32.load",
  f32: "f32.load",
  f64: "f64.load",
} as const satisfies Record<RoutineOperand["type"], InstructionName>;

const stores = {
  u8: "i32.store8",
  i8: "i32.store8",
  u16: "i32.store16",
  i16: "i32.store16",
  i32: "i32.store",
  f32: "f32.store",
  f64: "f64.store",
} as const satisfies Record<RoutineOperand["type"], InstructionName>;

/** Emits the units [begin, end), which are the first two parameters. */
export function emitRoutine(code: Code, step: RoutineStep, regions: Regions): void {
  const locals = step.locals.map((type) => code.local(type));
  const operandOf = (number: number) => {
    const target = number < 0 ? step.writes[-1 - number] : step.reads[number];
    if (target === undefined) throw new RangeError(`${step.name} has no operand ${number}`);
    return target;
  };
  const local = (number: number): Local => locals[number] ?? 0;
  /** Pushes the bytes of so many elements. */
  const bytes = (elements: Formula, type: RoutineOperand["type"]) => {
    const size = type === "f64" ? 8 : elementBytes[type];
    emit(elements);
    if (size > 1) code.i32(Math.log2(size)).op("i32.shl");
  };
  const address = (operand: number, index: Formula) => {
    const { region, type } = operandOf(operand);
    bytes(index, type);
    code.i32(regions.address(region)).op("i32.add");
  };
  const emit = ({ kind, type, args, value }: Formula): void => {
    const [first, second] = args;
    switch (kind) {
      case "constant":
        if (type === "i32") code.i32(value);
        else code.op("f64.const", value);
        return;
      case "local":
        code.get(local(value));
        return;
      case "element": {
        const { region, type: elements } = operandOf(value);
        if (first === undefined) throw new TypeError("an element has no index");
        bytes(first, elements);
        code.op(loads[elements], regions.address(region));
        if (elements === "f32") code.op("f64.promote_f32");
        return;
      }
      case "choose":
        for (const arg of [args[1], args[2], args[0]]) if (arg !== undefined) emit(arg);
        code.op("select");
        return;
      case "toSingle":
        if (first !== undefined) emit(first);
        code.op("f32.demote_f64").op("f64.promote_f32");
        return;
      case "min":
      case "max":
        if (type === "i32" && first !== undefined && second !== undefined) {
          for (const arg of [first, second, first, second]) emit(arg);
          code.op(kind === "min" ? "i32.lt_s" : "i32.gt_s").op("select");
          return;
        }
        break;
    }
    args.forEach(emit);
    const name = instructions[kind]?.[first?.type ?? type];
    if (name === undefined) throw new TypeError(`there is no ${kind} of ${first?.type}`);
    // All names of the table are instructions without immediates, which its type cannot say.
    code.op(name as "i32.add");
  };
  const run = (statements: readonly Statement[]): void => {
    for (const statement of statements) perform(statement);
  };
  const perform = (statement: Statement): void => {
    switch (statement.does) {
      case "set":
        emit(statement.value);
        code.set(local(statement.local));
        return;
      case "store": {
        const { region, type } = operandOf(statement.operand);
        bytes(statement.index, type);
        emit(statement.value);
        if (type === "f32") {
          if (statement.value.type === "i32") code.op("f64.convert_i32_s");
          code.op("f32.demote_f64");
        } else if (type !== "f64" && statement.value.type === "f64") code.op("i32.trunc_sat_f64_s");
        code.op(stores[type], regions.address(region));
        return;
      }
      case "copy":
        address(statement.to, statement.toIndex);
        address(statement.from, statement.fromIndex);
        bytes(statement.count, operandOf(statement.from).type);
        code.op("memory.copy");
        return;
      case "while":
        code.block((done) => {
          code.loop((again) => {
            emit(statement.truth);
            code.op("i32.eqz").brIf(done);
            run(statement.body);
            code.br(again);
          });
        });
        return;
      case "if":
        emit(statement.truth);
        code.if(() => run(statement.body), statement.otherwise.length > 0 ? () => run(statement.otherwise) : undefined);
        return;
      case "check": {
        const [, least, greatest] = step.checks[statement.place] ?? ["", 0, 0];
        emit(statement.value);
        code.i32(least).op("i32.lt_s");
        emit(statement.value);
        code.i32(greatest).op("i32.gt_s").op("i32.or");
        code.if(() => {
          code.i32(failureAddress).i32(statement.place).op("i32.store", 0);
          code.i32(failureAddress);
          emit(statement.value);
          code.op("i32.store", 4).op("unreachable");
        });
      }
    }
  };
  count(code, local(0), { local: 0 }, { local: 1 }, 1, () => run(step.body));
}
