/**
 * The legend of a mask: the color and the name of each class, the greatest first, in the corner where it hides the least.
 */
import { elementAt } from "@nnhal/operations";
import { type Color, colorOf } from "./class-colors.ts";
import type { TextImage } from "./font.ts";
import type { Area } from "./place-labels.ts";

/** A legend. */
export interface Legend {
  readonly area: Area;
  /** `color` is absent of the row that counts the classes for which there is no room. */
  readonly rows: readonly {
    readonly text: TextImage;
    readonly area: Area;
    readonly swatch: Area;
    readonly color?: Color;
  }[];
}

/** The mask that a legend explains. */
export interface LegendMask {
  readonly width: number;
  readonly height: number;
  readonly classes: ArrayLike<number>;
  readonly areas?: readonly { readonly index: number; readonly label?: string | null; readonly share?: number }[];
}

/** The picture that it stands on. */
export interface LegendPlace {
  readonly width: number;
  readonly height: number;
  /** Pixels around texts. */
  readonly pad: number;
  image(text: string): TextImage;
}

/** The most of the picture's height that a legend takes. */
const mostHeight = 0.5;

/** The legend of a mask; undefined if it has no areas beside the background, or the picture has no room for a row. */
export function legendOf(mask: LegendMask, { width, height, pad, image }: LegendPlace): Legend | undefined {
  const areas = (mask.areas ?? []).filter(({ index }) => index !== 0);
  const rowHeight = image("A").height + pad;
  const room = Math.floor((height * mostHeight - pad) / rowHeight);
  if (areas.length === 0 || room < 1) return undefined;
  const shown = areas.length <= room ? areas.length : Math.max(1, room - 1);
  const texts: { readonly text: TextImage; readonly color?: Color }[] = areas
    .slice(0, shown)
    .map(({ index, label, share }) => ({
      text: image(`${label ?? `class ${index}`}${share === undefined ? "" : ` ${Math.round(100 * share)}%`}`),
      color: colorOf(index),
    }));
  if (shown < areas.length && room > 1) texts.push({ text: image(`and ${areas.length - shown} more`) });
  const swatch = rowHeight - 2 * pad;
  const size = {
    width: Math.min(width, Math.max(...texts.map(({ text }) => text.width)) + swatch + 3 * pad),
    height: texts.length * rowHeight + pad,
  };
  const area = emptiest(
    mask,
    [0, width - size.width].flatMap((left) => [height - size.height, 0].map((top) => ({ ...size, left, top }))),
    { width, height },
  );
  return {
    area,
    rows: texts.map(({ text, color }, row) => {
      const top = area.top + pad + row * rowHeight;
      return {
        text,
        area: { left: area.left + swatch + 2 * pad, top, width: text.width, height: text.height },
        swatch: {
          left: area.left + pad,
          top: top + Math.floor((text.height - swatch) / 2),
          width: swatch,
          height: swatch,
        },
        ...(color && { color }),
      };
    }),
  };
}

/** The first of the areas with the fewest pixels of the mask. */
function emptiest(mask: LegendMask, areas: readonly Area[], picture: { width: number; height: number }): Area {
  const counts = areas.map(({ left, top, width, height }) => {
    let count = 0;
    for (let y = top; y < top + height; y++) {
      const row = Math.floor((y * mask.height) / picture.height) * mask.width;
      for (let x = left; x < left + width; x++)
        if ((mask.classes[row + Math.floor((x * mask.width) / picture.width)] ?? 0) !== 0) count++;
    }
    return count;
  });
  return elementAt(areas, counts.indexOf(Math.min(...counts)));
}
