/** Operators of complex numbers: two floats each, the real part first. */
import { elementCount } from "@nnhal/operations";
import { type Builder, outputOf, type Value } from "../plan/builder.ts";
import { calc, type Formula, integer, realNumber } from "../plan/formula.ts";
import { addRoutine, type Place, type Routine } from "../plan/routine.ts";
import { addForEach } from "../plan/transcendental.ts";
import { numbersOf, type One, type Result, type Table } from "./operands.ts";

/** An operator of each complex number, with a real result. */
function realOf(name: string, part: (real: Formula, imaginary: Formula) => Formula) {
  return ({ input }: One, { output }: Result, builder: Builder): Value => {
    const [source, target] = [builder.read(input), outputOf(builder, output)];
    addForEach(builder, name, elementCount(output.dimensions), 8, (routine) => {
      const [numbers, results] = [routine.read(source), routine.write(target)];
      return (at) => {
        const place = routine.local(calc("mul", at, 2));
        const [real, imaginary] = [place, calc("add", place, 1)].map((each) => routine.local(numbers.at(each))) as [
          Formula,
          Formula,
        ];
        routine.store(results, at, part(real, imaginary));
      };
    });
    return target;
  };
}

/** A number of a transform with more digits than a float has: the nearest float, and what it lacks. */
function parts(number: number): readonly [number, number] {
  const high = Math.fround(number);
  return [high, number - high];
}

/** exp(-2πi · k / length) for the first half of k: four floats each, two of the real part and two of the imaginary one. */
function turnsOf(length: number): Float32Array {
  const table = new Float32Array(Math.max(4, 2 * length));
  for (let k = 0; k < length / 2; k++) {
    const angle = (2 * Math.PI * k) / length;
    table.set([...parts(Math.cos(angle)), ...parts(-Math.sin(angle))], 4 * k);
  }
  return table;
}

/** The places of numbers whose bits are in the opposite order. */
function reverseBits(length: number): Int32Array {
  const bits = Math.log2(length);
  return Int32Array.from({ length }, (_, place) => {
    let result = 0;
    for (let bit = 0; bit < bits; bit++) if (place & (1 << bit)) result |= 1 << (bits - 1 - bit);
    return result;
  });
}

/** The transform of as many complex numbers as a power of 2, in place, which lie in the order of reversed bits from some number on. */
function transform(routine: Routine, numbers: Place, first: Formula, length: number, table: Place): void {
  const size = routine.local(integer(2));
  routine.repeat(calc("le", size, length), () => {
    const half = routine.local(calc("div", size, 2));
    const stride = routine.local(calc("div", integer(length), size));
    routine.each(0, length >> 1, (pair) => {
      const k = routine.local(calc("rem", pair, half));
      const even = routine.local(calc("add", first, calc("sub", calc("mul", pair, 2), k)));
      const odd = routine.local(calc("add", even, half));
      const turn = routine.local(calc("mul", calc("mul", k, stride), 4));
      const exact = (at: number) =>
        routine.local(calc("add", table.at(calc("add", turn, at)), table.at(calc("add", turn, at + 1))));
      const [cosine, sine] = [exact(0), exact(2)];
      const of = (place: Formula, part: number) => calc("add", calc("mul", place, 2), part);
      const get = (place: Formula, part: number) => routine.local(numbers.at(of(place, part)));
      const [real, imaginary] = [get(odd, 0), get(odd, 1)];
      const turned = [
        routine.local(calc("sub", calc("mul", real, cosine), calc("mul", imaginary, sine))),
        routine.local(calc("add", calc("mul", real, sine), calc("mul", imaginary, cosine))),
      ];
      for (const [part, number] of turned.entries()) {
        const other = get(even, part);
        routine.store(numbers, of(odd, part), calc("sub", other, number));
        routine.store(numbers, of(even, part), calc("add", other, number));
      }
    });
    routine.set(size, calc("mul", size, 2));
  });
}

