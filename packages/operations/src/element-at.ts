/**
 * The element at an index that an earlier check has shown to be in range: a number of an operand in a validated model, an axis below
 * the rank. Throws a RangeError that names both numbers if it is not, since then the earlier check is wrong.
 */
export function elementAt<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index];
  if (element === undefined && !(index in list)) {
    throw new RangeError(`Index ${index} is out of range: the list has ${list.length} elements`);
  }
  return element as T;
}
