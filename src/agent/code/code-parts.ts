import { clip, MAX_NAME_LENGTH } from '../../base/limits.ts'
import type { Content, ExecutableCode, Part } from '../../content/content.ts'
import { hasResult } from '../../event/code-call.ts'
import type { CallIds } from '../loop/call-ids.ts'
import type { RunHost } from '../loop/run-host.ts'
import { isFitId } from '../request/sendable-calls.ts'
import { fencedCode } from './fenced-code.ts'

/** A reply whose code can be run: fenced blocks become code where the model has no such parts, and each gets an id. */
export function codeParts(run: RunHost, ids: CallIds, content: Content, languages: readonly string[]): Content {
  const parts = content.parts.some((part) => part.executableCode) ? content.parts : fromFences(content.parts, languages)
  const fit: Part[] = []
  let leftOut = 0
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as Part
    if (!part.executableCode || hasResult(parts, at)) fit.push(part)
    else if (ids.hasRoom()) fit.push(withId(run, ids, part, part.executableCode))
    else leftOut++
  }
  if (leftOut) fit.push({ text: `(${leftOut} more pieces of code were left out of this reply.)` })
  return { role: content.role, parts: fit }
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
      read.push({ ...(code[0] as Part), ...signed })
      for (let at = 1; at < code.length; at++) read.push(code[at] as Part)
    } else if (!hasCode || part.text === undefined) read.push(part)
  }
  return hasCode ? read : parts
}

/** Ids name a call in its invocation, whether it is of a tool or code. */
function withId(run: RunHost, ids: CallIds, part: Part, { id, ...code }: ExecutableCode): Part {
  const given = isFitId(id) && ids.take(id) ? id : ids.takeNew()
  const language = clip(String(code.language), MAX_NAME_LENGTH)
  const text = String(code.code)
  return {
    ...part,
    executableCode: { ...code, id: given, language, code: text.length > run.services.maxArgsBytes ? '' : text },
  }
}
