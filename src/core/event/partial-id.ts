// Ids of partial events. They are not stored, but a consumer that lost its connection may name one as the last event it has
// seen. Therefore the id holds how many stored events came before.

/** The id of a partial event: the drafted id, and the number of events in the log. */
export function partialId(id: string, eventsBefore: number): string {
  return `${id}.${eventsBefore}`
}

/** How many stored events came before a partial event; undefined if the id is not one of a partial event. */
export function eventsBeforePartial(id: string): number | undefined {
  const [, before] = /^[\w-]+\.(\d{1,9})$/.exec(id) ?? []
  return before === undefined ? undefined : Number(before)
}
