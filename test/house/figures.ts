import { sourceBySpecifier } from '../../entry-points.ts'
import { fileCycles } from '../layers.ts'
import type { Source } from '../source.ts'
import { anyTypes } from './any-types.ts'
import { membersPerClass } from './class-members.ts'
import { codeLinesPerClass, mutableFieldsPerClass } from './class-size.ts'
import { documentedExports } from './exported-declarations.ts'
import { documentedMembers } from './exported-members.ts'
import { linesPerFile } from './file-length.ts'
import { linesPerFunction, parametersPerFunction } from './functions.ts'
import { importsPerFile } from './imports-per-file.ts'
import { type Limit, limits, type WalkLimits } from './limits.ts'
import { type Measurement, parseFile } from './parsed-file.ts'
import type { EnteredFunction } from './trace/hook.ts'
import { walk } from './trace/walk.ts'

/** One row of the table: a number about the source, its limit, and the code over the limit. */
export interface Figure {
  readonly name: string
  readonly target: string
  readonly now: string
  /** Whether the target is reached. */
  readonly isReached: boolean
  /** Whether the limit that the test holds is kept. */
  readonly isWithinLimit: boolean
  /** The code to fix, the worst first. */
  readonly offenders: readonly Measurement[]
}

/** All figures about the files whose path begins with `prefix`. A new figure gets a limit in `limits.ts` and a row here. */
export function figures(sources: readonly Source[], prefix = ''): Figure[] {
  const files = sources.map(parseFile)
  // Measured over all files, because a class may implement an interface outside `prefix`.
  const under = (measurements: readonly Measurement[]): Measurement[] =>
    measurements.filter(({ file }) => file.startsWith(prefix))
  const inRunner = (measurements: readonly Measurement[]): Measurement[] =>
    under(measurements).filter(({ file }) => file.startsWith('src/engine/runner/'))
  const fileLengths = under(linesPerFile(files))
  return [
    atMost('imports per file, most', under(importsPerFile(files)), limits.importsPerFile),
    atMost('public members per class, most', under(membersPerClass(files)), limits.publicMembersPerClass),
    atMost('parameters per function, most', under(parametersPerFunction(files)), limits.parametersPerFunction),
    share('exports with a doc comment', under(documentedExports(files)), limits.percentOfDocumentedExports),
    share('public members with a doc comment', under(documentedMembers(files)), limits.percentOfDocumentedMembers),
    percentile95('lines per file, 95th percentile', fileLengths, limits.linesPerFileP95),
    atMost('lines of the longest file', fileLengths, limits.linesOfLongestFile),
    percentile95('lines per function, 95th percentile', under(linesPerFunction(files)), limits.linesPerFunctionP95),
    atMost('mutable fields per class of runner/', inRunner(mutableFieldsPerClass(files)), limits.mutableFieldsPerClass),
    atMost('lines of code per class of runner/', inRunner(codeLinesPerClass(files)), limits.codeLinesPerClass),
    count('import cycles', under(importCycles(sources)), limits.importCycles),
    count('uses of any', under(anyTypes(files)), limits.anyTypes),
  ]
}

/** The figures about walks through the source: four programs are run and traced. */
export function walkFigures(): Figure[] {
  return [
    ...oneWalk('one call', 'one-call', limits.oneCall),
    ...oneWalk('resumed approval', 'resumed-approval', limits.resumedApproval),
    ...oneWalk('live call', 'live-call', limits.liveCall),
    ...oneWalk('HTTP request', 'http-request', limits.httpRequest),
  ]
}

function oneWalk(name: string, program: Parameters<typeof walk>[0], limit: WalkLimits): Figure[] {
  const { entered, files, fileHops, folderChanges } = walk(program)
  const found = (functions: readonly EnteredFunction[]): Measurement[] =>
    functions.map((one) => ({ file: `src/${one.file}`, line: 1, name: one.name, value: 1 }))
  const all = [
    count(`${name}: functions entered`, found(entered), limit.functions),
    count(`${name}: files`, found(files.map((file) => ({ file, name: '' }))), limit.files),
    count(`${name}: file hops`, found(fileHops), limit.fileHops),
    count(`${name}: folder changes`, found(folderChanges), limit.folderChanges),
  ]
  if (limit.recorder) {
    const visits = fileHops.filter(({ file }) => file === 'engine/runner/run/recorder.ts')
    all.push(count(`${name}: visits of the recorder`, found(visits), limit.recorder))
  }
  if (limit.next) {
    const steps = entered.filter(({ file, name }) => file === 'engine/agent/loop/next.ts' && name === 'next')
    all.push(count(`${name}: calls of next()`, found(steps), limit.next))
  }
  return all
}

/** The largest value stays within the limit. */
function atMost(name: string, measurements: readonly Measurement[], { target, limit }: Limit): Figure {
  const now = Math.max(0, ...measurements.map(({ value }) => value))
  return {
    name,
    target: `<= ${target}`,
    now: String(now),
    isReached: now <= target,
    isWithinLimit: now <= limit,
    offenders: worstFirst(measurements.filter(({ value }) => value > target)),
  }
}

/** Of measurements that are 1 or 0, at least the given percentage is 1. */
function share(name: string, measurements: readonly Measurement[], { target, limit }: Limit): Figure {
  const offenders = measurements.filter(({ value }) => value === 0)
  const done = measurements.length - offenders.length
  const percent = measurements.length === 0 ? 100 : Math.floor((done / measurements.length) * 1000) / 10
  return {
    name,
    target: `${target} %`,
    now: `${percent} % (${done} of ${measurements.length})`,
    isReached: percent >= target,
    isWithinLimit: percent >= limit,
    offenders,
  }
}

/** 95 of 100 values are below the limit. */
function percentile95(name: string, measurements: readonly Measurement[], { target, limit }: Limit): Figure {
  const sorted = measurements.map(({ value }) => value).sort((a, b) => a - b)
  const now = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0
  return {
    name,
    target: `< ${target}`,
    now: String(now),
    isReached: now < target,
    isWithinLimit: now < limit,
    offenders: worstFirst(measurements.filter(({ value }) => value >= target)),
  }
}

/** The number of offenders stays within the limit. */
function count(name: string, offenders: readonly Measurement[], { target, limit }: Limit): Figure {
  const now = offenders.length
  return {
    name,
    target: target === 0 ? '0' : `<= ${target}`,
    now: String(now),
    isReached: now <= target,
    isWithinLimit: now <= limit,
    offenders,
  }
}

function importCycles(sources: readonly Source[]): Measurement[] {
  return fileCycles(sources, sourceBySpecifier()).map((cycle) => {
    const [file = ''] = cycle.split(' -> ')
    return { file, line: 1, name: cycle, value: 1 }
  })
}

function worstFirst(measurements: readonly Measurement[]): Measurement[] {
  return measurements.toSorted((a, b) => b.value - a.value)
}
