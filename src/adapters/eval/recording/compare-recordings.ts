// Finds the first difference between a recorded run and its replay.
import { canonicalJson, isRecord, type JsonObject } from '../../../core/base/json.ts'
import type { NewEntry } from '../../../core/event/event.ts'
import { describeValue } from '../checks/matches.ts'
import { type ComparableEntry, comparableLog, IdNames, isEqualEntry } from './comparable-log.ts'
import type { Difference, DifferentEntries } from './difference.ts'
import type { StepRecorder } from './digests.ts'
import type { RecordedStep, Recording, RequestStep } from './recording.ts'

/** What a replay has done. */
export interface ReplayedRun {
  /** Its log. */
  readonly entries: readonly NewEntry[]
  /** Its steps. */
  readonly steps: StepRecorder
}

/** A difference, and changes that need not be faults. */
export interface Comparison {
  /** Undefined if the replay did the same. */
  readonly difference: Difference | undefined
  /** Changed instructions and declarations: the recorded replies may not fit any more. */
  readonly notes: readonly string[]
}

/** Compares a replay with its recording. */
export function compareRecordings(recording: Recording, replay: ReplayedRun): Comparison {
  const ids = new IdNames()
  ids.add(recording.entries)
  ids.add(replay.entries)
  const difference = differentEntry(recording.entries, replay.entries, ids)
  const steps = differentStep(recording.steps, replay.steps)
  // a changed history comes before the reply to it, which a recording has anyway
  return { difference: difference ?? steps.difference, notes: [...steps.notes, ...declarationNotes(recording, replay)] }
}

/** Which declarations have changed, if the recording says what they were. */
function declarationNotes({ declarations }: Recording, { steps }: ReplayedRun): string[] {
  if (!declarations) return []
  const names = new Set([...Object.keys(declarations), ...steps.declarations.keys()])
  return [...names].flatMap((name) => {
    const [before, now] = [
      Object.hasOwn(declarations, name) ? declarations[name] : undefined,
      steps.declarations.get(name),
    ]
    if (before === now) return []
    const problem =
      before === undefined
        ? 'is not in the recording'
        : now === undefined
          ? 'is not declared any more'
          : 'has another declaration'
    return `Tool "${name}" ${problem}.`
  })
}

function differentEntry(
  recorded: readonly NewEntry[],
  replayed: readonly NewEntry[],
  ids: IdNames,
): Difference | undefined {
  const [before, after] = [comparableLog(recorded, ids), comparableLog(replayed, ids)]
  let first: Difference | undefined
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const found = firstDifferent(before.get(key) ?? [], after.get(key) ?? [], recorded.length)
    if (found && (!first || found.at < first.at)) first = found
  }
  return first
}

function firstDifferent(
  recorded: readonly ComparableEntry[],
  replayed: readonly ComparableEntry[],
  end: number,
): Difference | undefined {
  for (let at = 0; at < Math.max(recorded.length, replayed.length); at++) {
    const [one, two] = [recorded[at], replayed[at]]
    if (one && two && isEqualEntry(one, two)) continue
    const path = one && two ? differentMember(one.value, two.value) : []
    const [before, after] = [shown(one), shown(two)]
    return {
      kind: 'entry',
      at: one?.seq ?? end + (two?.seq ?? 0),
      what: (one ?? two)?.what ?? '',
      path: path.join('.'),
      recorded: describeValue(memberAt(before, path)),
      replayed: describeValue(memberAt(after, path)),
      entries: smallEntries(before, after),
    }
  }
  return undefined
}

/** An entry without what only the body of a tool may see. */
function shown(entry: ComparableEntry | undefined): JsonObject | undefined {
  if (!entry || !Object.hasOwn(entry.value, 'sealed')) return entry?.value
  return { ...entry.value, sealed: '<sealed>' }
}

/** Characters of an entry in results. */
const MAX_ENTRY = 20_000

