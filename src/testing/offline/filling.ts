import type { Declared } from './declared.ts'
import type { Parameter } from './parameters.ts'
import type { Passage, Taken } from './passage.ts'

/** A value and where it stands. */
export interface Spot {
  readonly value: unknown
  readonly start: number
  readonly end: number
}

/** The arguments of a call while they are being found. */
export interface Filling {
  readonly tool: Declared
  readonly passage: Passage
  readonly now: number
  /** It is told something, not asked to do something: a sentence may begin with a name. */
  readonly isTold: boolean
  /** What has become an argument already. */
  readonly taken: Taken
  readonly values: Map<Parameter, unknown>
  /** What else a parameter could be: one call for each. */
  readonly also: Map<Parameter, readonly Spot[]>
}

/** The parameters that have no value yet and pass the test. */
export function openOnes({ tool, values }: Filling, test: (parameter: Parameter) => boolean): Parameter[] {
  return tool.parameters.filter((parameter) => !values.has(parameter) && test(parameter))
}
