/**
 * Routines that pause: after some work a routine leaves its locals in memory, and the next call of its unit goes on from there. So a unit of any length keeps the event
 * loop waiting for some milliseconds at most.
 */
import type { Builder } from "./builder.ts";
import { calc, choose, convertFormula, type Formula, integer, type NumberType, type Statement } from "./formula.ts";
import type { RoutineStep } from "./plan.ts";

/** Elements that are copied at once. */
const copiedAtOnce = 2 ** 16;

/** The work of such a copy. */
const workOfCopy = 2 ** 13;

/** The locals of the machinery. */
interface Machinery {
  /** The loop in which the routine paused, from 1; 0 while it runs. */
  readonly position: Formula;
  /** 0 once the routine has paused. */
  readonly runs: Formula;
  /** Work until the next pause. */
  readonly left: Formula;
  local(type: NumberType): Formula;
  /** The number of the next loop. */
  next(): number;
}

const set = (local: Formula, value: Formula): Statement => ({ does: "set", local: local.value, value });
const when = (truth: Formula, body: readonly Statement[], otherwise: readonly Statement[] = []): Statement => ({
  does: "if",
  truth,
  body,
  otherwise,
});
const both = (a: Formula, b: Formula) => calc("and", a, b);

/** The routine with pauses after about `most` work each. */
export function makeResumable(builder: Builder, step: RoutineStep, most: number): RoutineStep {
  const locals = [...step.locals];
  const local = (type: NumberType): Formula => ({ kind: "local", type, args: [], value: locals.push(type) - 1 });
  const body = step.body.flatMap((statement) => withShortCopies(statement, local));
  const kept = locals.map((type, value): Formula => ({ kind: "local", type, args: [], value })).slice(1);
  const state = builder.room("f32", 2 * (kept.length + 1));
  // Two numbers of 32 bits, and then one of 64 bits for each local.
  const writes = [...step.writes, { region: state, type: "i32" }, { region: state, type: "f64" }] as const;
  const [words, numbers] = [-writes.length + 1, -writes.length];
  const word = (place: number): Formula => ({ kind: "element", type: "i32", args: [integer(place)], value: words });
  const store = (operand: number, place: number, value: Formula): Statement => ({
    does: "store",
    operand,
    index: integer(place),
    value,
  });
  let loops = 0;
  const unit: Formula = { kind: "local", type: "i32", args: [], value: 0 };
  const machinery: Machinery = {
    position: local("i32"),
    runs: local("i32"),
    left: local("i32"),
    local,
    next: () => ++loops,
  };
  const { position, runs, left } = machinery;
  const isOwn = local("i32");
  const restored = kept.map((each, place): Statement => {
    const value: Formula = { kind: "element", type: "f64", args: [integer(place + 1)], value: numbers };
    return set(each, each.type === "f64" ? value : convertFormula("toWhole", value));
  });
  const saved = kept.map((each, place) =>
    store(numbers, place + 1, each.type === "f64" ? each : convertFormula("toReal", each)),
  );
  return {
    ...step,
    writes,
    state,
    locals,
    body: [
      set(position, word(0)),
      set(left, integer(most)),
      // Another unit that has paused comes first.
      set(isOwn, calc("or", calc("eq", position, 0), calc("eq", word(1), unit))),
      set(runs, isOwn),
      when(both(isOwn, calc("ne", position, 0)), restored),
      ...addPauses(body, machinery),
      when(
        runs,
        [store(words, 0, integer(0))],
        [when(isOwn, [store(words, 0, position), store(words, 1, unit), ...saved])],
      ),
    ],
  };
}

/** Statements with loops in the place of copies that may be long. */
function withShortCopies(statement: Statement, local: Machinery["local"]): readonly Statement[] {
  const inside = (list: readonly Statement[]) => list.flatMap((each) => withShortCopies(each, local));
  if (statement.does === "while") return [{ ...statement, body: inside(statement.body) }];
  if (statement.does === "if")
    return [{ ...statement, body: inside(statement.body), otherwise: inside(statement.otherwise) }];
  if (statement.does !== "copy") return [statement];
  const { count, fromIndex, toIndex } = statement;
  if (count.kind === "constant" && count.value <= copiedAtOnce) return [statement];
  const [all, from, to, done] = [local("i32"), local("i32"), local("i32"), local("i32")];
  const rest = calc("sub", all, done);
  return [
    set(all, count),
    set(from, fromIndex),
    set(to, toIndex),
    set(done, integer(0)),
    {
      does: "while",
      truth: calc("lt", done, all),
      body: [
        {
          ...statement,
          fromIndex: calc("add", from, done),
          toIndex: calc("add", to, done),
          count: choose(calc("lt", rest, copiedAtOnce), rest, integer(copiedAtOnce)),
        },
        set(done, calc("add", done, copiedAtOnce)),
      ],
    },
  ];
}

