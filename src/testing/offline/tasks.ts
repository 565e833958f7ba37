// Finds the tasks of a message: tools with their arguments, also from earlier messages.

import type { DeclaredTool } from './declared-tool.ts'
import { capitalizeWords, type FilledArguments, fillArguments, findMissing } from './fill-arguments.ts'
import { type Passage, parsePassage } from './passage.ts'
import {
  areSynonyms,
  destructiveVerbs,
  isActionVerb,
  isContentWord,
  isVerb,
  nameWords,
  stem,
  synonymsOf,
} from './words.ts'

/** The tools and agents of a request, and the current time. */
export interface Toolbox {
  /** Declared tools. */
  readonly tools: readonly DeclaredTool[]
  /** Agents that can take over. */
  readonly agents: readonly DeclaredTool[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** A tool to call for a passage. */
export interface Task {
  /** The tool. */
  readonly tool: DeclaredTool
  /** The text that asks for it. */
  readonly passage: Passage
  /** Its arguments. */
  readonly filled: FilledArguments
}

/** A lower score is a coincidence. */
export const MIN_SCORE = 0.6
const MAX_CANDIDATES = 8
const MAX_TERMS = 300

/** The stems of the content words of a passage, each once. */
export function termsOf({ tokens }: Passage): string[] {
  return [...new Set(tokens.filter(isContentWord).map(({ stem }) => stem))].slice(0, MAX_TERMS)
}

/** Scores how well words match a tool. The first word counts most. */
export function scoreTool({ weights }: DeclaredTool, terms: readonly string[]): number {
  const worth = terms.map((term, at) => {
    const near = synonymsOf(term).map((word) => 0.7 * (weights.get(word) ?? 0))
    return Math.max(weights.get(term) ?? 0, ...near) * (at === 0 ? 1.5 : 1)
  })
  return worth.reduce((sum, one) => sum + one, 0)
}

/** Finds the most likely task of a passage. */
function findTask(passage: Passage, toolbox: Toolbox): Task | undefined {
  const terms = termsOf(passage)
  const likely = toolbox.tools
    .map((tool) => ({ tool, words: scoreTool(tool, terms) }))
    .filter(({ tool, words }) => words >= MIN_SCORE && mayCall(tool, passage))
    .sort((a, b) => b.words - a.words)
  const tasks = likely.slice(0, MAX_CANDIDATES).map(({ tool, words }) => {
    const filled = fillArguments(tool, passage)
    const score = words + Math.min(filled.recognisedCount, 4) * 0.7 - Math.min(filled.missing.length, 4) * 1.2
    return { tool, passage, filled, score }
  })
  return tasks.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)[0]
}

const questionWord = /^(?:is|are|was|were|am|did|does|has|have|when|where|who|why)(?:'s)?$/

/**
 * Whether the message may call the tool. A question never calls a tool that acts. A destructive tool is called only if
 * the message contains its verb or a synonym.
 */
function mayCall({ name }: DeclaredTool, { tokens }: Passage): boolean {
  const own = nameWords(name).map(stem)
  const destroys = own.find((word) => destructiveVerbs.has(word))
  if (isActionVerb(own[0] ?? '') && questionWord.test(tokens[0]?.lower ?? '')) return false
  return destroys === undefined || tokens.some((token) => areSynonyms(destroys, token.stem))
}

const MAX_CLAUSES = 12

/** Finds the tasks of a message, at most one per clause. */
export function findTasks(message: string, toolbox: Toolbox): Task[] {
  const clauses = splitClauses(message, toolbox.now).map((clause) => parsePassage(clause, toolbox.now))
  return clauses.flatMap((clause) => findTask(clause, toolbox) ?? [])
}

/** Splits at the end of sentences, and before a command or question after "and", "then" or a comma. */
function splitClauses(message: string, now: number): string[] {
  const { text, tokens, mentions } = parsePassage(message, now)
  const whole = mentions.filter(({ kind }) => kind !== 'phrase')
  const cuts = [0]
  for (const [at, { start }] of tokens.entries()) {
    if (at === 0 || cuts.length >= MAX_CLAUSES || whole.some((one) => one.start < start && start < one.end)) continue
    const between = text.slice(tokens[at - 1]?.end, start)
    let next = at
    while (/^(?:and|then|also|please|can|could|you|just)$/.test(tokens[next]?.lower ?? '')) next++
    const { lower = '', stem: first = '' } = (next > at || between.includes(',') ? tokens[next] : undefined) ?? {}
    const isQuestion = /^(?:what|what's|how|where|who|when|which|is|are|will|does|do|tell|show|give)$/.test(lower)
    if (/[.?!;]["')]*\s|\n/.test(between) || isQuestion || isVerb(first)) cuts.push(start)
  }
  return cuts.map((start, at) => text.slice(start, cuts[at + 1]).trim()).filter(Boolean)
}

const repeatPhrase = /^\W*(?:and |please )*(?:once more|again|repeat that)(?: please)?\W*$/i
const followUpPhrase = /^\W*(?:and|also|then|or|what about|how about|now)\b/i

/** Finds the tasks of a message with earlier messages as context: "And in Lima?", "Once more.", "ORD-7". */
export function findRequestedTasks(message: string, earlier: readonly string[], toolbox: Toolbox): Task[] {
  const own = findTasks(message, toolbox)
  const [latest, ...older] = earlier
  const isMore = followUpPhrase.test(message)
  if (latest === undefined || (!isMore && message.trim().split(/\s+/).length > 4)) return own
  const before = findRequestedTasks(latest, older, toolbox)
  if (repeatPhrase.test(message)) return before
  const changed = before.map((task) => applyFollowUp(parsePassage(message, toolbox.now), task, isMore))
  const tasks = before.map((task, at) => changed[at] ?? task)
  const isBlocked = ({ filled }: Task): boolean => filled.missing.length > 0
  const isSame = isMore && own.every(({ tool }) => before.some((task) => task.tool === tool))
  const isAnswer = !isMore && before.some(isBlocked) && !tasks.some(isBlocked)
  return changed.some(Boolean) && (own.length === 0 || isSame || isAnswer) ? tasks : own
}

/** Applies a follow-up passage to an earlier task; undefined when it changes nothing. */
function applyFollowUp(passage: Passage, task: Task, isMore: boolean): Task | undefined {
  const { tool, filled } = task
  const { values, furtherValues, recognisedCount } = fillArguments(tool, passage)
  const own = recognisedCount > 0 || isMore ? [...values] : []
  const bare = passage.text.replace(/^\W*(?:in |at |to |for |from |the )*|[\s.!?]+$/gi, '')
  const wanted = filled.missing.find(({ kind }) => /^(?:place|name|text|id|path)$/.test(kind))
  // a short message after a question is its answer
  if (own.length === 0 && wanted && passage.tokens.some(isContentWord))
    own.push([wanted, wanted.kind === 'place' ? capitalizeWords(bare) : bare])
  if (own.length === 0) return undefined
  const all = new Map([...filled.values, ...own])
  const kept = own.some(([parameter]) => parameter === filled.furtherValues?.parameter)
    ? undefined
    : filled.furtherValues
  return {
    ...task,
    filled: { ...filled, values: all, furtherValues: furtherValues ?? kept, missing: findMissing(tool, all) },
  }
}
