// The times at which a schedule starts runs, in milliseconds since the epoch.

import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import { loadPeerByName } from '../../../core/error/load-peer.ts'
import type { ScheduleTiming } from '../../../services/schedule/service.ts'

/** The ticks of a schedule: the first one after a time; undefined if none follows. */
export type NextTick = (after: number) => number | undefined

/** The ticks of a timing. Loads the package for cron lines when it is first needed. */
export async function ticksOf(timing: ScheduleTiming): Promise<NextTick> {
  switch (timing.type) {
    case 'at':
      return (after) => (timing.at > after ? timing.at : undefined)
    case 'every': {
      const { everyMs, from } = timing
      return (after) => from + Math.max(1, Math.floor((after - from) / everyMs) + 1) * everyMs
    }
    case 'cron':
      return await cronTicks(timing)
  }
}

async function cronTicks({ cron, timeZone }: ScheduleTiming & { type: 'cron' }): Promise<NextTick> {
  const { Cron } = (await loadPeerByName('croner')) as typeof import('croner')
  try {
    const line = new Cron(cron, { timezone: timeZone, paused: true })
    return (after) => line.nextRun(new Date(after))?.getTime()
  } catch (cause) {
    throw new ToolwrightError(
      'INVALID_REQUEST',
      `The cron line ${JSON.stringify(cron)} is not valid: ${messageOf(cause)}`,
      {
        cause,
      },
    )
  }
}

/** The spans in which missed ticks are looked for, the latest first, in milliseconds: from a minute to about 24 years. */
const SPANS = Array.from({ length: 8 }, (_, power) => 60_000 * 12 ** power)

/** The latest ticks from `first` up to `until`, at most `most` of them. `first` is a tick. */
export function latestTicks(next: NextTick, first: number, until: number, most: number): number[] {
  for (const span of SPANS) {
    const start = Math.max(first, until - span)
    const found = start === first ? [first] : []
    for (let tick = next(start); tick !== undefined && tick <= until; tick = next(tick)) {
      found.push(tick)
      if (found.length > most) found.shift()
    }
    if (found.length >= most || start === first) return found
  }
  return [first]
}
