// A process whose disk fails at times. It appends on, reads after each error, and tells what it was told.
import { createEvent, ToolwrightError } from 'toolwright'
import { sqlite } from 'toolwright/sqlite'

/** What the process writes. */
export interface WriteOptions {
  readonly app: string
  /** The SQLite file. */
  readonly store: string
  /** How many events it appends. */
  readonly count: number
}

interface WriteError {
  readonly code: string
  readonly message: string
}

/** What the process was told. */
export interface WriteReport {
  /** Ids of the events whose append succeeded, in order. */
  readonly acked: readonly string[]
  /** The errors. An error that has no code of Toolwright's is INTERNAL. */
  readonly errors: readonly WriteError[]
  /** How many events it read after each failed append. A failed read ends the process. */
  readonly reads: readonly number[]
}

/** The faults of a test are over before. Only a disk that stays full outlasts them. */
const ATTEMPTS = 10

/** Creates the session, then appends events one by one, each with a sync of the disk. A failed operation is repeated. */
export async function writeOnFaultyDisk({ app: appName, store, count }: WriteOptions): Promise<WriteReport> {
  const key = { appName, userId: 'ada', sessionId: 's1' }
  const [acked, errors, reads]: [string[], WriteError[], number[]] = [[], [], []]
  const repeat = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    for (let left = ATTEMPTS; left > 0; left--) {
      try {
        return await work()
      } catch (error) {
        errors.push(describeError(error))
      }
    }
    return undefined
  }
  const services = await repeat(async () => sqlite(store, { synchronous: 'full' }))
  if (!services) return { acked, errors, reads }
  const { sessionService } = services
  await repeat(async () => (await sessionService.getSession(key)) ?? (await sessionService.createSession(key)))
  const lease = await repeat(() => sessionService.claim(key))
  for (let seq = lease?.seq ?? count; lease && seq < count; ) {
    const event = createEvent({ id: `e${seq}`, invocationId: 'e-1', author: 'desk', content: textOf(seq) })
    const failures = errors.length
    const stored = await repeat(() => sessionService.append(lease, seq, [{ event }]))
    if (errors.length > failures) reads.push((await sessionService.getSession(key))?.events.length ?? 0)
    if (stored === undefined) break
    seq = stored
    acked.push(event.id)
  }
  return { acked, errors, reads }
}

function describeError(error: unknown): WriteError {
  return error instanceof ToolwrightError
    ? { code: error.code, message: error.message }
    : { code: 'INTERNAL', message: String(error) }
}

/** Long enough that an append takes several writes. */
function textOf(n: number): { role: 'model'; parts: { text: string }[] } {
  return { role: 'model', parts: [{ text: `${n} `.repeat(3_000) }] }
}
