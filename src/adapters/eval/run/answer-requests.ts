// Answers the requests of a case as its `answers` say. A request without an answer is denied.
import type { Part } from '../../../core/content/content.ts'
import type { PendingRequest } from '../../../core/event/pending-request.ts'
import { approve, deny, respond } from '../../../engine/runner/approvals/answer-parts.ts'
import type { EvalAnswer } from '../cases/eval-set.ts'
import { matches } from '../checks/matches.ts'

/** The answers of one run of a case. */
export class Answers {
  readonly #answers: readonly EvalAnswer[]
  readonly #used: Set<EvalAnswer> = new Set()

  constructor(answers: readonly EvalAnswer[] = []) {
    this.#answers = answers
  }

  /** The answer to a request. Undefined for a result that has none: its call goes on waiting. */
  to(request: PendingRequest): Part | undefined {
    const answer = this.#answers.find((one) => !this.#used.has(one) && isFor(one, request))
    if (answer?.once) this.#used.add(answer)
    const { approve: approval, deny: denial, respond: value } = answer ?? {}
    if (value !== undefined && request.kind !== 'confirmation') return respond(request, value)
    if (request.kind === 'longRunning') return undefined
    if (approval !== undefined && request.kind === 'confirmation')
      return approve(request, approval === true ? {} : { ...approval })
    return deny(request, typeof denial === 'string' ? { reason: denial } : {})
  }
}

function isFor({ tool, kind, key, args }: EvalAnswer, request: PendingRequest): boolean {
  if (tool !== undefined && tool !== request.tool) return false
  if (kind !== undefined && kind !== request.kind) return false
  if (key !== undefined && key !== request.key) return false
  return args === undefined || matches(request.args, args)
}
