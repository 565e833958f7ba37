// The moments at which a process kills itself, and the shapes of runs that never come to some of them.

/** What happens when a run is killed there. Completes a test title after "a run that is killed". */
export const killPoints = {
  c1: 'after its message is stored',
  c2: 'after the model request is sent',
  c3: 'in the middle of the reply',
  c4: 'after its calls are stored, before their intent',
  c5: 'after the intent is stored, before the body',
  c6: 'in the body before its effect',
  c7: 'after the effect, before its result is stored',
  c8: 'inside the transaction that stores the result',
  c9: 'after the result is stored, before the caller gets it',
  c10: 'after its approval request is stored, before it is shown',
  c11: 'after the answer is stored, before the run continues',
  c12: 'inside the transaction that renews its lease',
  c13: 'after it reads the inbox, before it stores what was posted',
  c14: 'inside the transaction that releases its lease',
  c15: 'inside the transaction that stores a checkpoint',
} as const

/** The name of a kill point. */
export type KillPoint = keyof typeof killPoints

/** All kill points, in order. */
export const killPointNames = Object.keys(killPoints) as readonly KillPoint[]

/** What a run does. Completes a test title: "a gated run". */
export const shapes = ['single', 'parallel', 'gated', 'long-running', 'nested', 'background', 'live'] as const

/** The shape of a run. */
export type Shape = (typeof shapes)[number]

const NOT_GATED = 'none of its tools is gated'
const NOTHING_ASKED = 'it waits for no answer'

/** The points that a shape never comes to, and why. A victim that survives shows that this is all. */
export const neverReached: { readonly [S in Shape]: { readonly [P in KillPoint]?: string } } = {
  single: { c10: NOT_GATED, c11: NOTHING_ASKED },
  parallel: { c10: NOT_GATED, c11: NOTHING_ASKED },
  gated: {},
  'long-running': { c10: NOT_GATED },
  nested: { c10: NOT_GATED, c11: NOTHING_ASKED },
  background: { c10: NOT_GATED },
  live: { c10: NOT_GATED, c11: NOTHING_ASKED },
}

/** When a process kills itself: the n-th time that it comes to a point, or at its n-th step of any kind. A survey visits all points. */
export type DeathTime =
  | { readonly type: 'point'; readonly point: KillPoint; readonly nth: number }
  | { readonly type: 'step'; readonly nth: number }
  | { readonly type: 'never' | 'survey' }

/** Reads `c7`, `c7:2`, `step:120`, `survey` or `never`. */
export function parseDeathTime(text: string): DeathTime {
  if (text === 'never' || text === 'survey') return { type: text }
  const [name = '', count = '1'] = text.split(':')
  const nth = Number(count)
  if (!Number.isInteger(nth) || nth < 1) throw new Error(`"${text}" must end with a number >= 1.`)
  if (name === 'step') return { type: 'step', nth }
  const point = killPointNames.find((known) => known === name)
  if (!point) throw new Error(`There is no kill point "${name}".`)
  return { type: 'point', point, nth }
}