function smallEntries(
  recorded: JsonObject | undefined,
  replayed: JsonObject | undefined,
): DifferentEntries | undefined {
  const isSmall = [recorded, replayed].every((one) => one === undefined || canonicalJson(one).length <= MAX_ENTRY)
  return isSmall ? { ...(recorded && { recorded }), ...(replayed && { replayed }) } : undefined
}

/** The path to the first member that differs. */
function differentMember(one: unknown, two: unknown): string[] {
  if (!isContainer(one) || !isContainer(two) || Array.isArray(one) !== Array.isArray(two)) return []
  for (const key of new Set([...Object.keys(one), ...Object.keys(two)])) {
    const [first, second] = [memberAt(one, [key]), memberAt(two, [key])]
    if (describeValue(first, Infinity) !== describeValue(second, Infinity))
      return [key, ...differentMember(first, second)]
  }
  return []
}

function isContainer(value: unknown): value is object {
  return isRecord(value) || Array.isArray(value)
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isContainer(at) ? Reflect.get(at, key) : undefined), value)
}

function differentStep(recorded: readonly RecordedStep[], recorder: StepRecorder): Comparison {
  const before = Map.groupBy(recorded, ({ scope }) => scope)
  const after = Map.groupBy(
    recorder.steps.map((step, index) => ({ step, index })),
    ({ step }) => step.scope,
  )
  const notes = new Set<string>()
  for (const [scope, steps] of before) {
    const others = after.get(scope) ?? []
    for (const [at, step] of steps.entries()) {
      const other = others[at]
      const difference = differenceOf(step, other?.step, {
        at: at + 1,
        contents: recorder.requests.get(other?.index ?? -1),
      })
      if (difference) return { difference, notes: [...notes] }
      if (other && 'instruction' in step && 'instruction' in other.step) addNotes(notes, step, other.step)
    }
  }
  return { difference: undefined, notes: [...notes] }
}

function addNotes(notes: Set<string>, one: RequestStep, other: RequestStep): void {
  if (one.instruction !== other.instruction) notes.add(`The instruction has changed in scope ${one.scope}.`)
  if (one.tools !== other.tools) notes.add(`The declared tools have changed in scope ${one.scope}.`)
}

function differenceOf(
  one: RecordedStep,
  other: RecordedStep | undefined,
  { at, contents }: { readonly at: number; readonly contents: readonly unknown[] | undefined },
): Difference | undefined {
  if ('body' in one || !other || 'body' in other) {
    if (other && isSameBody(one, other)) return undefined
    return { kind: 'body', at, what: `scope ${one.scope}`, path: '', recorded: titleOf(one), replayed: titleOf(other) }
  }
  const index = differentContent(one, other)
  if (index === undefined) return undefined
  return {
    kind: 'request',
    at,
    what: `scope ${one.scope}`,
    path: `contents.${index}`,
    recorded: `${one.kept + one.contents.length} contents`,
    replayed: `${other.kept + other.contents.length} contents, here ${describeValue(contents?.[index])}`,
  }
}

function isSameBody(one: RecordedStep, other: RecordedStep): boolean {
  if (!('body' in one && 'body' in other) || one.body !== other.body) return false
  return one.beside === undefined || one.beside === other.beside
}

/** The index of the first content that differs. Requests before this one were equal, so that equal `kept` means equal contents. */
function differentContent(one: RequestStep, other: RequestStep): number | undefined {
  if (one.kept !== other.kept) return Math.min(one.kept, other.kept)
  const length = Math.max(one.contents.length, other.contents.length)
  for (let at = 0; at < length; at++) if (one.contents[at] !== other.contents[at]) return one.kept + at
  return undefined
}

function titleOf(step: RecordedStep | undefined): string {
  if (!step) return 'nothing'
  if (!('body' in step)) return 'a model is asked'
  const { tool, body, beside } = step
  const others =
    beside === undefined ? '' : beside === 0 ? ' alone' : ` while ${beside} other${beside > 1 ? 's run' : ' runs'}`
  return `the body of ${tool} (call ${body}) starts${others}`
}
