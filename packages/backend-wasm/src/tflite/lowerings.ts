/**
 * The operators of .tflite that the HAL lacks, as operations of the extension `nnhal.tflite`. This engine knows them by name; their definitions come from the
 * application. They are loaded with a backend that has the extension.
 */

import type { Lowerings } from "../plan/lowering.ts";
import { halLowerings } from "../plan/lowerings.ts";
import { complex } from "./complex.ts";
import { elementwise } from "./elementwise.ts";
import { layers } from "./layers.ts";
import { moving } from "./moving.ts";
import type { Table } from "./operands.ts";
import { recurrent } from "./recurrent.ts";
import { searching } from "./searching.ts";

const table: Table = { ...complex, ...elementwise, ...layers, ...moving, ...recurrent, ...searching };

/** The lowerings of the HAL's operations and of the extension's. */
export const withTflite: Lowerings = (definition) => {
  if (definition.extension !== "nnhal.tflite") return halLowerings(definition);
  return Object.hasOwn(table, definition.name) ? table[definition.name] : undefined;
};
