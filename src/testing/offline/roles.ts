// Prepositions say which of several parameters a value is for.
import type { Parameter } from './parameters.ts'
import { stem } from './words.ts'

const roles: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    from: 'from source origin sender departure depart start since begin checkin',
    to: 'to target destination recipient receiver end until arrival checkout into contact email channel',
    into: 'to target into language destination folder',
    until: 'end until till to checkout return deadline due',
    till: 'end until till to checkout return deadline due',
    in: 'city place location town country room area region address where state folder directory language currency',
    at: 'city place location address where time start venue restaurant hotel at',
    near: 'city place location near address where',
    around: 'city place location near time',
    inside: 'folder directory room',
    for: 'customer name person guest patient for city place user date duration',
    with: 'attendee guest participant person contact with name member',
    by: 'artist author by deadline due date',
    on: 'date day on start topic subject',
    of: 'name city country of place',
    about: 'subject topic about query city',
    regarding: 'subject topic about',
  }).map(([preposition, words]) => [preposition, new Set(words.split(' ').map(stem))]),
)

/** Is this the preposition such a parameter follows? */
export function isFor(preposition: string | undefined, { words }: Parameter): boolean {
  const meant = preposition === undefined ? undefined : roles.get(preposition)
  return meant !== undefined && words.some((word) => meant.has(word) || word === preposition)
}
