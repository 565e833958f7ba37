/** Removes an item from a list, if it is there: the latest one, because the items that a run adds last leave first. */
export function removeFrom<T>(list: T[], item: T): void {
  const at = list.lastIndexOf(item)
  if (at >= 0) list.splice(at, 1)
}
