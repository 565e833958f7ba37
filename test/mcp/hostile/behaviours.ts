// All behaviours of the hostile server, by name.
import { lifecycle } from './lifecycle.ts'
import { listings } from './listings.ts'
import type { Behaviour } from './peer.ts'
import { questions } from './questions.ts'
import { results } from './results.ts'

export const behaviours: { readonly [name: string]: Behaviour } = {
  ...lifecycle,
  ...results,
  ...listings,
  ...questions,
}
