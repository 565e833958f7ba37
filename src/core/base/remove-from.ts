/** Removes an item from a list, if it is there. Most lists of a run are short, and the item is the last one. */
export function removeFrom<T>(list: T[], item: T): void {
  if (list.at(-1) === item) {
    list.pop()
    return
  }
  const at = list.lastIndexOf(item)
  if (at >= 0) list.splice(at, 1)
}
