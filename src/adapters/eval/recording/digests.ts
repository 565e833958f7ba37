// Hashes of model requests: a replay finds what it shows to a model in another way, and the file holds no text twice.
import { canonicalJson } from '../../../core/base/json.ts'
import { hash } from '../../../core/base/seeded-random.ts'
import { toJsonValue } from '../../../core/base/to-json-value.ts'
import type { LlmRequest } from '../../../engine/model/llm-request.ts'
import type { RecordedStep } from './recording.ts'

/** Collects the steps of a run. */
export class StepRecorder {
  /** The steps, in order. */
  readonly steps: RecordedStep[] = []
  /** The requests, by the index of their step. */
  readonly requests: Map<number, LlmRequest['contents']> = new Map()
  /** The hashes of the declarations of functions, by name. */
  readonly declarations: Map<string, string> = new Map()
  /** How many bodies of each scope run. */
  readonly #running: Map<string, number> = new Map()
  readonly #declared: Set<string> = new Set()
  /** The hashes of the latest request of each scope. */
  readonly #latest: Map<string, readonly string[]> = new Map()

  /** Adds a model request. */
  request(scope: string, { config, contents }: LlmRequest): void {
    const hashes = contents.map(digest)
    const before = this.#latest.get(scope) ?? []
    let kept = 0
    while (kept < before.length && before[kept] === hashes[kept]) kept++
    this.#latest.set(scope, hashes)
    this.requests.set(this.steps.length, [...contents])
    const { systemInstruction, tools } = config
    const asked = { instruction: digest(systemInstruction ?? null), tools: digest(tools ?? []) }
    if (!this.#declared.has(asked.tools)) {
      this.#declared.add(asked.tools)
      for (const one of (tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []))
        this.declarations.set(one.name, digest(one))
    }
    this.steps.push({ scope, ...asked, kept, contents: hashes.slice(kept) })
  }

  /** Adds the start of a body. Call the returned function when it ends. */
  body(scope: string, callId: string, tool: string): () => void {
    const beside = this.#running.get(scope) ?? 0
    this.steps.push({ scope, body: callId, tool, beside })
    this.#running.set(scope, beside + 1)
    return () => void this.#running.set(scope, (this.#running.get(scope) ?? 0) - 1)
  }
}

/** A hash of any JSON value. Not for secrets: a short text can be guessed. */
export function digest(value: unknown): string {
  const text = canonicalJson(toJsonValue(value).value)
  return hex(hash(text)) + hex(hash(text, 0x1b873593))
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}
