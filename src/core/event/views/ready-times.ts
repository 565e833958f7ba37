import type { Event } from '../event.ts'

/** Computes when an agent began to work on a reply: after the last event that it had to wait for. */
export class ReadyTimes {
  /** The time of the last event in a scope or below it. */
  readonly #inScope: Map<string, number> = new Map()
  /** The last event of each branch and isolation scope. */
  readonly #last: Map<string, { branch: string; isolation: string; at: number }> = new Map()

  /** Adds an event. */
  add(event: Event): void {
    const { branch = '', isolationScope: isolation = '', nodeInfo, timestamp: at } = event
    this.#last.set(`${branch}|${isolation}`, { branch, isolation, at })
    if (nodeInfo) this.addAt(nodeInfo.path, at)
  }

  /** Adds something that happened in a scope without an event of its own, such as an answer. */
  addAt(path: string, at: number): void {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) this.#inScope.set(path.slice(0, end), at)
  }

  /** When the work for this event began, in seconds since the epoch. */
  before(event: Event): number {
    const { branch = '', isolationScope: isolation = '', nodeInfo, timestamp } = event
    const inScope = this.#inScope.get(nodeInfo?.path ?? '')
    if (inScope !== undefined) return inScope
    let latest: number | undefined
    for (const last of this.#last.values()) {
      // agents of other branches, and agents inside other calls, run beside this one
      if (!isRelated(branch, last.branch, '.') || !isRelated(isolation, last.isolation, '/')) continue
      if (latest === undefined || last.at > latest) latest = last.at
    }
    return latest ?? timestamp
  }
}

/** Is one of the two the other one, or does it begin with it? */
function isRelated(one: string, other: string, separator: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return short === '' || short === long || long.startsWith(short + separator)
}
