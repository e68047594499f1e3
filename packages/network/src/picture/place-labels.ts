/**
 * Where labels stand on a picture: inside it, each near what it names, and apart from each other as long as there is room.
 */

/** A rectangle in pixels. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The size of a label, and the edges of what it names. */
export interface Label {
  readonly width: number;
  readonly height: number;
  readonly box: { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };
}

/** The left top corner of each label. `taken`: areas that no label should cover. */
export function placeLabels(
  picture: { readonly width: number; readonly height: number },
  labels: readonly Label[],
  taken: readonly Area[] = [],
): readonly Area[] {
  const placed = [...taken];
  return labels.map(({ width, height, box }) => {
    const at = (left: number, top: number): Area => ({
      left: within(left, picture.width - width),
      top: within(top, picture.height - height),
      width,
      height,
    });
    const { left, top, right, bottom } = box;
    const near = [
      at(left, top - height),
      at(right - width, top - height),
      at(left, bottom),
      at(left, top),
      at(right - width, bottom - height),
    ];
    // Else anywhere below or above, as near as there is room.
    const rows = Math.max(0, Math.floor(picture.height / height));
    const others = Array.from({ length: rows }, (_, row) => at(left, row * height)).sort(
      (one, other) => Math.abs(one.top - top) - Math.abs(other.top - top),
    );
    const isFree = (area: Area) => placed.every((other) => !meets(area, other));
    const found = near.find(isFree) ?? others.find(isFree) ?? at(left, top - height);
    placed.push(found);
    return found;
  });
}

function within(value: number, most: number): number {
  return Math.round(Math.max(0, Math.min(value, most)));
}

function meets(one: Area, other: Area): boolean {
  return (
    one.left < other.left + other.width &&
    other.left < one.left + one.width &&
    one.top < other.top + other.height &&
    other.top < one.top + one.height
  );
}
