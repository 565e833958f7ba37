import { clip, MAX_NAME_LENGTH } from '../../../core/base/limits.ts'
import type { Content, ExecutableCode, Part } from '../../../core/content/content.ts'
import { hasResult } from '../../../core/event/code-call.ts'
import type { CallIds } from '../loop/accept-calls.ts'
import type { RunHost } from '../loop/run-host.ts'
import { isFitId } from '../request/sendable-calls.ts'
import { readFencedCode } from './fenced-code.ts'

/** Adds an id to each piece of code in a reply. If the reply has no code parts, its fenced blocks become code parts. */
export function withRunnableCode(run: RunHost, ids: CallIds, content: Content, languages: readonly string[]): Content {
  const parts = content.parts.some((part) => part.executableCode) ? content.parts : fromFences(content.parts, languages)
  const runnable: Part[] = []
  let skipped = 0
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as Part
    if (!part.executableCode || hasResult(parts, at)) runnable.push(part)
    else if (ids.hasRoom()) runnable.push(withId(run, ids, part, part.executableCode))
    else skipped++
  }
  if (skipped) runnable.push({ text: `(${skipped} more pieces of code were left out of this reply.)` })
  return { role: content.role, parts: runnable }
}

/** Turns fenced blocks into code parts. Text after the code is dropped, calls are kept. */
function fromFences(parts: readonly Part[], languages: readonly string[]): readonly Part[] {
  const read: Part[] = []
  let hasCode = false
  for (const part of parts) {
    const code = part.text && !part.thought ? readFencedCode(part.text, languages) : undefined
    if (code) {
      hasCode = true
      const signed = part.thoughtSignature === undefined ? {} : { thoughtSignature: part.thoughtSignature }
      read.push({ ...(code[0] as Part), ...signed })
      for (let at = 1; at < code.length; at++) read.push(code[at] as Part)
    } else if (!hasCode || part.text === undefined) read.push(part)
  }
  return hasCode ? read : parts
}

/** Adds an id to a code part. Tool calls and code share one set of ids. */
function withId(run: RunHost, ids: CallIds, part: Part, { id, ...code }: ExecutableCode): Part {
  const ownId = isFitId(id) && ids.claim(id) ? id : ids.claimNew()
  const language = clip(String(code.language), MAX_NAME_LENGTH)
  const text = String(code.code)
  return {
    ...part,
    executableCode: { ...code, id: ownId, language, code: text.length > run.services.maxArgsBytes ? '' : text },
  }
}