/** The lowerings. */
export const complex: Table = {
  REAL: realOf("REAL", (real) => real),
  IMAG: realOf("IMAG", (_, imaginary) => imaginary),
  COMPLEX_ABS: realOf("COMPLEX_ABS", (real, imaginary) =>
    calc("sqrt", calc("add", calc("mul", real, real), calc("mul", imaginary, imaginary))),
  ),
  RFFT2D({ input, fftLength }, { output }: Result, builder): Value {
    const [height = 1, width = 1] = numbersOf("fftLength", fftLength);
    const [rows = 1, columns = 1] = input.dimensions.slice(-2);
    const bins = width / 2 + 1;
    const half = Math.floor(bins);
    const matrices = elementCount(input.dimensions.slice(0, -2));
    const source = builder.read(input);
    const target = outputOf(builder, output);
    const constant = (data: Float32Array | Int32Array): Value => ({
      region: builder.constant(data),
      type: data instanceof Int32Array ? "i32" : "f32",
      dimensions: [data.length],
    });
    const work = (length: number) => 12 * length * Math.max(1, Math.log2(length));
    // Each row into its bins, by a whole transform; then each bin's column.
    const room = builder.value("f32", [matrices * height, 2 * width]);
    const [order, turns] = [constant(reverseBits(width)), constant(turnsOf(width))];
    addRoutine(builder, "RFFT2D", matrices * height, work(width), (routine) => {
      const [numbers, places, table] = [routine.read(source), routine.read(order), routine.read(turns)];
      const [spectrum, results] = [routine.write(room), routine.write(target)];
      const matrix = routine.local(calc("div", routine.unit, height));
      const row = routine.local(calc("rem", routine.unit, height));
      const first = routine.local(calc("mul", routine.unit, width));
      const from = routine.local(calc("mul", calc("add", calc("mul", matrix, rows), row), columns));
      routine.each(0, width, (column) => {
        const place = routine.local(places.at(column));
        const value = routine.local(realNumber(0));
        const isInside = calc("and", calc("lt", place, Math.min(columns, width)), calc("lt", row, rows));
        routine.when(isInside, () => routine.set(value, numbers.at(calc("add", from, place))));
        const at = routine.local(calc("mul", calc("add", first, column), 2));
        routine.store(spectrum, at, value);
        routine.store(spectrum, calc("add", at, 1), realNumber(0));
      });
      transform(routine, spectrum, first, width, table);
      const to = routine.local(calc("mul", routine.unit, 2 * half));
      routine.copy(spectrum, calc("mul", first, 2), results, to, 2 * half);
    });
    if (height === 1) return target;
    const column = builder.value("f32", [matrices * half, 2 * height]);
    const [downOrder, downTurns] = [constant(reverseBits(height)), constant(turnsOf(height))];
    const result = outputOf(builder, output);
    addRoutine(builder, "RFFT2D", matrices * half, work(height), (routine) => {
      const [numbers, places, table] = [routine.read(target), routine.read(downOrder), routine.read(downTurns)];
      const [spectrum, results] = [routine.write(column), routine.write(result)];
      const matrix = routine.local(calc("div", routine.unit, half));
      const bin = routine.local(calc("rem", routine.unit, half));
      const first = routine.local(calc("mul", routine.unit, height));
      const of = (row: Formula) =>
        routine.local(
          calc("mul", calc("add", calc("mul", calc("add", calc("mul", matrix, height), row), half), bin), 2),
        );
      const move = (a: Place, at: Formula, b: Place, to: Formula) => routine.copy(a, at, b, to, 2);
      routine.each(0, height, (row) => {
        move(numbers, of(routine.local(places.at(row))), spectrum, calc("mul", calc("add", first, row), 2));
      });
      transform(routine, spectrum, first, height, table);
      routine.each(0, height, (row) => {
        move(spectrum, calc("mul", calc("add", first, row), 2), results, of(row));
      });
    });
    return result;
  },
};
