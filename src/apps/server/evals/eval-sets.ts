// The cases of a set as adk-web reads and writes them: in camel case. What a set holds besides them stays as it is.
import { member } from '../../../adapters/eval/cases/names.ts'
import { parseJson, readEvalSet } from '../../../adapters/eval/cases/read-eval-set.ts'
import { withCamelNames } from '../../../adapters/eval/cases/write-eval-set.ts'
import { isRecord, type JsonObject } from '../../../core/base/json.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'

/** The text of a new set. */
export function newSet(id: string): string {
  const set = { eval_set_id: id, name: id, eval_cases: [], creation_timestamp: Date.now() / 1000 }
  return `${JSON.stringify(set, null, 2)}\n`
}

/** The set in camel case. */
export function setJson(text: string, id: string): JsonObject {
  return withCamelNames(parseJson(text, id))
}

/** The ids of the cases, in order. */
export function caseIds(text: string, id: string): string[] {
  return casesOf(parseJson(text, id)).map(idOf).sort()
}

/** A case in camel case, without its recording: a log holds what only the bodies of tools may see. Throws NOT_FOUND. */
export function caseJson(text: string, id: string, caseId: string): JsonObject {
  const found = casesOf(parseJson(text, id)).find((one) => idOf(one) === caseId)
  if (!found) return missing(id, caseId)
  const { recording: _, ...own } = ownOf(found)
  return { ...withCamelNames(found), toolwright: own }
}

/** The set with another case in place of one. It keeps the members of ours that are not sent, and so its recording. */
export function replaceCase(text: string, id: string, changed: JsonObject): string {
  const caseId = idOf(changed)
  return changeCases(text, id, (cases) => {
    const at = cases.findIndex((one) => idOf(one) === caseId)
    if (at < 0) missing(id, caseId)
    const own = { ...ownOf(cases[at] as JsonObject), ...ownOf(changed) }
    return cases.with(at, { ...changed, ...(Object.keys(own).length > 0 && { toolwright: own }) })
  })
}

/** The set without a case. */
export function removeCase(text: string, id: string, caseId: string): string {
  return changeCases(text, id, (cases) => {
    const left = cases.filter((one) => idOf(one) !== caseId)
    return left.length < cases.length ? left : missing(id, caseId)
  })
}

/** Throws INVALID_REQUEST for a set that could not be read again. */
export function checkSet(text: string, id: string): string {
  try {
    readEvalSet(text, id)
    return text
  } catch (error) {
    throw new ToolwrightError('INVALID_REQUEST', messageOf(error), { cause: error })
  }
}

function changeCases(
  text: string,
  id: string,
  change: (cases: readonly JsonObject[]) => readonly JsonObject[],
): string {
  const set = parseJson(text, id)
  const key = Object.hasOwn(set, 'evalCases') ? 'evalCases' : 'eval_cases'
  return checkSet(`${JSON.stringify({ ...set, [key]: change(casesOf(set)) }, null, 2)}\n`, id)
}

function casesOf(set: JsonObject): JsonObject[] {
  const cases = member(set, 'eval_cases')
  return Array.isArray(cases) ? cases.filter(isRecord) : []
}

/** The members of ours: answers, checks, a recording. */
function ownOf({ toolwright }: JsonObject): JsonObject {
  return isRecord(toolwright) ? toolwright : {}
}

function idOf(one: JsonObject): string {
  return String(member(one, 'eval_id') ?? '')
}

function missing(id: string, caseId: string): never {
  throw new ToolwrightError('NOT_FOUND', `Eval set "${id}" has no case "${caseId}".`)
}
