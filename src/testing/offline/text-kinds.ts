// Which texts a parameter takes, by its name.
import type { Parameter } from './parameters.ts'
import { stemsOf } from './words.ts'

const bodies = stemsOf('body message text content note comment reply caption description memo fact')
const titles = stemsOf('subject title topic name label heading summary headline')
const queries = stemsOf('query search keyword term topic about')
const reasons = stemsOf('reason cause why')
const things = stemsOf('item product ingredient thing article')

/** Words that announce such texts: "an email about lunch saying hello". */
const announcing: readonly (readonly [about: ReadonlySet<string>, cues: readonly string[]])[] = [
  [bodies, ['saying', 'says', 'say', 'reading', 'that']],
  [titles, ['about', 'regarding', 'titled', 'called', 'named', 'entitled']],
  [queries, ['about', 'for', 'on', 'regarding']],
  [reasons, ['because', 'since']],
]

export const isBody = (parameter: Parameter): boolean => isOf(bodies, parameter)
export const isTitle = (parameter: Parameter): boolean => isOf(titles, parameter)
/** Of several things in a list each is one of them: "milk and eggs". */
export const isThing = (parameter: Parameter): boolean => isOf(things, parameter)

const MAX_TITLE_WORDS = 6

/** A letter without a subject is called by how it begins. */
export function titleOf(body: string): string {
  return body.split(/\s+/).slice(0, MAX_TITLE_WORDS).join(' ')
}

export function cuesFor(parameter: Parameter): string[] {
  return announcing.filter(([about]) => isOf(about, parameter)).flatMap(([, cues]) => cues)
}

function isOf(group: ReadonlySet<string>, { words }: Parameter): boolean {
  return words.some((word) => group.has(word))
}
