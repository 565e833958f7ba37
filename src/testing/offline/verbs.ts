// What tools do, by the verbs of their names.
import { stemsOf } from './words.ts'

export const looking: ReadonlySet<string> = stemsOf(
  'get list show find search read look lookup check count describe fetch query view track compare calculate convert translate',
)

export const acting: ReadonlySet<string> = stemsOf(`
  create add set delete remove cancel send book reserve transfer place order buy update make put save schedule start stop
  play lock unlock turn switch open close move rename write post pay subscribe complete mark assign
`)

/** What cannot be undone. */
export const destroying: ReadonlySet<string> = stemsOf(
  'delete remove erase cancel drop destroy purge reset wipe kill refund',
)

/** Is it a word for what tools do, as `find` of `find_order`, and not for what they do it to? */
export function isVerb(stem: string): boolean {
  return looking.has(stem) || acting.has(stem) || destroying.has(stem)
}
