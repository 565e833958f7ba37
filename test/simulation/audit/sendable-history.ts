// P7: every model request pairs each call with exactly one response, right after the calls and in their order.
import type { Content, Part } from 'toolwright'
import { anthropicHistoryProblems, geminiHistoryProblems, openAiHistoryProblems } from 'toolwright/testing'
import type { Evidence } from '../evidence.ts'
import type { AuditedLog } from './log.ts'
import type { Violation } from './violation.ts'

export function* sendableHistory({ requests }: Evidence, logs: readonly AuditedLog[]): Iterable<Violation> {
  const questions = new Set(
    logs.flatMap(({ evidence }) =>
      evidence.entries.flatMap(({ record }) => (record?.type === 'request' ? [record.id] : [])),
    ),
  )
  for (const [at, { agent, contents }] of requests.entries()) {
    const isGoneOnWith = requests.slice(at + 1).some((later) => beginsLike(later.contents, contents))
    const problems = [
      ...problemsOf(contents, questions),
      ...(isGoneOnWith ? [] : providers.flatMap((problems) => problems(contents))),
    ]
    for (const problem of problems) yield { promise: 'P7', says: `a request of ${agent}: ${problem}` }
  }
}

/**
 * Does the longer list begin with these contents? Requests that extend an earlier request are checked once, as a
 * whole.
 */
function beginsLike(longer: readonly Content[], contents: readonly Content[]): boolean {
  return longer.length >= contents.length && contents.every((content, at) => longer[at] === content)
}

/** The additional rules of each provider. */
const providers = [geminiHistoryProblems, openAiHistoryProblems, anthropicHistoryProblems]

function* problemsOf(contents: readonly Content[], questions: ReadonlySet<string>): Iterable<string> {
  if (contents.length === 0) yield 'there is nothing in it'
  if (contents[0] && contents[0].role !== 'user') yield `it begins with a ${contents[0].role}`
  for (const [at, { role, parts }] of contents.entries()) {
    if (parts.length === 0) yield `content ${at} is empty`
    const calls = parts.flatMap((part) => callIn(part, role))
    const answers = parts.flatMap(answerIn)
    if (calls.some((id) => questions.has(id))) yield 'it shows a question to a human as a call'
    if (calls.length) {
      const given = contents[at + 1]?.parts.flatMap(answerIn) ?? []
      if (given.join('\n') !== calls.join('\n'))
        yield `calls [${calls.join(', ')}] are followed by responses to [${given.join(', ')}]`
    }
    if (answers.length) {
      const before = contents[at - 1]
      const called = before?.parts.flatMap((part) => callIn(part, before.role)) ?? []
      if (called.length === 0) yield `responses to [${answers.join(', ')}] follow no call`
    }
  }
}

function callIn({ functionCall, executableCode }: Part, role: string): string[] {
  if (role !== 'model') return []
  const id = functionCall?.id ?? executableCode?.id
  return id === undefined ? [] : [id]
}

function answerIn({ functionResponse, codeExecutionResult }: Part): string[] {
  const id = functionResponse?.id ?? codeExecutionResult?.id
  return id === undefined ? [] : [id]
}
