import type { Content, ExecutableCode, Part } from '../content/content.ts'
import { isAnswered } from '../event/code-call.ts'
import type { CallIds } from './call-ids.ts'
import { fencedCode } from './fenced-code.ts'
import type { RunHost } from './run-host.ts'
import { isFitId } from './shown-calls.ts'

/** A reply whose code can be run: fenced blocks become code where the model has no such parts, and each gets an id. */
export function codeParts(run: RunHost, ids: CallIds, content: Content, languages: readonly string[]): Content {
  const parts = content.parts.some((part) => part.executableCode) ? content.parts : fromFences(content.parts, languages)
  return {
    role: content.role,
    parts: parts.map((part, at) =>
      part.executableCode && !isAnswered(parts, at) ? withId(run, ids, part, part.executableCode) : part,
    ),
  }
}

/** Everything a model said after its code is dropped, except calls. */
function fromFences(parts: readonly Part[], languages: readonly string[]): readonly Part[] {
  const read: Part[] = []
  let hasCode = false
  for (const part of parts) {
    const code = part.text && !part.thought ? fencedCode(part.text, languages) : undefined
    if (code) {
      hasCode = true
      const signed = part.thoughtSignature === undefined ? {} : { thoughtSignature: part.thoughtSignature }
      read.push({ ...(code[0] as Part), ...signed }, ...code.slice(1))
    } else if (!hasCode || part.text === undefined) read.push(part)
  }
  return hasCode ? read : parts
}

/** Ids name a call in its invocation, whether it is of a tool or code. */
function withId(run: RunHost, ids: CallIds, part: Part, { id, ...code }: ExecutableCode): Part {
  const fit = isFitId(id) && ids.take(id)
  const given = fit ? id : run.newCallId()
  return { ...part, executableCode: { ...code, id: given, language: String(code.language), code: String(code.code) } }
}
