// The tools of the victims, as the auditor knows them.
import type { Effect } from 'toolwright'
import type { Shape } from './kill-points.ts'

/** The effect of each tool. */
export const effects: { readonly [name: string]: Effect } = {
  look_up: 'none',
  book: 'idempotent',
  send: 'reconcilable',
  pay: 'atMostOnce',
  pay_approved: 'atMostOnce',
  ship: 'atMostOnce',
  search: 'reconcilable',
}

/** Tools that run only after an approval. */
export const gatedTools: readonly string[] = ['pay_approved']

/** The tools that the model calls in its first reply, in this order. */
export const toolNames: { readonly [S in Shape]: readonly string[] } = {
  single: ['pay'],
  parallel: ['look_up', 'book', 'send', 'pay'],
  gated: ['pay_approved'],
  'long-running': ['ship'],
  nested: ['book'],
  background: ['search'],
  live: ['book', 'pay'],
}