function hasLoop(statement: Statement): boolean {
  if (statement.does === "while") return true;
  return statement.does === "if" && [...statement.body, ...statement.otherwise].some(hasLoop);
}

/** Statements that are left out while the routine finds the loop where it paused. */
function addPauses(statements: readonly Statement[], machinery: Machinery): Statement[] {
  const { position } = machinery;
  const result: Statement[] = [];
  let plain: Statement[] = [];
  const flush = () => {
    if (plain.length > 0) result.push(when(calc("eq", position, 0), plain));
    plain = [];
  };
  for (const statement of statements) {
    if (!hasLoop(statement)) plain.push(statement);
    else {
      flush();
      if (statement.does === "while") result.push(pauseLoop(statement, machinery));
      else if (statement.does === "if") result.push(pauseChoice(statement, machinery));
    }
  }
  flush();
  return result;
}

/** True if the routine runs, and goes on in one of the loops [first, last] if it has paused. */
function isEntered({ position, runs }: Machinery, first: number, last: number): Formula {
  return both(runs, calc("or", calc("eq", position, 0), isAmong(position, first, last)));
}

function isAmong(position: Formula, first: number, last: number): Formula {
  return both(calc("ge", position, first), calc("le", position, last));
}

function pauseLoop({ truth, body }: Extract<Statement, { does: "while" }>, machinery: Machinery): Statement {
  const { position, runs, left, local, next } = machinery;
  const number = next();
  const goesOn = local("i32");
  const isInner = !body.some(hasLoop);
  const inside = isInner ? body : addPauses(body, machinery);
  const last = isInner ? number : next() - 1;
  const pause = [set(position, integer(number)), set(runs, integer(0))];
  const spend = set(left, calc("sub", left, workOf(body) + sizeOf(truth)));
  const decide = when(calc("lt", left, 0), pause);
  const turn: readonly Statement[] = isInner
    ? [...inside, spend, decide, when(runs, [set(goesOn, truth)], [set(goesOn, integer(0))])]
    : [
        when(calc("eq", position, number), [set(position, integer(0))]),
        when(calc("eq", position, 0), [set(goesOn, truth)]),
        when(goesOn, [
          ...inside,
          when(calc("eq", position, 0), [spend, decide]),
          when(calc("eq", runs, 0), [set(goesOn, integer(0))]),
        ]),
      ];
  const start = isInner ? [set(position, integer(0)), set(goesOn, truth)] : [set(goesOn, integer(1))];
  return when(isEntered(machinery, number, last), [...start, { does: "while", truth: goesOn, body: turn }]);
}

function pauseChoice({ truth, body, otherwise }: Extract<Statement, { does: "if" }>, machinery: Machinery): Statement {
  const { position, local, next } = machinery;
  const chosen = local("i32");
  const first = next();
  const yes = addPauses(body, machinery);
  const middle = next();
  const no = addPauses(otherwise, machinery);
  const last = next();
  return when(isEntered(machinery, first, last), [
    when(calc("eq", position, 0), [set(chosen, truth)], [set(chosen, calc("lt", position, middle))]),
    when(chosen, yes, no),
  ]);
}

/** The work of statements, without that of loops in them. */
function workOf(statements: readonly Statement[]): number {
  return statements.reduce((sum, statement) => sum + workOfOne(statement), 0);
}

function workOfOne(statement: Statement): number {
  switch (statement.does) {
    case "set":
    case "check":
      return 1 + sizeOf(statement.value);
    case "store":
      return 1 + sizeOf(statement.index) + sizeOf(statement.value);
    case "copy":
      return statement.count.kind === "constant" ? 8 + (statement.count.value >> 3) : workOfCopy;
    case "if":
      return sizeOf(statement.truth) + Math.max(workOf(statement.body), workOf(statement.otherwise));
    case "while":
      return 1;
  }
}

/** The nodes of a formula. */
function sizeOf({ args }: Formula): number {
  return args.reduce((sum, each) => sum + sizeOf(each), 1);
}
